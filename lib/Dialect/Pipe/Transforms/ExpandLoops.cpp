// Expansion of scheduled loops by upstream's pipeliner, and the number of commit groups that each wait leaves pending.
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPEEXPANDLOOPS
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

static int64_t getStage(Operation *op) { return op->getAttrOfType<IntegerAttr>(kStageAttr).getInt(); }
static int64_t getPlace(Operation *op) { return op->getAttrOfType<IntegerAttr>(kOrderAttr).getInt(); }

/// The schedule written on the ops of the body, in its order.
static void getSchedule(scf::ForOp loop, std::vector<std::pair<Operation *, unsigned>> &schedule) {
  for (Operation &op : loop.getBody()->without_terminator())
    schedule.push_back({&op, getStage(&op)});
  llvm::stable_sort(schedule, [](auto &lhs, auto &rhs) { return getPlace(lhs.first) < getPlace(rhs.first); });
}

/// The same op under a predicate. Null: it cannot be switched off.
static Operation *predicate(RewriterBase &rewriter, Operation *op, Value condition) {
  auto narrow = [&](MutableOperandRange operand) {
    if (!operand.empty())
      condition = arith::AndIOp::create(rewriter, op->getLoc(), operand[0].get(), condition);
    operand.assign(condition);
    return op;
  };
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  if (auto acquire = dyn_cast<ProducerAcquireOp>(op))
    return narrow(acquire.getPredicateMutable());
  if (auto copy = dyn_cast<CopyOp>(op))
    return narrow(copy.getPredicateMutable());
  if (auto commit = dyn_cast<ProducerCommitOp>(op))
    // An empty group keeps the number of groups in flight constant.
    return getChannelOf(op).getSync() == Sync::Group ? op : narrow(commit.getPredicateMutable());
  if (auto advance = dyn_cast<AdvanceOp>(op))
    return narrow(advance.getPredicateMutable());
  return isMemoryEffectFree(op) || isGlobalRead(op) ? op : nullptr;
}

/// Commit groups newer than the waited-for one when the wait runs: those of d - 1 whole trips, and those that follow
/// the channel's own commit in its trip. Requires: places and stages as written by the schedule.
static void setPending(ConsumerWaitOp wait) {
  CreateChannelOp channel = getChannelOf(wait);
  if (channel.getSync() != Sync::Group)
    return;
  SmallVector<ProducerCommitOp> commits;
  ProducerCommitOp own;
  for (Operation &op : *wait->getBlock()) {
    auto commit = dyn_cast<ProducerCommitOp>(op);
    if (!commit || getChannelOf(commit).getSync() != Sync::Group)
      continue;
    commits.push_back(commit);
    if (getChannelOf(commit) == channel)
      own = commit;
  }
  Builder builder(wait.getContext());
  int64_t pending = 0;
  int64_t ahead = own ? getStage(wait) - getStage(own) : 0;
  if (ahead > 0)
    for (ProducerCommitOp commit : commits)
      pending += ahead - 1 + (getPlace(commit) > getPlace(own));
  wait.setPendingAttr(builder.getI64IntegerAttr(pending));
}

namespace {
struct PipeExpandLoopsPass : public headrace::pipe::impl::PipeExpandLoopsBase<PipeExpandLoopsPass> {
  void runOnOperation() override {
    // Outer loops first: an inner one is a single op of the last stage to them, and moves with its own schedule.
    while (scf::ForOp loop = getScheduledLoop()) {
      for (auto wait : loop.getBody()->getOps<ConsumerWaitOp>())
        setPending(wait);
      if (failed(expand(loop)))
        return signalPassFailure();
    }
    // A wait outside of expanded loops waits for everything.
    getOperation().walk([](ConsumerWaitOp wait) {
      if (getChannelOf(wait).getSync() == Sync::Group && !wait.getPending())
        wait.setPendingAttr(Builder(wait.getContext()).getI64IntegerAttr(0));
    });
    getOperation().walk([](Operation *op) { dropSchedule(op); });
  }

  /// The first loop, outer ones before inner ones, all of whose ops have a place; null if there is none.
  scf::ForOp getScheduledLoop() {
    scf::ForOp found;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      auto body = loop.getBody()->without_terminator();
      bool scheduled = !body.empty() && llvm::all_of(body, [](Operation &op) {
        return op.hasAttr(kStageAttr) && op.hasAttr(kOrderAttr);
      });
      if (scheduled)
        found = loop;
      return scheduled ? WalkResult::interrupt() : WalkResult::advance();
    });
    return found;
  }

  static void dropSchedule(Operation *op) {
    op->removeAttr(kStageAttr);
    op->removeAttr(kOrderAttr);
  }

  LogicalResult expand(scf::ForOp loop) {
    scf::PipeliningOption options;
    options.getScheduleFn = getSchedule;
    options.supportDynamicLoops = true;
    options.peelEpilogue = false;
    options.predicateFn = predicate;
    IRRewriter rewriter(loop.getContext());
    rewriter.setInsertionPoint(loop);
    Location loc = loop.getLoc();
    bool modified = false;
    FailureOr<scf::ForOp> result = failure();
    {
      // Upstream's words for a bad schedule name neither the loop nor the stage: ours follow.
      ScopedDiagnosticHandler silence(loop.getContext(), [](Diagnostic &) { return success(); });
      result = scf::pipelineForLoop(rewriter, loop, options, &modified);
    }
    if (succeeded(result)) {
      for (Operation &op : *(*result)->getBlock())
        dropSchedule(&op); // the first trips, before the loop
      for (Operation &op : *result->getBody())
        dropSchedule(&op);
      return success();
    }
    if (modified)
      return mlir::emitError(loc, "this schedule cannot be expanded: an op before the last stage cannot be predicated");
    // Nothing runs ahead, so each wait is for the group just committed.
    for (Operation &op : *loop.getBody())
      dropSchedule(&op);
    for (auto wait : loop.getBody()->getOps<ConsumerWaitOp>())
      wait.removePendingAttr();
    mlir::emitRemark(loc, "this loop is not pipelined: its schedule reads a value of a later stage");
    return success();
  }
};
} // namespace
