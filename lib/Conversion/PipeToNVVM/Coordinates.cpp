// Coordinates and offsets of layouts, computed at run time with shifts and masks.
#include "Lowering.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

Value lowering::multiply(OpBuilder &builder, Location loc, Value value, int64_t constant) {
  if (constant == 1)
    return value;
  if (llvm::isPowerOf2_64(constant))
    return arith::ShLIOp::create(builder, loc, value, constI32(builder, loc, llvm::Log2_64(constant)));
  return arith::MulIOp::create(builder, loc, value, constI32(builder, loc, constant));
}

/// The sum of terms, each of which is zero or has bits that no other has; null for none.
static Value join(OpBuilder &builder, Location loc, Value sum, Value term) {
  return sum ? arith::AddIOp::create(builder, loc, sum, term) : term;
}

/// What the bits of `index` contribute to dimension `dim` under `bases`: runs of bits that go to
/// consecutive bits of the coordinate move with one mask and one shift. Null if nothing.
static Value applyBases(OpBuilder &builder, Location loc, const LinearLayout::Bases &bases, size_t dim, Value index) {
  Value result;
  for (size_t bit = 0; bit < bases.size();) {
    int64_t basis = bases[bit][dim];
    size_t end = bit + 1;
    if (basis == 0) {
      bit = end;
      continue;
    }
    while (end < bases.size() && bases[end][dim] == basis << (end - bit))
      ++end;
    int64_t mask = ((int64_t(1) << (end - bit)) - 1) << bit;
    int64_t shift = int64_t(llvm::Log2_64(basis)) - int64_t(bit);
    Value term = arith::AndIOp::create(builder, loc, index, constI32(builder, loc, mask));
    if (shift > 0)
      term = arith::ShLIOp::create(builder, loc, term, constI32(builder, loc, shift));
    else if (shift < 0)
      term = arith::ShRUIOp::create(builder, loc, term, constI32(builder, loc, -shift));
    // Two bits may have the same basis, so this is an exclusive or, not an addition.
    result = result ? arith::XOrIOp::create(builder, loc, result, term).getResult() : term;
    bit = end;
  }
  return result;
}

/// index / divisor and index % divisor.
static std::pair<Value, Value> divide(OpBuilder &builder, Location loc, Value index, int64_t divisor) {
  if (llvm::isPowerOf2_64(divisor))
    return {arith::ShRUIOp::create(builder, loc, index, constI32(builder, loc, llvm::Log2_64(divisor))),
            arith::AndIOp::create(builder, loc, index, constI32(builder, loc, divisor - 1))};
  Value by = constI32(builder, loc, divisor);
  return {arith::DivUIOp::create(builder, loc, index, by), arith::RemUIOp::create(builder, loc, index, by)};
}

SmallVector<Value> lowering::coordinateOf(OpBuilder &builder, Location loc, const TileLayout &layout, Value lane,
                                          Value warp) {
  const LinearLayout &atom = layout.atom();
  SmallVector<Value> result(layout.rank());
  SmallVector<int64_t> step(layout.rank());
  for (int64_t d = 0; d < layout.rank(); ++d) {
    result[d] = applyBases(builder, loc, atom.bases(InDim::Lane), d, lane);
    if (Value term = applyBases(builder, loc, atom.bases(InDim::Warp), d, warp))
      result[d] = result[d] ? arith::XOrIOp::create(builder, loc, result[d], term).getResult() : term;
    step[d] = atom.shape()[d] * layout.repeat()[d];
  }
  // As in TileLayout::threadOffset: the last group is the finest, in the warp number and along its
  // dimension.
  Value rest = warp;
  if (atom.size(InDim::Warp) > 1 && !layout.groups().empty())
    rest = divide(builder, loc, warp, atom.size(InDim::Warp)).first;
  const std::vector<Group> &groups = layout.groups();
  for (size_t i = groups.size(); i-- > 0;) {
    if (groups[i].count == 1)
      continue;
    // The first group needs no remainder: a warp number is below the number of warps.
    Value place = rest;
    if (i > 0)
      std::tie(rest, place) = divide(builder, loc, rest, groups[i].count);
    if (groups[i].dim < 0)
      continue;
    result[groups[i].dim] =
        join(builder, loc, result[groups[i].dim], multiply(builder, loc, place, step[groups[i].dim]));
    step[groups[i].dim] *= groups[i].count;
  }
  for (Value &value : result)
    if (!value)
      value = constI32(builder, loc, 0);
  return result;
}

SmallVector<Value> lowering::threadCoordinate(OpBuilder &builder, Location loc, const TileLayout &layout,
                                              Thread thread) {
  return coordinateOf(builder, loc, layout, thread.lane, thread.warp);
}

Value lowering::sharedOffset(OpBuilder &builder, Location loc, const SharedLayout &layout, ValueRange coordinate) {
  // SharedLayout::offset, at run time.
  Value row;
  for (int64_t d = 0; d < layout.rank(); ++d) {
    if (d == layout.major())
      continue;
    row = row ? arith::AddIOp::create(builder, loc, multiply(builder, loc, row, layout.shape()[d]), coordinate[d])
                    .getResult()
              : coordinate[d];
  }
  Value column = coordinate[layout.major()];
  Value dense = row ? multiply(builder, loc, row, layout.rowBytes()) : Value();
  int64_t elementBytes = layout.elementBits() / 8;
  if (layout.panels() > 1) {
    auto [panel, inner] = divide(builder, loc, column, layout.panelElements());
    dense = join(builder, loc, dense, multiply(builder, loc, panel, layout.panelBytes()));
    column = inner;
  }
  dense = join(builder, loc, dense, multiply(builder, loc, column, elementBytes));
  int64_t chunkBits = layout.swizzle() > 16 ? layout.swizzle() - 16 : 0;
  if (!chunkBits)
    return dense;
  Value pattern = arith::ShRUIOp::create(builder, loc, dense, constI32(builder, loc, 3));
  pattern = arith::AndIOp::create(builder, loc, pattern, constI32(builder, loc, chunkBits));
  return arith::XOrIOp::create(builder, loc, dense, pattern);
}
