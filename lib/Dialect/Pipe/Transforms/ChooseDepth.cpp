// Choice of depths: what the user asked for, or the largest that fits.
#include "headrace/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "headrace/Dialect/Tile/Transforms/Target.h"

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPECHOOSEDEPTH
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

/// More slots than this hide no more latency: a TMA load lands within two or three trips.
static constexpr int64_t kLargestAuto = 8;

static void setDepth(CreateChannelOp channel, int64_t depth) {
  ChannelType type = channel.getChannel().getType();
  channel.getChannel().setType(ChannelType::get(type.getContext(), depth, type.getBuffers()));
}

/// The pipelined loop in whose body the channel is consumed; null if it is consumed elsewhere.
static scf::ForOp getLoop(CreateChannelOp channel) {
  for (Operation *user : channel.getChannel().getUsers())
    if (isa<ConsumerWaitOp>(user))
      if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp()))
        if (loop->hasAttr(kPipelineAttr))
          return loop;
  return {};
}

namespace {
struct PipeChooseDepthPass : public headrace::pipe::impl::PipeChooseDepthBase<PipeChooseDepthPass> {
  void runOnOperation() override {
    FailureOr<TargetInfo> target = tile::getTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr) && failed(chooseDepths(kernel, *target)))
        return signalPassFailure();
  }

  LogicalResult chooseDepths(func::FuncOp kernel, const TargetInfo &target);
};
} // namespace

/// Depths are chosen in three steps: one slot for all, then what was asked for, then the largest for the rest.
LogicalResult PipeChooseDepthPass::chooseDepths(func::FuncOp kernel, const TargetInfo &target) {
  int64_t limit = getSharedLimit(kernel, target);
  SmallVector<CreateChannelOp> asked, automatic;
  int64_t stages = 0;
  scf::ForOp askingLoop;
  for (auto channel : kernel.getOps<CreateChannelOp>()) {
    bool fixed = channel.getChannel().getType().getDepth() != 0; // written by hand
    if (fixed)
      continue;
    setDepth(channel, 1);
    // What a trip computes and reads itself gains nothing from a second slot.
    bool computed = llvm::any_of(channel->getUsers(), [](Operation *user) {
      return isa<ProducerAcquireOp>(user) && llvm::any_of(user->getUsers(), llvm::IsaPred<WriteOp>);
    });
    scf::ForOp loop = getLoop(channel);
    if (!loop || computed || channel.getSync() == Sync::BulkStore || channel.getAsyncCommit())
      continue;
    int64_t wanted = cast<tile::PipelineAttr>(loop->getAttr(kPipelineAttr)).getStages();
    if (wanted < 0) {
      automatic.push_back(channel);
      continue;
    }
    setDepth(channel, std::max<int64_t>(1, wanted));
    asked.push_back(channel);
    if (wanted > stages) {
      stages = wanted;
      askingLoop = loop;
    }
  }

  MemoryPlan plan = planMemory(kernel);
  if (plan.sharedBytes > limit) {
    // The largest number of stages that would fit, for the message.
    int64_t fits = 0;
    for (int64_t depth = std::max<int64_t>(stages - 1, 0); depth > 0 && !fits; --depth) {
      for (CreateChannelOp channel : asked)
        setDepth(channel, std::min(depth, channel.getChannel().getType().getDepth()));
      if (planMemory(kernel).sharedBytes <= limit)
        fits = depth;
    }
    for (CreateChannelOp channel : asked)
      setDepth(channel, stages);
    InFlightDiagnostic error = askingLoop ? askingLoop.emitError() : kernel.emitError();
    error << "pipeline needs " << plan.sharedBytes << " bytes of shared memory";
    if (askingLoop)
      error << " for " << stages << " stages";
    error << ", " << target.name << " has " << limit;
    noteSharedUsers(error, plan);
    if (fits)
      error.attachNote(askingLoop->getLoc()) << "stages = " << fits << " fits";
    else
      error.attachNote(kernel->getLoc()) << "not even one stage fits: take smaller tiles";
    return error;
  }
  for (int64_t depth = 2; depth <= kLargestAuto && !automatic.empty(); ++depth) {
    for (CreateChannelOp channel : automatic)
      setDepth(channel, depth);
    if (planMemory(kernel).sharedBytes <= limit)
      continue;
    for (CreateChannelOp channel : automatic)
      setDepth(channel, depth - 1);
    break;
  }
  // Two accumulators let the next output tile start while this one is read.
  if (kernel->hasAttr("pipe.specialize")) {
    for (auto channel : kernel.getOps<CreateChannelOp>()) {
      if (!channel.getAsyncCommit() || channel.getChannel().getType().getDepth() != 1)
        continue;
      setDepth(channel, 2);
      if (planMemory(kernel).tmemColumns > target.tmemColumns)
        setDepth(channel, 1);
    }
  }
  return success();
}
