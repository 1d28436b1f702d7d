// Threading of cursors: a walk in program order that knows the current (index, phase) of both sides of every channel.
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPETHREADCURSORS
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

namespace {
/// One side of a channel.
struct Side {
  CreateChannelOp channel;
  bool producer;
  bool operator==(const Side &other) const { return channel == other.channel && producer == other.producer; }
};
struct Cursor {
  Value index, phase;
};

/// The walk through one kernel.
class Threading {
public:
  explicit Threading(func::FuncOp kernel) : kernel(kernel), builder(kernel.getContext()) {}
  void run();

private:
  void threadBlock(Block &block);
  /// The blocks of an op in which no cursor moves.
  void threadRegions(Operation *op);
  void threadFor(scf::ForOp loop);
  void threadIf(scf::IfOp branch);
  void threadWhile(scf::WhileOp loop);
  /// The sides whose cursor moves somewhere inside `op`, in order of appearance.
  SmallVector<Side> getMovedSides(Operation *op);
  SmallVector<Value> getValues(ArrayRef<Side> sides);
  void setValues(ArrayRef<Side> sides, ValueRange values);
  Cursor &at(Side side) { return cursors[{side.channel.getOperation(), side.producer}]; }

  func::FuncOp kernel;
  IRRewriter builder;
  DenseMap<std::pair<Operation *, unsigned>, Cursor> cursors;
};

struct PipeThreadCursorsPass : public headrace::pipe::impl::PipeThreadCursorsBase<PipeThreadCursorsPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr))
        Threading(kernel).run();
  }
};
} // namespace

/// The side that an op acts for; nothing for other ops. Ops that have a cursor already (written by hand) are left alone.
static std::optional<Side> getSide(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Side>>(op)
      .Case<ProducerAcquireOp, ProducerCommitOp, CopyOp>([&](auto own) -> std::optional<Side> {
        if (own.getIndex())
          return std::nullopt;
        return Side{getChannelOf(op), true};
      })
      .Case<ConsumerWaitOp, ConsumerReleaseOp>([&](auto own) -> std::optional<Side> {
        if (own.getIndex())
          return std::nullopt;
        return Side{getChannelOf(op), false};
      })
      .Default(std::nullopt);
}

void Threading::run() {
  // Everything is empty at first: the producer's first wait is for the phase before the first, which counts as over.
  SmallVector<CreateChannelOp> channels(kernel.getOps<CreateChannelOp>());
  if (channels.empty())
    return;
  builder.setInsertionPointAfter(channels.back());
  Value zero = arith::ConstantIntOp::create(builder, kernel.getLoc(), int64_t(0), 32);
  Value one = arith::ConstantIntOp::create(builder, kernel.getLoc(), int64_t(1), 32);
  for (CreateChannelOp channel : channels) {
    at({channel, true}) = {zero, one};
    at({channel, false}) = {zero, zero};
  }
  threadBlock(kernel.getBody().front());
}

SmallVector<Side> Threading::getMovedSides(Operation *op) {
  SmallVector<Side> sides;
  op->walk([&](Operation *inner) {
    if (!isa<ProducerCommitOp, ConsumerReleaseOp>(inner))
      return;
    if (std::optional<Side> side = getSide(inner); side && !llvm::is_contained(sides, *side))
      sides.push_back(*side);
  });
  return sides;
}

SmallVector<Value> Threading::getValues(ArrayRef<Side> sides) {
  SmallVector<Value> values;
  for (const Side &side : sides)
    values.append({at(side).index, at(side).phase});
  return values;
}

void Threading::setValues(ArrayRef<Side> sides, ValueRange values) {
  for (auto [i, side] : llvm::enumerate(sides))
    at(side) = {values[2 * i], values[2 * i + 1]};
}

