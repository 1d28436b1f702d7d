// The rules of TMA (PTX ISA 5.5, cuTensorMapEncodeTiled), cp.async (9.7.9.25.3) and plain copies.
#include "headrace/Dialect/Tile/Transforms/CopyMechanism.h"
#include "headrace/Dialect/Tile/IR/TmaStrides.h"
#include "headrace/Dialect/Tile/Transforms/Divisibility.h"
#include "headrace/Dialect/Tile/Transforms/Plan.h"
#include "headrace/Layout/TmaBoxes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;
using namespace headrace;
using namespace headrace::tile;

/// Addresses, strides and offsets of TMA are multiples of this many bytes, and no access is wider.
static constexpr int64_t kTmaUnit = 16;

static int64_t elementBytes(MemRefType array) { return array.getElementTypeBitWidth() / 8; }

int64_t headrace::tile::getAlignment(Value array) {
  auto type = cast<MemRefType>(array.getType());
  int64_t alignment = elementBytes(type);
  if (auto argument = dyn_cast<BlockArgument>(array))
    if (auto kernel = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      if (auto promise = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kAlignAttr))
        alignment = std::max(alignment, promise.getInt());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return elementBytes(type);
  int64_t contiguous = contiguousDim(type);
  for (auto [dim, stride] : llvm::enumerate(strides))
    if (int64_t(dim) != contiguous && !ShapedType::isDynamic(stride))
      alignment = std::gcd(alignment, stride * elementBytes(type));
  return std::max(alignment, elementBytes(type));
}

int64_t headrace::tile::getVectorBytes(Value array, ValueRange offsets, ArrayRef<int64_t> shape, bool wholeExtent) {
  auto type = cast<MemRefType>(array.getType());
  int64_t bytes = elementBytes(type), dim = contiguousDim(type);
  if (dim < 0)
    return bytes;
  int64_t vector = std::gcd(kTmaUnit, getAlignment(array));
  vector = std::gcd(vector, getDivisor(offsets[dim]) * bytes);
  int64_t tileDim = contiguousTileDim(type, shape.size());
  if (tileDim < 0)
    return bytes;
  vector = std::gcd(vector, shape[tileDim] * bytes);
  if (wholeExtent)
    vector = std::gcd(vector, getExtentDivisor(array, dim) * bytes);
  return std::max(vector, bytes);
}

SharedAttr headrace::tile::chooseSharedLayout(RankedTensorType tile, int64_t major) {
  int64_t swizzle =
      SharedLayout::widestSwizzle(tile.getShape().vec(), tile.getElementType().getIntOrFloatBitWidth(), major);
  return SharedAttr::get(tile.getContext(), major, swizzle);
}

/// Boxes of a tile in shared memory; nothing if TMA has none.
static std::optional<size_t> countBoxes(RankedTensorType tile, SharedAttr shared) {
  std::string why;
  std::optional<TmaBoxes> boxes = cutIntoTmaBoxes(shared.getSharedLayout(tile.getShape(), tile.getElementType()), why);
  return boxes ? std::optional<size_t>(boxes->boxes.size()) : std::nullopt;
}

SharedAttr headrace::tile::chooseCopyLayout(RankedTensorType tile, int64_t major) {
  // One thread issues all boxes: more than a few are worth the conflicts that dense rows may have.
  constexpr size_t kFew = 4;
  SharedAttr swizzled = chooseSharedLayout(tile, major), dense = SharedAttr::get(tile.getContext(), major, 0);
  std::optional<size_t> now = countBoxes(tile, swizzled), then = countBoxes(tile, dense);
  return then && (!now || (*now > kFew && *then < *now)) ? dense : swizzled;
}

