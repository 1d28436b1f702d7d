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

/// How an atomic update combines; nothing for other ops.
static std::optional<Combine> getCombine(Operation *op) {
  if (auto store = dyn_cast<ReduceStoreOp>(op))
    return store.getCombine();
  auto scatter = dyn_cast<ScatterOp>(op);
  return scatter ? scatter.getCombine() : std::nullopt;
}

/// Updates of one kind may come in any order.
static bool commute(Operation *lhs, Operation *rhs) { return getCombine(lhs) && getCombine(lhs) == getCombine(rhs); }

static bool isInLoop(Operation *op) {
  return op->getParentOfType<ForOp>() || op->getParentOfType<scf::ForOp>() || op->getParentOfType<scf::WhileOp>();
}

/// The extents of what a store writes.
static ArrayRef<int64_t> getStoredShape(StoreOp store) {
  return store.getValid() ? *store.getValid() : store.getTileType().getShape();
}

/// Whether all tiles that the store writes lie on a grid of its extents.
static bool isOnGrid(StoreOp store) {
  ArrayRef<int64_t> shape = getStoredShape(store);
  ValueRange offsets = store.getOffsets();
  for (auto [offset, extent] : llvm::zip(offsets.take_back(shape.size()), shape))
    if (getDivisor(offset) % extent)
      return false;
  return true;
}

/// Whether a write may meet what it wrote in an earlier trip. A scalar is always written by the same thread.
static bool mayOverwriteItself(Operation *write) {
  if (!isInLoop(write) || getCombine(write) || isa<StoreScalarOp>(write))
    return false;
  auto store = dyn_cast<StoreOp>(write);
  return !store || !isOnGrid(store);
}

/// Whether the ops are branches of which a run takes one: in a loop, one trip may take the one and the next the other,
/// which matters unless both store the same tile of a grid.
static bool areAlternatives(Operation *lhs, Operation *rhs) {
  if (!insideMutuallyExclusiveRegions(lhs, rhs))
    return false;
  if (!isInLoop(lhs) || !isInLoop(rhs))
    return true;
  auto left = dyn_cast<StoreOp>(lhs), right = dyn_cast<StoreOp>(rhs);
  return left && right && left.getOffsets() == right.getOffsets() &&
         left.getTileType().getShape() == right.getTileType().getShape() &&
         getStoredShape(left) == getStoredShape(right) && isOnGrid(left);
}

bool headrace::tile::needsOrder(Operation *access) {
  Value read = getReadArray(access), written = getWrittenArray(access);
  if (!read && !written)
    return false;
  for (Operation *other : (read ? read : written).getUsers()) {
    if (other == access || areAlternatives(access, other) || commute(access, other))
      continue;
    if (getWrittenArray(other) || (written && getReadArray(other)))
      return true;
  }
  return written && mayOverwriteItself(access);
}
