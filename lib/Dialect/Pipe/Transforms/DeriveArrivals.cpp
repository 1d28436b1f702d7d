// Arrive counts and transaction bytes, from who produces and who consumes.
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPEDERIVEARRIVALS
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

/// Whether TMA fills the channel's slots.
static bool isFilledByTma(CreateChannelOp channel) {
  return llvm::any_of(channel->getUsers(), [](Operation *user) {
    auto copy = dyn_cast<CopyOp>(user);
    return copy && copy.getMechanism() == tile::Mechanism::Tma;
  });
}

namespace {
struct PipeDeriveArrivalsPass : public headrace::pipe::impl::PipeDeriveArrivalsBase<PipeDeriveArrivalsPass> {
  void runOnOperation() override {
    getOperation().walk([](CreateChannelOp channel) {
      if (!channel.usesBarriers())
        return;
      int64_t producers = 0, consumers = 0;
      for (Operation *user : channel->getUsers()) {
        if (isa<ProducerAcquireOp>(user))
          producers = std::max(producers, getRole(user).active);
        if (isa<ConsumerReleaseOp>(user))
          consumers = std::max(consumers, getRole(user).active);
      }
      if (isFilledByTma(channel)) {
        // One arrival with the bytes of all boxes; boxes reaching outside of the array count whole (PTX ISA 5.5).
        int64_t bytes = 0;
        for (BufferType buffer : channel.getChannel().getType().getBuffers())
          bytes += buffer.getSharedBytes();
        channel.setTxBytes(bytes);
        producers = 1;
      }
      channel.setFullArrivals(channel.getAsyncCommit() ? 1 : producers);
      channel.setEmptyArrivals(channel.getAsyncRelease() ? 1 : consumers);
    });
  }
};
} // namespace
