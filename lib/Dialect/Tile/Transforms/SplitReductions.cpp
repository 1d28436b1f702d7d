// Reductions over several warps as two: within each warp, then of the warps' results.
#include "headrace/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace headrace::tile {
#define GEN_PASS_DEF_TILESPLITREDUCTIONS
#include "headrace/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace headrace::tile

using namespace mlir;
using namespace headrace;
using namespace headrace::tile;

static RankedTensorType typeOf(Value tile) { return cast<RankedTensorType>(tile.getType()); }

/// The type of `tile` with `parts` elements along `axis`, in another layout.
static RankedTensorType withParts(Value tile, int64_t axis, int64_t parts, const TileLayout &layout) {
  SmallVector<int64_t> shape(typeOf(tile).getShape());
  shape[axis] = parts;
  return RankedTensorType::get(shape, typeOf(tile).getElementType(), LayoutAttr::get(tile.getContext(), layout));
}

/// Each warp reduces its part, the parts meet in each thread that needs them, and `op` reduces those.
static void split(ReduceOp op, const TileLayout &source) {
  OpBuilder builder(op);
  int64_t axis = op.getAxis(), parts = source.partsAlong(axis);
  TileLayout apart = source.reduceWithinWarps(axis), together = source.gather(axis, parts);
  SmallVector<Type> types;
  for (Value tile : op.getSources())
    types.push_back(withParts(tile, axis, parts, apart));
  auto first = ReduceOp::create(builder, op.getLoc(), types, op.getSources(), op.getAxisAttr(),
                                builder.getI64IntegerAttr(parts));
  IRMapping mapping;
  op.getCombine().cloneInto(&first.getCombine(), mapping);
  SmallVector<Value> partial;
  for (Value result : first.getResults())
    partial.push_back(ConvertLayoutOp::create(builder, op.getLoc(), withParts(result, axis, parts, together), result));
  op.getSourcesMutable().assign(partial);
}

namespace {
struct TileSplitReductionsPass : public headrace::tile::impl::TileSplitReductionsBase<TileSplitReductionsPass> {
  void runOnOperation() override {
    SmallVector<ReduceOp> reductions;
    getOperation().walk([&](ReduceOp op) { reductions.push_back(op); });
    for (ReduceOp op : reductions) {
      auto layout = dyn_cast_or_null<LayoutAttr>(typeOf(op.getSources()[0]).getEncoding());
      if (layout && !op.getParts() && layout.getTileLayout().partsAlong(op.getAxis()) > 1)
        split(op, layout.getTileLayout());
    }
  }
};
} // namespace
