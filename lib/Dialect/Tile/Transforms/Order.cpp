// Order of accesses to one array. Tiles on a grid are the same or disjoint, and the same thread writes the same element of
// both; everything else may change hands between threads.
#include "headrace/Dialect/Tile/Transforms/Order.h"
#include "headrace/Dialect/Tile/Transforms/Divisibility.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace headrace::tile;

Value headrace::tile::getReadArray(Operation *op) {
  return isa<LoadOp, LoadScalarOp, GatherOp>(op) ? op->getOperand(0) : Value();
}

Value headrace::tile::getWrittenArray(Operation *op) {
  return isa<StoreOp, StoreScalarOp, ScatterOp, ReduceStoreOp>(op) ? op->getOperand(1) : Value();
}

static bool isAtomic(Operation *op) {
  auto scatter = dyn_cast<ScatterOp>(op);
  return isa<ReduceStoreOp>(op) || (scatter && scatter.getCombine());
}

static bool isInLoop(Operation *op) {
  return op->getParentOfType<ForOp>() || op->getParentOfType<scf::ForOp>() || op->getParentOfType<scf::WhileOp>();
}

/// Whether all tiles that the store writes lie on a grid of its extents.
static bool isOnGrid(StoreOp store) {
  ArrayRef<int64_t> shape = store.getTileType().getShape();
  ValueRange offsets = store.getOffsets();
  for (auto [offset, extent] : llvm::zip(offsets.take_back(shape.size()), shape))
    if (getDivisor(offset) % extent)
      return false;
  return true;
}

/// Whether a write may meet what it wrote in an earlier trip. A scalar is always written by the same thread.
static bool mayOverwriteItself(Operation *write) {
  if (!isInLoop(write) || isAtomic(write) || isa<StoreScalarOp>(write))
    return false;
  auto store = dyn_cast<StoreOp>(write);
  return !store || !isOnGrid(store);
}

bool headrace::tile::needsOrder(Operation *access) {
  Value read = getReadArray(access), written = getWrittenArray(access);
  if (!read && !written)
    return false;
  for (Operation *other : (read ? read : written).getUsers()) {
    if (other == access || insideMutuallyExclusiveRegions(access, other))
      continue;
    if (getWrittenArray(other) && !(isAtomic(access) && isAtomic(other)))
      return true;
    if (written && getReadArray(other))
      return true;
  }
  return written && mayOverwriteItself(access);
}