/// Why TMA cannot move this tile of this array; empty if it can. Requires: the target has TMA.
static std::string whyNotTma(Value array, ValueRange offsets, RankedTensorType tile, bool forMatmul) {
  auto type = cast<MemRefType>(array.getType());
  if (tile.getRank() > 2)
    return "the tile has more than two dimensions";
  int64_t dim = contiguousDim(type), major = contiguousTileDim(type, tile.getRank());
  if (dim < 0)
    return "no dimension of the array has the constant stride 1";
  if (major < 0)
    return "the array's contiguous dimension is none of the tile's";
  if (type.getRank() >= 2 && type.getShape()[dim] == 1)
    return "the contiguous extent is 1";
  if (!isa<BlockArgument>(array))
    return "the array is not an argument of the kernel";
  if (getAlignment(array) % kTmaUnit)
    return llvm::formatv("the array's address and strides are only known to be multiples of {0} bytes, TMA needs 16 "
                         "(promise it with tile.align)",
                         getAlignment(array));
  if (std::string why = whyNotTmaStrides(type, dim); !why.empty())
    return why;
  // A box that starts inside a unit is an illegal instruction on compute capability 9.0 (measured: case T05).
  if (getDivisor(offsets[dim]) * elementBytes(type) % kTmaUnit)
    return "the offset along the contiguous dimension is not known to be a multiple of 16 bytes";
  std::string why;
  SharedAttr shared = forMatmul ? chooseSharedLayout(tile, major) : chooseCopyLayout(tile, major);
  cutIntoTmaBoxes(shared.getSharedLayout(tile.getShape(), tile.getElementType()), why);
  return why;
}

bool headrace::tile::hasFill(LoadOp load) {
  if (!load.getFill())
    return false;
  return !matchPattern(*load.getFill(), m_PosZeroFloat()) && !matchPattern(*load.getFill(), m_Zero());
}

CopyChoice headrace::tile::chooseLoad(LoadOp load, const TargetInfo &target, bool allowCpAsync) {
  std::optional<Mechanism> asked = load.getMechanism();
  std::string why;
  if (hasFill(load))
    return {Mechanism::Plain, "tma and cp.async fill with zeros only"};
  if (target.has(Feature::Tma) && (!asked || *asked == Mechanism::Tma)) {
    std::string whyTma = whyNotTma(load.getArray(), load.getOffsets(), load.getTile(), feedsDot(load.getResult()));
    if (whyTma.empty())
      return {Mechanism::Tma, ""};
    why = "tma: " + whyTma;
  }
  if (asked && *asked == Mechanism::Plain)
    return {Mechanism::Plain, "asked for"};
  if (!target.has(Feature::CpAsync))
    return {Mechanism::Plain, why};
  std::string separator = why.empty() ? "" : "; ";
  if (!allowCpAsync)
    return {Mechanism::Plain, why + separator + "cp.async: completion must be an mbarrier here"};
  int64_t vector = getVectorBytes(load.getArray(), load.getOffsets(), load.getTile().getShape(), false);
  if (vector < 4)
    return {Mechanism::Plain, why + separator +
                                  llvm::formatv("cp.async: accesses are only known to be aligned to {0} bytes, it "
                                                "needs 4",
                                                vector)
                                      .str()};
  if (vector < 16)
    why += separator + llvm::formatv("cp.async of {0} bytes: wider accesses are not known to be aligned", vector).str();
  return {Mechanism::CpAsync, why};
}

CopyChoice headrace::tile::chooseStore(StoreOp store, const TargetInfo &target) {
  if (store.getMechanism() && *store.getMechanism() == Mechanism::Plain)
    return {Mechanism::Plain, "asked for"};
  if (!target.has(Feature::Tma))
    return {Mechanism::Plain, ""};
  std::string why = whyNotTma(store.getArray(), store.getOffsets(), store.getTileType(), /*forMatmul=*/true);
  // Stores may not start before the array (PTX ISA 9.7.9.27.1.1).
  if (why.empty() && !llvm::all_of(store.getOffsets(), isNonNegative))
    why = "the offsets are not known to be non-negative";
  if (!why.empty())
    return {Mechanism::Plain, "tma: " + why};
  return {Mechanism::Tma, ""};
}
