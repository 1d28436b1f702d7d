// Addresses and bounds of a register tile in a global array.
#include "GlobalTile.h"

#include "TileRegisters.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

/// Elements of one access: what the op allows, as far as consecutive registers are consecutive in
/// memory.
static int64_t vectorLength(const TileLayout &layout, int64_t dim, int64_t elementBytes, std::optional<int64_t> bytes) {
  if (dim < 0 || !bytes)
    return 1;
  int64_t most = std::min(*bytes, kMaxVectorBytes) / elementBytes;
  return std::min<int64_t>(llvm::bit_floor<uint64_t>(std::max<int64_t>(most, 1)), layout.contiguous(dim));
}

static Value addI64(OpBuilder &builder, Location loc, Value sum, Value term) {
  return sum ? arith::AddIOp::create(builder, loc, sum, term).getResult() : term;
}

/// pointer + bytes
static Value advance(OpBuilder &builder, Location loc, Value pointer, Value bytes) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

/// max(0, min(size, offset + valid)), without overflow.
static Value cutOff(OpBuilder &builder, Location loc, Value size, Value offset, int64_t valid) {
  Value extent = constI32(builder, loc, valid);
  Value last = arith::SubIOp::create(builder, loc, size, extent);
  Value start = arith::MinSIOp::create(builder, loc, last, offset);
  Value end = arith::AddIOp::create(builder, loc, start, extent);
  return arith::MaxSIOp::create(builder, loc, end, constI32(builder, loc, 0));
}

FailureOr<GlobalTile> GlobalTile::create(OpBuilder &builder, Operation *op, Type tileType, MemRefType arrayType,
                                         ValueRange array, ArrayRef<ValueRange> offsets, std::optional<int64_t> vector,
                                         std::optional<ArrayRef<int64_t>> valid) {
  FailureOr<TileLayout> layout = layoutOf(op, tileType);
  if (failed(layout))
    return failure();
  Type element = registerType(arrayType.getElementType());
  if (!isTransferable(element) || arrayType.getElementType() != getElementTypeOrSelf(tileType))
    return op->emitOpError("expected array and tile of one element type of 1, 2, 4 or 8 bytes, got ")
           << arrayType << " and " << tileType;
  int64_t lead = arrayType.getRank() - layout->rank();
  if (lead < 0 || int64_t(offsets.size()) != arrayType.getRank())
    return op->emitOpError("expected a tile of at most the array's rank, and an offset for each dimension");

  Location loc = op->getLoc();
  SmallVector<Value> places = llvm::map_to_vector(offsets, [](ValueRange offset) { return offset.front(); });
  ArrayView view = ArrayView(arrayType, array).dropDims(builder, loc, lead, places);
  arrayType = view.getType();
  offsets = offsets.drop_front(lead);
  GlobalTile tile(*layout, element);
  int64_t contiguous = tile::contiguousDim(arrayType);
  tile.vector = vectorLength(*layout, contiguous, tile.elementBytes(), vector);
  if (tile.vector > 1)
    tile.along = contiguous;

  auto [strides, unused] = arrayType.getStridesAndOffset();
  SmallVector<Value> thread = threadCoordinate(builder, loc, *layout, getThread(builder, op));
  Value bytes;
  for (int64_t d = 0; d < layout->rank(); ++d) {
    Dim dim;
    Value offset = toI32(builder, loc, offsets[d].front());
    dim.coordinate = arith::AddIOp::create(builder, loc, offset, thread[d]);
    dim.size = view.size(builder, loc, d);
    if (valid && (*valid)[d] < layout->shape()[d])
      dim.size = cutOff(builder, loc, dim.size, offset, (*valid)[d]);
    dim.limit = dim.size;
    if (d == tile.along) {
      tile.straddles = arrayType.isDynamicDim(d) || arrayType.getDimSize(d) % tile.vector != 0;
      if (tile.straddles) {
        // Start below size - vector + 1, which may be negative.
        Value start = arith::SubIOp::create(builder, loc, dim.size, constI32(builder, loc, tile.vector - 1));
        dim.limit = arith::MaxSIOp::create(builder, loc, start, constI32(builder, loc, 0));
      }
    }
    Value wide = arith::ExtSIOp::create(builder, loc, builder.getI64Type(), dim.coordinate);
    if (!ShapedType::isDynamic(strides[d])) {
      dim.stride = strides[d] * tile.elementBytes();
      if (*dim.stride != 1)
        wide = arith::MulIOp::create(builder, loc, wide, constI64(builder, loc, *dim.stride));
    } else {
      dim.strideBytes = arith::MulIOp::create(builder, loc, view.stride(builder, loc, d),
                                              constI64(builder, loc, tile.elementBytes()));
      wide = arith::MulIOp::create(builder, loc, wide, dim.strideBytes);
    }
    bytes = addI64(builder, loc, bytes, wide);
    tile.dims.push_back(std::move(dim));
  }
  tile.threadAddress = advance(builder, loc, view.base(), bytes);
  return tile;
}

