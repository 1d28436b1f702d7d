// Verification of the protocol: places of reads and writes, pairs of steps, counts.
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPEVERIFYPROTOCOL
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

/// The next op of type `Step` for the same channel and cursor after `op` in its block; null if there is none.
template <typename Step> static Step getNext(Operation *op, Value channel) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
    if (auto step = dyn_cast<Step>(next))
      if (step.getChannel() == channel)
        return step;
  return {};
}

/// Whether `user` (or the op of `block` that contains it) comes after `end`.
static bool isAfter(Operation *user, Operation *end) {
  Operation *ancestor = end->getBlock()->findAncestorOpInBlock(*user);
  return ancestor && end->isBeforeInBlock(ancestor);
}

/// Matmuls that certainly start between one and its wait.
static uint64_t countNewer(MmaAsyncOp mma, MmaWaitOp wait) {
  uint64_t count = 0;
  if (mma->getBlock() == wait->getBlock())
    for (Operation *op = mma->getNextNode(); op && op != wait; op = op->getNextNode())
      count += isa<MmaAsyncOp>(op);
  return count;
}

/// Law 1, reading side: between the wait and the release.
static LogicalResult verifyWait(ConsumerWaitOp wait) {
  auto release = getNext<ConsumerReleaseOp>(wait, wait.getChannel());
  if (!release)
    return wait.emitError("channel '") << getChannelOf(wait).getName() << "' is waited for and never released";
  for (Operation *user : wait->getUsers()) {
    if (isAfter(user, release)) {
      InFlightDiagnostic error = user->emitError("reads a slot of channel '")
                                 << getChannelOf(wait).getName() << "' after its release";
      error.attachNote(release.getLoc()) << "released here";
      return error;
    }
    auto mma = dyn_cast<MmaAsyncOp>(user);
    if (!mma)
      continue;
    // wgmma reads until it is waited for: a wait must come before the release, and leave no more in flight than was
    // started since.
    bool waited = llvm::any_of(mma.getResult().getUsers(), [&](Operation *next) {
      auto mmaWait = dyn_cast<MmaWaitOp>(next);
      return mmaWait && mmaWait.getPending() <= countNewer(mma, mmaWait) && !isAfter(mmaWait, release);
    });
    if (!waited) {
      InFlightDiagnostic error = mma.emitError("still reads a slot of channel '")
                                 << getChannelOf(wait).getName() << "' when it is released";
      error.attachNote(release.getLoc()) << "released here, before pipe.mma_wait";
      return error;
    }
  }
  return success();
}

/// Law 1, writing side: between acquire and commit.
static LogicalResult verifyAcquire(ProducerAcquireOp acquire) {
  auto commit = getNext<ProducerCommitOp>(acquire, acquire.getChannel());
  if (!commit)
    return acquire.emitError("channel '") << getChannelOf(acquire).getName() << "' is acquired and never committed";
  for (Operation *user : acquire->getUsers())
    if (isAfter(user, commit)) {
      InFlightDiagnostic error = user->emitError("writes a slot of channel '")
                                 << getChannelOf(acquire).getName() << "' after its commit";
      error.attachNote(commit.getLoc()) << "committed here";
      return error;
    }
  return success();
}

/// Counts are positive and both sides exist.
static LogicalResult verifyChannel(CreateChannelOp channel) {
  bool produced = false, consumed = false;
  for (Operation *user : channel->getUsers()) {
    produced |= isa<ProducerCommitOp>(user);
    consumed |= isa<ConsumerReleaseOp>(user);
  }
  if (produced != consumed)
    return channel.emitError("channel '") << channel.getName() << "' is "
                                          << (produced ? "produced and never consumed" : "consumed and never produced");
  if (channel.usesBarriers() && produced &&
      (channel.getFullArrivals().value_or(0) < 1 || channel.getEmptyArrivals().value_or(0) < 1))
    return channel.emitError("channel '") << channel.getName() << "' has no arrive counts: run pipe-derive-arrivals";
  // tx-count stays below 2^20 (PTX ISA 9.7.13.15.2).
  if (channel.getTxBytes().value_or(0) >= (int64_t(1) << 20))
    return channel.emitError("channel '") << channel.getName() << "' expects " << *channel.getTxBytes()
                                          << " bytes a slot, an mbarrier counts below 1048576";
  return success();
}

