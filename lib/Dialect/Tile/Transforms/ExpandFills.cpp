// Loads whose elements outside of the array are not zero. What copies asynchronously fills with zeros alone; the fill is put
// in afterwards, where the tile is read.
#include "ExpandFills.h"
#include "headrace/Dialect/Tile/Transforms/CopyMechanism.h"
#include "headrace/Dialect/Tile/Transforms/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace headrace::tile;

/// A tile of one scalar.
static Value splat(OpBuilder &builder, Location loc, Value scalar, ArrayRef<int64_t> shape) {
  return tensor::SplatOp::create(builder, loc, scalar, RankedTensorType::get(shape, scalar.getType()));
}

/// i1 tile of `shape`: which elements at these offsets are inside the array.
static Value isInside(OpBuilder &builder, LoadOp load) {
  Location loc = load.getLoc();
  ArrayRef<int64_t> shape = load.getTile().getShape();
  int64_t lead = int64_t(load.getOffsets().size()) - int64_t(shape.size());
  Type i32 = builder.getI32Type();
  Value inside;
  for (auto [dim, offset] : llvm::enumerate(load.getOffsets())) {
    Value size =
        arith::IndexCastOp::create(builder, loc, i32, memref::DimOp::create(builder, loc, load.getArray(), dim));
    Value place = splat(builder, loc, arith::IndexCastOp::create(builder, loc, i32, offset), shape);
    if (int64_t(dim) >= lead) {
      auto along = IotaOp::create(builder, loc, RankedTensorType::get(shape, i32), int64_t(dim) - lead);
      place = arith::AddIOp::create(builder, loc, place, along);
    }
    // Without sign: a place before the array is past its end.
    Value here =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place, splat(builder, loc, size, shape));
    inside = inside ? arith::AndIOp::create(builder, loc, inside, here).getResult() : here;
  }
  return inside;
}

/// i1: the whole tile is inside the array.
static Value isWholeInside(OpBuilder &builder, LoadOp load) {
  Location loc = load.getLoc();
  ArrayRef<int64_t> shape = load.getTile().getShape();
  int64_t lead = int64_t(load.getOffsets().size()) - int64_t(shape.size());
  Value whole;
  for (auto [dim, offset] : llvm::enumerate(load.getOffsets())) {
    int64_t extent = int64_t(dim) >= lead ? shape[dim - lead] : 1;
    Value size = memref::DimOp::create(builder, loc, load.getArray(), dim);
    // offset <= size - extent, and not negative.
    Value last = arith::SubIOp::create(builder, loc, size, arith::ConstantIndexOp::create(builder, loc, extent));
    Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, offset, last);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value above = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, offset, zero);
    for (Value condition : {below, above})
      whole = whole ? arith::AndIOp::create(builder, loc, whole, condition).getResult() : condition;
  }
  return whole;
}

void headrace::tile::expandFills(KernelOp kernel) {
  SmallVector<LoadOp> loads;
  kernel.walk([&](LoadOp load) {
    auto loop = load->getParentOfType<ForOp>();
    if (hasFill(load) && (feedsDot(load.getResult()) || (loop && isPipelined(loop) && !isWritten(load.getArray()))))
      loads.push_back(load);
  });
  for (LoadOp load : loads) {
    OpBuilder builder(load);
    builder.setInsertionPointAfter(load);
    RankedTensorType type = load.getTile();
    TypedAttr fill = *load.getFill();
    load.removeFillAttr();
    // Most tiles lie inside, and are spared the comparison of each element.
    Location loc = load.getLoc();
    auto branch = scf::IfOp::create(builder, loc, type, isWholeInside(builder, load), /*withElseRegion=*/true);
    builder.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(builder, loc, load.getResult());
    builder.setInsertionPointToEnd(branch.elseBlock());
    Value other = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, Attribute(fill)));
    Value filled = arith::SelectOp::create(builder, loc, isInside(builder, load), load.getResult(), other);
    scf::YieldOp::create(builder, loc, filled);
    load.getResult().replaceUsesWithIf(branch.getResult(0),
                                       [&](OpOperand &use) { return !branch->isAncestor(use.getOwner()); });
  }
}