GlobalTile::Address GlobalTile::addressOf(OpBuilder &builder, Location loc, int64_t reg) {
  std::vector<int64_t> constant = layout.registerOffset(reg);
  int64_t immediate = 0;
  for (auto [dim, step] : llvm::zip_equal(dims, constant))
    if (dim.stride) {
      immediate += step * *dim.stride;
      step = 0;
    }
  int64_t high = beyondImmediate(immediate);
  immediate -= high;
  std::vector<int64_t> key = constant;
  key.push_back(high);
  Value &base = bases[key];
  if (!base) {
    Value bytes;
    for (auto [dim, step] : llvm::zip_equal(dims, constant))
      if (step)
        bytes = addI64(builder, loc, bytes,
                       arith::MulIOp::create(builder, loc, dim.strideBytes, constI64(builder, loc, step)));
    if (high)
      bytes = addI64(builder, loc, bytes, constI64(builder, loc, high));
    base = bytes ? advance(builder, loc, threadAddress, bytes) : threadAddress;
  }
  return {base, immediate};
}

Value GlobalTile::isBelow(OpBuilder &builder, Location loc, const Dim &dim, int64_t constant, Value bound) {
  Value coordinate = dim.coordinate;
  if (constant)
    coordinate = arith::AddIOp::create(builder, loc, coordinate, constI32(builder, loc, constant));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, coordinate, bound);
}

Value GlobalTile::conjunction(OpBuilder &builder, Location loc, const std::vector<int64_t> &constant, bool whole) {
  Value result = enabled;
  for (auto [dim, step] : llvm::zip_equal(dims, constant)) {
    Value &condition = (whole ? dim.inside : dim.insideSize)[step];
    if (!condition)
      condition = isBelow(builder, loc, dim, step, whole ? dim.limit : dim.size);
    result = result ? arith::AndIOp::create(builder, loc, result, condition).getResult() : condition;
  }
  return result;
}

Value GlobalTile::isInside(OpBuilder &builder, Location loc, int64_t first) {
  return conjunction(builder, loc, layout.registerOffset(first), /*whole=*/true);
}

Value GlobalTile::hasTail(OpBuilder &builder, Location loc) {
  if (!straddles)
    return {};
  Value rest = arith::AndIOp::create(builder, loc, dims[along].size, constI32(builder, loc, vector - 1));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, rest, constI32(builder, loc, 0));
}

Value GlobalTile::isInTail(OpBuilder &builder, Location loc, int64_t reg) {
  Value element = conjunction(builder, loc, layout.registerOffset(reg), /*whole=*/false);
  // Only this dimension can have the element inside and its vector not.
  int64_t start = layout.registerOffset(reg - reg % vector)[along];
  Value &whole = dims[along].inside[start];
  if (!whole)
    whole = isBelow(builder, loc, dims[along], start, dims[along].limit);
  Value notWhole =
      arith::XOrIOp::create(builder, loc, whole, arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
  return arith::AndIOp::create(builder, loc, element, notWhole);
}