void Threading::threadBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (std::optional<Side> side = getSide(&op)) {
      Cursor cursor = at(*side);
      llvm::TypeSwitch<Operation *>(&op)
          .Case([&](CopyOp copy) { copy.getIndexMutable().assign(cursor.index); })
          .Case<ProducerAcquireOp, ProducerCommitOp, ConsumerWaitOp, ConsumerReleaseOp>([&](auto protocol) {
            protocol.getIndexMutable().assign(cursor.index);
            protocol.getPhaseMutable().assign(cursor.phase);
          });
      if (isa<ProducerCommitOp, ConsumerReleaseOp>(op)) {
        builder.setInsertionPointAfter(&op);
        int64_t depth = side->channel.getChannel().getType().getDepth();
        Type i32 = builder.getI32Type();
        auto next = AdvanceOp::create(builder, op.getLoc(), i32, i32, depth, cursor.index, cursor.phase, Value());
        at(*side) = {next.getNextIndex(), next.getNextPhase()};
      }
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      threadFor(loop);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      threadIf(branch);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      threadWhile(loop);
    }
  }
}

void Threading::threadRegions(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      threadBlock(block);
}

void Threading::threadFor(scf::ForOp loop) {
  SmallVector<Side> sides = getMovedSides(loop);
  if (sides.empty())
    return threadRegions(loop);
  unsigned first = loop.getNumResults();
  auto threadBody = [&](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
    setValues(sides, ValueRange(arguments));
    threadBlock(*loop.getBody());
    return getValues(sides);
  };
  LoopLikeOpInterface result =
      *loop.replaceWithAdditionalYields(builder, getValues(sides), /*replaceInitOperandUsesInLoop=*/false, threadBody);
  setValues(sides, result->getResults().drop_front(first));
}

void Threading::threadIf(scf::IfOp branch) {
  SmallVector<Side> sides = getMovedSides(branch);
  if (sides.empty())
    return threadRegions(branch);
  builder.setInsertionPoint(branch);
  SmallVector<Type> types(branch.getResultTypes());
  unsigned first = types.size();
  types.append(2 * sides.size(), builder.getI32Type());
  auto result = scf::IfOp::create(builder, branch.getLoc(), types, branch.getCondition(), /*withElseRegion=*/true);
  result->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  SmallVector<Value> before = getValues(sides);
  for (auto [from, to] : llvm::zip(branch->getRegions(), result->getRegions())) {
    if (!from.empty())
      to.takeBody(from);
    if (to.empty())
      to.emplaceBlock();
    setValues(sides, before);
    threadBlock(to.front());
    if (to.front().empty() || !to.front().back().hasTrait<OpTrait::IsTerminator>()) {
      builder.setInsertionPointToEnd(&to.front());
      scf::YieldOp::create(builder, branch.getLoc());
    }
    to.front().getTerminator()->insertOperands(first, getValues(sides));
  }
  for (auto [old, value] : llvm::zip(branch.getResults(), result.getResults()))
    old.replaceAllUsesWith(value);
  setValues(sides, result.getResults().drop_front(first));
  branch.erase();
}

void Threading::threadWhile(scf::WhileOp loop) {
  SmallVector<Side> sides = getMovedSides(loop);
  if (sides.empty())
    return threadRegions(loop);
  builder.setInsertionPoint(loop);
  SmallVector<Value> inits(loop.getInits());
  unsigned firstInit = inits.size();
  inits.append(getValues(sides));
  SmallVector<Type> types(loop.getResultTypes());
  unsigned firstResult = types.size();
  types.append(2 * sides.size(), builder.getI32Type());
  auto result = scf::WhileOp::create(builder, loop.getLoc(), types, inits);
  result->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  result.getBefore().takeBody(loop.getBefore());
  result.getAfter().takeBody(loop.getAfter());
  auto addArguments = [&](Block &block, unsigned first) {
    for (size_t i = 0; i < 2 * sides.size(); ++i)
      block.addArgument(builder.getI32Type(), loop.getLoc());
    setValues(sides, ValueRange(block.getArguments()).drop_front(first));
    threadBlock(block);
  };
  Block &before = result.getBefore().front(), &after = result.getAfter().front();
  addArguments(before, firstInit);
  before.getTerminator()->insertOperands(1 + firstResult, getValues(sides));
  addArguments(after, firstResult);
  after.getTerminator()->insertOperands(firstInit, getValues(sides));
  for (auto [old, value] : llvm::zip(loop.getResults(), result.getResults()))
    old.replaceAllUsesWith(value);
  setValues(sides, result.getResults().drop_front(firstResult));
  loop.erase();
}
