// Allocation: writes the memory plan into the channels, and brackets the kernel with the set-up of barriers and tensor memory.
#include "headrace/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "headrace/Dialect/Tile/Transforms/Target.h"

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPEALLOCATEMEMORY
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

static LogicalResult allocate(func::FuncOp kernel, const TargetInfo &target) {
  MemoryPlan plan = planMemory(kernel);
  if (int64_t limit = getSharedLimit(kernel, target); plan.sharedBytes > limit) {
    InFlightDiagnostic error = kernel.emitError() << "channels need " << plan.sharedBytes << " bytes of shared memory, "
                                                  << target.name << " has " << limit;
    noteSharedUsers(error, plan);
    return error;
  }
  if (plan.tmemAllocated > target.tmemColumns) {
    InFlightDiagnostic error = kernel.emitError()
                               << "accumulators need " << plan.tmemColumns << " columns of tensor memory, "
                               << target.name << " has " << target.tmemColumns;
    noteTmemUsers(error, plan);
    return error;
  }

  OpBuilder builder(kernel.getContext());
  kernel->setAttr(kSharedBytesAttr, builder.getI64IntegerAttr(plan.sharedBytes));
  if (plan.channels.empty())
    return success();
  for (ChannelPlacement &placement : plan.channels) {
    placement.channel.setOffset(placement.offset);
    if (placement.barrierOffset >= 0)
      placement.channel.setBarrierOffset(placement.barrierOffset);
  }
  builder.setInsertionPointAfter(plan.channels.back().channel);
  if (plan.tmemAllocated)
    TmemAllocOp::create(builder, kernel.getLoc(), plan.tmemAllocated, plan.tmemAddressOffset);
  if (llvm::any_of(plan.channels, [](const ChannelPlacement &placement) { return placement.barrierOffset >= 0; }))
    InitChannelsOp::create(builder, kernel.getLoc());
  builder.setInsertionPoint(kernel.getBody().front().getTerminator());
  if (plan.tmemAllocated)
    TmemDeallocOp::create(builder, kernel.getLoc(), plan.tmemAllocated, plan.tmemAddressOffset);
  return success();
}

namespace {
struct PipeAllocateMemoryPass : public headrace::pipe::impl::PipeAllocateMemoryBase<PipeAllocateMemoryPass> {
  void runOnOperation() override {
    FailureOr<TargetInfo> target = tile::getTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr) && failed(allocate(kernel, *target)))
        return signalPassFailure();
  }
};
} // namespace
