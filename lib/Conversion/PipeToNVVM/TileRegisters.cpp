// Register tiles: the layout in a type, writers among replicas, registers by coordinate.
#include "TileRegisters.h"

#include "headrace/Dialect/Tile/IR/Tile.h"

#include <map>

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

FailureOr<TileLayout> lowering::layoutOf(Operation *op, Type type, ArrayRef<int64_t> shape) {
  auto tile = dyn_cast<RankedTensorType>(type);
  auto attr = tile ? dyn_cast_or_null<tile::LayoutAttr>(tile.getEncoding()) : tile::LayoutAttr();
  if (!attr)
    return op->emitOpError("expected a tile with a register layout, got ") << type;
  TileLayout layout = attr.getTileLayout();
  if (!llvm::equal(layout.shape(), tile.getShape()) || (!shape.empty() && tile.getShape() != shape))
    return op->emitOpError("expected a layout of the tile's extents, got ") << layout.toString() << " for " << type;
  return layout;
}

Value lowering::isWriter(OpBuilder &builder, Location loc, const TileLayout &layout, Thread thread) {
  auto andAlso = [&](Value condition, Value next) -> Value {
    return condition ? arith::AndIOp::create(builder, loc, condition, next).getResult() : next;
  };
  auto isZero = [&](Value value) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value, constI32(builder, loc, 0));
  };
  auto bitsAreZero = [&](Value value, ArrayRef<int> bits) {
    int64_t mask = 0;
    for (int bit : bits)
      mask |= int64_t(1) << bit;
    return isZero(arith::AndIOp::create(builder, loc, value, constI32(builder, loc, mask)));
  };
  Value condition;
  if (std::vector<int> bits = layout.replicatedLaneBits(); !bits.empty())
    condition = bitsAreZero(thread.lane, bits);
  // The warps of the atom are the low bits of the warp's number.
  if (std::vector<int> bits = layout.replicatedWarpBits(); !bits.empty())
    condition = andAlso(condition, bitsAreZero(thread.warp, bits));
  int64_t below = layout.numWarps();
  for (const Group &group : layout.groups()) {
    int64_t above = below;
    below /= group.count;
    if (group.dim >= 0 || group.count == 1)
      continue;
    // Place in this group: warp % above / below; it is zero where that remainder is small.
    Value warp = thread.warp;
    if (above != layout.numWarps())
      warp = arith::RemUIOp::create(builder, loc, warp, constI32(builder, loc, above));
    condition = andAlso(
        condition, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, warp, constI32(builder, loc, below)));
  }
  return condition;
}

std::optional<std::vector<int64_t>>
lowering::registersAt(const TileLayout &from, const TileLayout &to,
                      llvm::function_ref<std::vector<int64_t>(std::vector<int64_t>)> map) {
  if (from.numWarps() != to.numWarps())
    return std::nullopt;
  for (int64_t warp = 0; warp < to.numWarps(); ++warp)
    for (int64_t lane = 0; lane < to.atom().size(InDim::Lane); ++lane)
      if (map(to.threadOffset(lane, warp)) != from.threadOffset(lane, warp))
        return std::nullopt;
  std::map<std::vector<int64_t>, int64_t> registerAt;
  for (int64_t reg = 0; reg < from.numRegisters(); ++reg)
    registerAt.emplace(from.registerOffset(reg), reg);
  std::vector<int64_t> registers;
  for (int64_t reg = 0; reg < to.numRegisters(); ++reg) {
    auto found = registerAt.find(map(to.registerOffset(reg)));
    if (found == registerAt.end())
      return std::nullopt;
    registers.push_back(found->second);
  }
  return registers;
}