/// Whether threads write the channel's slots themselves: through the generic proxy.
static bool isWrittenByThreads(CreateChannelOp channel) {
  return llvm::any_of(channel->getUsers(), [](Operation *step) {
    return isa<ProducerAcquireOp>(step) && llvm::any_of(step->getUsers(), [](Operation *user) {
             auto copy = dyn_cast<CopyOp>(user);
             return isa<WriteOp>(user) || (copy && copy.getMechanism() != tile::Mechanism::Tma);
           });
  });
}

/// Whether a fence lies between two ops of one block.
static bool isFencedBetween(Operation *first, Operation *last) {
  for (Operation *op = first->getNextNode(); op && op != last; op = op->getNextNode())
    if (isa<FenceAsyncOp>(op))
      return true;
  return false;
}

/// Law 3, for what a wait finds written by threads: a fence before the first asynchronous reader. (Commits to mbarriers
/// fence by themselves.)
static LogicalResult verifyReaders(ConsumerWaitOp wait) {
  CreateChannelOp channel = getChannelOf(wait);
  bool fencedByCommit = channel.usesBarriers() || channel.getSync() == Sync::BulkStore;
  if (fencedByCommit || !isWrittenByThreads(channel))
    return success();
  for (Operation *user : wait->getUsers())
    if (isa<MmaAsyncOp, MmaTmemOp, AsyncStoreOp>(user) &&
        !isFencedBetween(wait, wait->getBlock()->findAncestorOpInBlock(*user))) {
      InFlightDiagnostic error = user->emitError("reads a slot of channel '")
                                 << channel.getName()
                                 << "' asynchronously, which threads wrote: expected pipe.fence_async before it";
      error.attachNote(wait.getLoc()) << "waited for here";
      return error;
    }
  return success();
}

/// Law 3, for what TMA stores read: a fence between the writes and the commit.
static LogicalResult verifyStaging(ProducerAcquireOp acquire) {
  CreateChannelOp channel = getChannelOf(acquire);
  if (channel.getSync() != Sync::BulkStore || !isWrittenByThreads(channel))
    return success();
  auto commit = getNext<ProducerCommitOp>(acquire, acquire.getChannel());
  Operation *last = acquire;
  for (Operation *user : acquire->getUsers())
    if (Operation *ancestor = acquire->getBlock()->findAncestorOpInBlock(*user); last->isBeforeInBlock(ancestor))
      last = ancestor;
  if (isFencedBetween(last, commit))
    return success();
  return commit.emitError("channel '")
         << channel.getName() << "' is read by TMA stores: expected pipe.fence_async between the writes and this";
}

/// Law 4: every accumulator in flight is waited for before anything else uses it.
static LogicalResult verifyInflight(MmaAsyncOp mma) {
  if (mma.getResult().use_empty())
    return mma.emitError("accumulator in flight is never waited for");
  return success();
}

namespace {
struct PipeVerifyProtocolPass : public headrace::pipe::impl::PipeVerifyProtocolBase<PipeVerifyProtocolPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) -> WalkResult {
      return llvm::TypeSwitch<Operation *, LogicalResult>(op)
          .Case([](ConsumerWaitOp wait) { return failed(verifyWait(wait)) ? failure() : verifyReaders(wait); })
          .Case([](ProducerAcquireOp acquire) {
            return failed(verifyAcquire(acquire)) ? failure() : verifyStaging(acquire);
          })
          .Case([](CreateChannelOp channel) { return verifyChannel(channel); })
          .Case([](MmaAsyncOp mma) { return verifyInflight(mma); })
          .Default(success());
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
