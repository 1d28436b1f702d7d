// What the lowerings take for granted, and earlier passes should have seen to; a program written by
// hand may not have it.
#include "Lowering.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

namespace {

/// The facts about a kernel that its ops are checked against.
struct Checker {
  Checker(func::FuncOp kernel, const TargetInfo &target)
      : kernel(kernel), target(target), warps(integerAttr(kWarpsAttr)), sharedBytes(integerAttr(kSharedBytesAttr)) {
    if (auto attr = kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr))
      maps = attr.size();
    auto allocs = kernel.getBody().front().getOps<TmemAllocOp>();
    if (!allocs.empty())
      tmemAlloc = *allocs.begin();
  }

  LogicalResult check();

private:
  int64_t integerAttr(StringRef name) {
    auto attr = kernel->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : 0;
  }
  LogicalResult needs(Operation *op, Feature feature) {
    if (target.has(feature))
      return success();
    return op->emitError(missingFeature(feature, target));
  }
  LogicalResult checkOp(Operation *op);
  LogicalResult checkChannel(CreateChannelOp channel);
  LogicalResult checkSync(CreateChannelOp channel);
  LogicalResult checkStep(Operation *op, Value index);
  LogicalResult checkRoles(RolesOp roles);
  LogicalResult checkTensorMap(Operation *op, std::optional<uint64_t> map);

  func::FuncOp kernel;
  const TargetInfo &target;
  int64_t warps, sharedBytes, maps = 0;
  TmemAllocOp tmemAlloc; ///< null if there is none in the outermost block
};

LogicalResult Checker::checkTensorMap(Operation *op, std::optional<uint64_t> map) {
  if (map && int64_t(*map) >= 0 && int64_t(*map) < maps)
    return success();
  return op->emitError("expected a tensor map of the kernel, which has ") << maps;
}

LogicalResult Checker::checkSync(CreateChannelOp channel) {
  if ((channel.getAsyncCommit() || channel.getAsyncRelease()) && failed(needs(channel, Feature::Tcgen05)))
    return failure();
  switch (channel.getSync()) {
  case Sync::Barrier:
    return success();
  case Sync::Group:
    return needs(channel, Feature::CpAsync);
  case Sync::BulkStore:
    return needs(channel, Feature::Tma);
  case Sync::Mbarrier:
    break;
  }
  if (failed(needs(channel, Feature::MbarrierTryWait)))
    return failure();
  if (!channel.getBarrierOffset())
    return channel.emitError("expected pipe-allocate-memory to have placed the barriers");
  if (!channel.getFullArrivals() || !channel.getEmptyArrivals())
    return channel.emitError("expected pipe-derive-arrivals to have counted the arrivals");
  return success();
}

LogicalResult Checker::checkChannel(CreateChannelOp channel) {
  if (channel.getChannel().getType().getDepth() < 1)
    return channel.emitError("expected pipe-choose-depth to have chosen a depth");
  if (!channel.getOffset())
    return channel.emitError("expected pipe-allocate-memory to have placed the channel");
  int64_t end = *channel.getOffset() + channel.getSharedBytes();
  if (channel.getSharedBytes() && end > sharedBytes)
    return channel.emitError("expected the channel to end within the kernel's shared memory of ")
           << sharedBytes << " bytes, got " << end;
  return checkSync(channel);
}

LogicalResult Checker::checkStep(Operation *op, Value index) {
  CreateChannelOp channel = getChannelOf(op);
  ChannelType type = channel.getChannel().getType();
  if (!index && (channel.usesBarriers() || type.getDepth() > 1))
    return op->emitError("expected a cursor: the channel ") << channel.getName() << " has barriers or several slots";
  if (type.getBuffers().front().isShared())
    return success();
  Operation *outermost = kernel.getBody().front().findAncestorOpInBlock(*op);
  if (!tmemAlloc || !tmemAlloc->isBeforeInBlock(outermost))
    return op->emitError("expected pipe.tmem_alloc before it, in front of roles and loops");
  return success();
}

LogicalResult Checker::checkRoles(RolesOp roles) {
  int64_t sum = std::accumulate(roles.getWarps().begin(), roles.getWarps().end(), int64_t(0));
  if (sum != warps)
    return roles.emitError("expected the roles to share the kernel's ") << warps << " warps, got " << sum;
  // PTX ISA 9.7.13.1: 16 barriers, of which the kernel has one.
  if (roles.getBodies().size() > 15)
    return roles.emitError("expected at most 15 roles, one barrier each");
  if (llvm::any_of(roles.getRegisters(), [](int64_t budget) { return budget != 0; }))
    return needs(roles, Feature::SetMaxNReg);
  return success();
}

LogicalResult Checker::checkOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](CreateChannelOp channel) { return checkChannel(channel); })
      .Case<ProducerAcquireOp, ProducerCommitOp, ConsumerWaitOp, ConsumerReleaseOp>(
          [&](auto step) { return checkStep(op, step.getIndex()); })
      .Case([&](CopyOp copy) {
        return copy.getMechanism() == tile::Mechanism::Tma ? checkTensorMap(op, copy.getMap()) : success();
      })
      .Case([&](AsyncStoreOp store) { return checkTensorMap(op, store.getMap()); })
      .Case([&](RolesOp roles) { return checkRoles(roles); })
      .Case<FenceAsyncOp, DrainStoresOp>([&](auto) { return needs(op, Feature::Tma); })
      .Case<TmemAllocOp, TmemDeallocOp>([&](auto) { return needs(op, Feature::Tcgen05); })
      .Default(success());
}

LogicalResult Checker::check() {
  if (!kernel.getResultTypes().empty())
    return kernel.emitError("expected a kernel to return nothing");
  if (warps < 1 || warps > 32)
    return kernel.emitError("expected ") << kWarpsAttr << " to be 1 to 32, got " << warps;
  return failure(kernel.walk([&](Operation *op) -> WalkResult { return checkOp(op); }).wasInterrupted());
}

} // namespace

LogicalResult lowering::checkKernel(func::FuncOp kernel, const TargetInfo &target) {
  if (!kernel->hasAttr(kKernelAttr) || kernel.isExternal())
    return kernel.emitError("expected a kernel: a function with a body and the attribute ") << kKernelAttr;
  return Checker(kernel, target).check();
}
