// Loads whose elements outside of the array are not zero. What copies asynchronously fills with zeros alone; the fill is put
// in afterwards, where the tile is read.
#include "ExpandFills.h"
#include "headrace/Dialect/Tile/Transforms/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

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
    Value size = arith::IndexCastOp::create(builder, loc, i32, memref::DimOp::create(builder, loc, load.getArray(), dim));
    Value place = splat(builder, loc, arith::IndexCastOp::create(builder, loc, i32, offset), shape);
    if (int64_t(dim) >= lead) {
      auto along = IotaOp::create(builder, loc, RankedTensorType::get(shape, i32), int64_t(dim) - lead);
      place = arith::AddIOp::create(builder, loc, place, along);
    }
    // Without sign: a place before the array is past its end.
    Value here = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place, splat(builder, loc, size, shape));
    inside = inside ? arith::AndIOp::create(builder, loc, inside, here).getResult() : here;
  }
  return inside;
}

void headrace::tile::expandFills(KernelOp kernel) {
  SmallVector<LoadOp> loads;
  kernel.walk([&](LoadOp load) {
    bool zero = !load.getFill() || matchPattern(*load.getFill(), m_PosZeroFloat()) || matchPattern(*load.getFill(), m_Zero());
    auto loop = load->getParentOfType<ForOp>();
    if (!zero && (feedsDot(load.getResult()) || (loop && isPipelined(loop) && !isWritten(load.getArray()))))
      loads.push_back(load);
  });
  for (LoadOp load : loads) {
    OpBuilder builder(load);
    builder.setInsertionPointAfter(load);
    RankedTensorType type = load.getTile();
    TypedAttr fill = *load.getFill();
    load.removeFillAttr();
    Value other = arith::ConstantOp::create(builder, load.getLoc(), DenseElementsAttr::get(type, Attribute(fill)));
    auto filled = arith::SelectOp::create(builder, load.getLoc(), isInside(builder, load), load.getResult(), other);
    load.getResult().replaceAllUsesExcept(filled, filled);
  }
}
