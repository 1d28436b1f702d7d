// Placement of channels: slots by falling alignment, then the barriers, then the address of tensor memory.
#include "headrace/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

static constexpr int64_t kBarrierBytes = 8;    // PTX ISA 9.7.13.15.1
static constexpr int64_t kMinTmemColumns = 32; // PTX ISA 9.7.16.7.1

MemoryPlan headrace::pipe::planMemory(func::FuncOp kernel) {
  MemoryPlan plan;
  for (auto channel : kernel.getOps<CreateChannelOp>())
    plan.channels.push_back({channel});
  SmallVector<ChannelPlacement *> byAlignment;
  for (ChannelPlacement &placement : plan.channels)
    byAlignment.push_back(&placement);
  llvm::stable_sort(byAlignment, [](ChannelPlacement *lhs, ChannelPlacement *rhs) {
    return lhs->channel.getAlignment() > rhs->channel.getAlignment();
  });
  for (ChannelPlacement *placement : byAlignment) {
    CreateChannelOp channel = placement->channel;
    ChannelType type = channel.getChannel().getType();
    if (type.getBuffers().front().isTmem()) {
      placement->offset = plan.tmemColumns;
      placement->size = type.getDepth() * channel.getSlotPitch();
      plan.tmemColumns += placement->size;
      continue;
    }
    placement->offset = plan.sharedBytes = llvm::alignTo(plan.sharedBytes, channel.getAlignment());
    placement->size = channel.getSharedBytes();
    plan.sharedBytes += placement->size;
  }
  plan.sharedBytes = llvm::alignTo(plan.sharedBytes, kBarrierBytes);
  for (ChannelPlacement &placement : plan.channels) {
    if (!placement.channel.usesBarriers())
      continue;
    placement.barrierOffset = plan.sharedBytes;
    plan.sharedBytes += 2 * kBarrierBytes * placement.channel.getChannel().getType().getDepth();
  }
  if (plan.tmemColumns) {
    plan.tmemAllocated = std::max<int64_t>(kMinTmemColumns, llvm::PowerOf2Ceil(plan.tmemColumns));
    plan.tmemAddressOffset = plan.sharedBytes;
    plan.sharedBytes += kBarrierBytes;
  }
  return plan;
}

int64_t headrace::pipe::getSharedLimit(func::FuncOp kernel, const TargetInfo &target) {
  auto occupancy = kernel->getAttrOfType<IntegerAttr>("pipe.occupancy");
  if (!occupancy || occupancy.getInt() <= 1)
    return target.sharedPerBlock;
  int64_t share = target.sharedPerSM / occupancy.getInt() - target.reservedPerBlock;
  return std::min(target.sharedPerBlock, share / 128 * 128); // allocated in units of 128 bytes
}

void headrace::pipe::noteSharedUsers(InFlightDiagnostic &diagnostic, const MemoryPlan &plan) {
  int64_t rest = plan.sharedBytes;
  for (const ChannelPlacement &placement : plan.channels) {
    CreateChannelOp channel = placement.channel;
    ChannelType type = channel.getChannel().getType();
    if (!placement.size || type.getBuffers().front().isTmem())
      continue;
    rest -= placement.size;
    diagnostic.attachNote(channel->getLoc())
        << "'" << channel.getName() << "' takes " << type.getDepth() << " x " << channel.getSlotPitch() << " bytes";
  }
  if (rest)
    diagnostic.attachNote(plan.channels.front().channel->getLoc())
        << "barriers and alignment take " << rest << " bytes";
}

void headrace::pipe::noteTmemUsers(InFlightDiagnostic &diagnostic, const MemoryPlan &plan) {
  for (const ChannelPlacement &placement : plan.channels) {
    CreateChannelOp channel = placement.channel;
    ChannelType type = channel.getChannel().getType();
    if (type.getBuffers().front().isTmem())
      diagnostic.attachNote(channel->getLoc())
          << "'" << channel.getName() << "' takes " << type.getDepth() << " x " << channel.getSlotPitch() << " columns";
  }
}
