// Liveness of tiles in a loop, in registers of a thread.
#include "headrace/Dialect/Tile/Transforms/RegisterPressure.h"
#include "headrace/Dialect/Tile/Transforms/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::tile;

/// The tile whose registers `tile` names too.
static Value rootOf(Value tile) {
  while (Operation *op = tile.getDefiningOp()) {
    if (!isa<ExpandDimsOp, BroadcastOp>(op))
      break;
    tile = op->getOperand(0);
  }
  return tile;
}

int64_t headrace::tile::countWords(Value tile) {
  tile = rootOf(tile);
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  auto layout = type ? dyn_cast_or_null<LayoutAttr>(type.getEncoding()) : LayoutAttr();
  if (!layout)
    return 0;
  if (Operation *op = tile.getDefiningOp(); op && isa<arith::ConstantOp, tensor::SplatOp, IotaOp>(op))
    return 0;
  return llvm::divideCeil(layout.getTileLayout().numRegisters() * type.getElementTypeBitWidth(), 32);
}

/// Whether the elements of `tile` are made one by one where its only reader takes them, so that they are never alive
/// together.
static bool isTransient(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (!op || !OpTrait::hasElementwiseMappableTraits(op) || !tile.hasOneUse())
    return false;
  Operation *reader = *tile.getUsers().begin();
  return reader->getBlock() == op->getBlock() &&
         (OpTrait::hasElementwiseMappableTraits(reader) || isa<ReduceOp, StoreOp>(reader));
}

/// Calls `body` for the root of each tile that must be alive for `op`, or for an op in it.
static void forEachRead(Operation *op, function_ref<void(Value)> body) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()))
        continue;
      Value root = rootOf(operand);
      if (isTransient(root))
        forEachRead(root.getDefiningOp(), body);
      else
        body(root);
    }
  });
}

SmallVector<Value> headrace::tile::getTilesFromOutside(ForOp loop) {
  llvm::SetVector<Value> roots, tiles;
  for (Operation &op : *loop.getBody())
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (isa<RankedTensorType>(operand.getType()) && !loop->isAncestor(operand.getParentBlock()->getParentOp()) &&
            roots.insert(rootOf(operand)))
          tiles.insert(operand);
    });
  return tiles.takeVector();
}

/// The most words of tiles made in `block` that are alive between two of its ops, and inside them.
static int64_t countPeak(Block &block) {
  llvm::DenseMap<Value, Operation *> lastReads;
  for (Operation &op : block)
    forEachRead(&op, [&](Value root) {
      if (root.getParentBlock() == &block)
        lastReads[root] = &op;
    });
  llvm::DenseMap<Operation *, int64_t> dying;
  for (auto [root, op] : lastReads)
    dying[op] += countWords(root);
  int64_t live = 0, peak = 0;
  for (BlockArgument argument : block.getArguments())
    live += lastReads.contains(argument) ? countWords(argument) : 0;
  for (Operation &op : block) {
    int64_t inside = 0;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        inside = std::max(inside, countPeak(inner));
    live -= dying.lookup(&op);
    peak = std::max(peak, live + inside); // what dies in a region makes room for what is made there
    for (Value result : op.getResults())
      live += rootOf(result) == result && !isTransient(result) && lastReads.contains(result) ? countWords(result) : 0;
    peak = std::max(peak, live);
  }
  return peak;
}

int64_t headrace::tile::countLiveWords(ForOp loop) {
  int64_t words = countPeak(*loop.getBody());
  for (Value tile : getTilesFromOutside(loop))
    words += countWords(tile);
  return words;
}

int64_t headrace::tile::countRegisters(KernelOp kernel, const TargetInfo &target) {
  constexpr int64_t kMostOfThread = 255, kUnit = 8, kForAddresses = 24, kLoadWarps = 4;
  auto specialize = kernel->getAttrOfType<BoolAttr>(kSpecializeAttr);
  int64_t warps = kernel.getWarps().value_or(1) + (specialize && specialize.getValue() ? kLoadWarps : 0);
  int64_t threads = 32 * warps * std::max<int64_t>(1, kernel.getOccupancy().value_or(1));
  int64_t share = target.registersPerSM / threads / kUnit * kUnit;
  return std::min(share, kMostOfThread) - kForAddresses;
}
