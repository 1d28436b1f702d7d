// Scheduling of loops in one role: producers run ahead by the depth of their ring, consumers stay.
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPESCHEDULELOOPS
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

namespace {
/// The schedule of one loop.
class LoopSchedule {
public:
  explicit LoopSchedule(scf::ForOp loop) : loop(loop) {}
  /// Decides; false (with a remark) if there is nothing to overlap.
  bool decide();
  /// Writes the decision as attributes.
  void write();

private:
  void collectChannels();
  void collectSlices();
  SetVector<Operation *> getSlice(Operation *op);
  /// Tells the user which op keeps the copies from running ahead; false.
  bool refuse(Operation *culprit);
  bool check();

  scf::ForOp loop;
  llvm::MapVector<Operation *, int64_t> distance; ///< channel -> trips that its producer runs ahead
  int64_t lastStage = 0;
  llvm::MapVector<Operation *, int64_t> producerStage; ///< producers and what only they need
  SetVector<BlockArgument> carried;                    ///< loop values, other than cursors, that they need
};

struct PipeScheduleLoopsPass : public headrace::pipe::impl::PipeScheduleLoopsBase<PipeScheduleLoopsPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(kKernelAttr) || kernel->hasAttr("pipe.specialize"))
        continue;
      kernel.walk([&](scf::ForOp loop) {
        if (!loop->hasAttr(kPipelineAttr))
          return;
        LoopSchedule schedule(loop);
        if (schedule.decide())
          schedule.write();
      });
    }
  }
};
} // namespace

/// Producer ops of a channel, in the loop's body.
static bool isProducerOp(Operation *op) { return isa<ProducerAcquireOp, CopyOp, ProducerCommitOp>(op); }

/// The advance that follows a commit in the cursor's chain.
static AdvanceOp getAdvance(ProducerCommitOp commit) {
  for (Operation *user : commit.getIndex().getUsers())
    if (auto advance = dyn_cast<AdvanceOp>(user))
      if (advance->getBlock() == commit->getBlock())
        return advance;
  return {};
}

void LoopSchedule::collectChannels() {
  for (Operation &op : *loop.getBody()) {
    auto acquire = dyn_cast<ProducerAcquireOp>(op);
    if (!acquire || acquire.getChannel().getType().getDepth() < 2 || acquire.getBuffers().front().getUsers().empty())
      continue;
    CreateChannelOp channel = getChannelOf(acquire);
    // Only rings that are filled by copies and read in this very body can run ahead.
    bool copies = llvm::all_of(acquire->getUsers(), [](Operation *user) {
      auto copy = dyn_cast<CopyOp>(user);
      return copy && !isWritten(copy.getArray());
    });
    bool readHere = llvm::any_of(channel->getUsers(), [&](Operation *user) {
      return isa<ConsumerWaitOp>(user) && user->getBlock() == loop.getBody();
    });
    if (copies && readHere)
      distance[channel] = acquire.getChannel().getType().getDepth() - 1;
  }
}

/// Producers, and the pure ops that only producers need.
void LoopSchedule::collectSlices() {
  for (Operation &op : *loop.getBody()) {
    CreateChannelOp channel = getChannelOf(&op);
    if (!channel || !isProducerOp(&op) || !distance.contains(channel))
      continue;
    int64_t stage = lastStage - distance[channel];
    auto lower = [&](Operation *member) {
      auto [place, isNew] = producerStage.try_emplace(member, stage);
      place->second = std::min(place->second, stage);
    };
    lower(&op);
    if (auto commit = dyn_cast<ProducerCommitOp>(op))
      if (AdvanceOp advance = getAdvance(commit))
        lower(advance);
    for (Operation *member : getSlice(&op))
      lower(member);
  }
}

/// What `op` needs in this or, through values that the loop carries, in earlier trips. Cursors are none of it: an advance
/// goes with its own commit or release.
SetVector<Operation *> LoopSchedule::getSlice(Operation *op) {
  SetVector<Operation *> slice;
  SmallVector<Operation *> worklist = {op};
  auto need = [&](Value value) {
    SmallPtrSet<Value, 4> seen; // values may be handed from one argument to the next
    for (auto argument = dyn_cast<BlockArgument>(value);
         argument && argument.getOwner() == loop.getBody() && argument != loop.getInductionVar() &&
         seen.insert(argument).second;
         argument = dyn_cast<BlockArgument>(value)) {
      value = loop.getTiedLoopYieldedValue(argument)->get();
      if (!isa_and_nonnull<AdvanceOp>(value.getDefiningOp()))
        carried.insert(argument);
    }
    Operation *member = value.getDefiningOp();
    if (member && member->getBlock() == loop.getBody() && !isa<AdvanceOp>(member) && slice.insert(member))
      worklist.push_back(member);
  };
  while (!worklist.empty())
    worklist.pop_back_val()->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), need); });
  return slice;
}

bool LoopSchedule::refuse(Operation *culprit) {
  InFlightDiagnostic remark = loop.emitRemark("this loop is not pipelined: a copy's place depends on an op that cannot "
                                              "run ahead");
  remark.attachNote(culprit->getLoc()) << "this op";
  return false;
}

/// What the producers need must not be computed by what stays behind, and of what the loop carries for them nothing else
/// may depend: it is ahead by the stages between.
bool LoopSchedule::check() {
  for (auto [op, stage] : producerStage)
    if (!isProducerOp(op) && !isMemoryEffectFree(op) && !(isGlobalRead(op) && !isWritten(op->getOperand(0))))
      return refuse(op);
  SmallVector<Value> worklist(carried.begin(), carried.end());
  SmallPtrSet<Operation *, 8> seen;
  while (!worklist.empty())
    for (Operation *nested : worklist.pop_back_val().getUsers()) {
      Operation *user = loop.getBody()->findAncestorOpInBlock(*nested);
      if (isa<scf::YieldOp>(user) || isProducerOp(user) || !seen.insert(user).second)
        continue;
      if (!producerStage.contains(user))
        return refuse(user);
      llvm::append_range(worklist, user->getResults());
    }
  return true;
}

bool LoopSchedule::decide() {
  collectChannels();
  for (auto [channel, ahead] : distance)
    lastStage = std::max(lastStage, ahead);
  if (lastStage == 0)
    return false;
  collectSlices();
  return check();
}

void LoopSchedule::write() {
  // Pure ops that both sides need are computed by each for itself: cheaper than carrying them over trips.
  SmallVector<Operation *> shared;
  for (Operation &op : *loop.getBody())
    if (producerStage.contains(&op) && isMemoryEffectFree(&op) && !isa<AdvanceOp>(op))
      shared.push_back(&op);
  for (Operation *op : llvm::reverse(shared)) {
    OpBuilder builder(op);
    Operation *copy = nullptr;
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
      if (producerStage.contains(user) || isa<scf::YieldOp>(user))
        continue;
      if (!copy)
        copy = builder.clone(*op);
      use.set(copy->getResult(cast<OpResult>(use.get()).getResultNumber()));
    }
  }
  Builder builder(loop.getContext());
  auto rank = [&](Operation *op) {
    // Waits for what ran ahead come first; what this very trip puts into a slot must be there before it is waited for.
    if (isa<ConsumerWaitOp>(op) && distance.contains(getChannelOf(op)))
      return 0;
    return producerStage.contains(op) ? 1 : 2;
  };
  SmallVector<Operation *> order;
  for (Operation &op : loop.getBody()->without_terminator())
    order.push_back(&op);
  llvm::stable_sort(order, [&](Operation *lhs, Operation *rhs) { return rank(lhs) < rank(rhs); });
  for (auto [place, op] : llvm::enumerate(order)) {
    auto stage = producerStage.find(op);
    op->setAttr(kStageAttr, builder.getI64IntegerAttr(stage == producerStage.end() ? lastStage : stage->second));
    op->setAttr(kOrderAttr, builder.getI64IntegerAttr(place));
  }
}
