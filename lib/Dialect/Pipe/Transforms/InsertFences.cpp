// Barriers for channels without mbarriers, and proxy fences before asynchronous reads: one scan of each block.
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPEINSERTFENCES
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

/// Whether the role's barrier orders this channel's two sides.
static bool usesRoleBarrier(CreateChannelOp channel) {
  return channel.getSync() == Sync::Barrier || channel.getSync() == Sync::Group;
}

/// Whether an op that reads tiles of the channel satisfies `is`.
static bool isReadBy(CreateChannelOp channel, llvm::function_ref<bool(Operation *)> is) {
  for (Operation *user : channel->getUsers())
    if (auto wait = dyn_cast<ConsumerWaitOp>(user))
      if (llvm::any_of(wait->getUsers(), is))
        return true;
  return false;
}

/// Matmuls and TMA stores read shared memory through the async proxy, everything else through the generic one.
static bool readsAsync(Operation *op) { return isa<MmaAsyncOp, MmaTmemOp, AsyncStoreOp>(op); }

/// Whether generic reads of a slot must be fenced before its release, because TMA writes the slot next. An arrival does
/// not wait for loads before it: ptxas issues it while they are still queued, and ld.shared with many bank conflicts was
/// seen to read what TMA had brought for a later trip.
static bool needsReleaseFence(CreateChannelOp channel) {
  return channel.getTxBytes() && isReadBy(channel, [](Operation *reader) { return !readsAsync(reader); });
}

namespace {
/// The scan of one block. A channel is clean if a barrier followed its last read.
class BlockScan {
public:
  explicit BlockScan(Block &block) : block(block), builder(block.getParentOp()->getContext()) {}
  void run();

private:
  void findCleanChannels();
  void orderAcquire(ProducerAcquireOp acquire);
  void orderWait(ConsumerWaitOp wait);
  void barrier(Location loc, IntegerAttr groups = {});

  Block &block;
  OpBuilder builder;
  bool allClean = false; ///< since the last barrier, nothing was read: stands for every channel
  DenseSet<Operation *> dirty;
  DenseSet<Operation *> cleanAtEntry; ///< channels
};

struct PipeInsertFencesPass : public headrace::pipe::impl::PipeInsertFencesBase<PipeInsertFencesPass> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(kKernelAttr))
        continue;
      kernel.walk([&](Block *block) { blocks.push_back(block); });
      drainStores(kernel);
    }
    for (Block *block : blocks)
      BlockScan(*block).run();
  }

  /// Shared memory must outlive the TMA stores that read it: the role that issues them waits at its end.
  void drainStores(func::FuncOp kernel) {
    // Leaders of different divisions into groups are different threads.
    DenseSet<std::pair<Region *, int64_t>> done;
    kernel.walk([&](AsyncStoreOp store) {
      Region *region = store->getParentRegion();
      while (!isa<RolesOp, func::FuncOp>(region->getParentOp()))
        region = region->getParentRegion();
      if (!done.insert({region, store.getGroups().value_or(1)}).second)
        return;
      OpBuilder builder(kernel.getContext());
      Block &block = region->back();
      if (isa<func::FuncOp>(region->getParentOp()))
        builder.setInsertionPoint(block.getTerminator());
      else
        builder.setInsertionPointToEnd(&block);
      DrainStoresOp::create(builder, store.getLoc(), store.getGroupsAttr());
    });
  }
};
} // namespace

void BlockScan::barrier(Location loc, IntegerAttr groups) {
  RoleBarrierOp::create(builder, loc, groups);
  if (groups)
    return; // the other groups may still be reading
  allClean = true;
  dirty.clear();
}

/// Channels that only this block uses, and whose last read in it is followed by a barrier: whichever way leads back here,
/// that barrier was on it.
void BlockScan::findCleanChannels() {
  DenseSet<Operation *> reads; // since the last barrier, from the end upwards
  bool barrierBelow = false;
  for (Operation &op : llvm::reverse(block)) {
    auto wait = dyn_cast<ConsumerWaitOp>(op);
    auto explicitBarrier = dyn_cast<RoleBarrierOp>(op);
    if ((wait && usesRoleBarrier(getChannelOf(wait))) || (explicitBarrier && !explicitBarrier.getGroups()))
      barrierBelow = true;
    auto release = dyn_cast<ConsumerReleaseOp>(op);
    if (!release || !reads.insert(getChannelOf(release)).second || !barrierBelow)
      continue;
    CreateChannelOp channel = getChannelOf(release);
    if (llvm::all_of(channel->getUsers(), [&](Operation *user) { return user->getBlock() == &block; }))
      cleanAtEntry.insert(channel);
  }
}

/// A slot may be written once every thread has read it: that takes a barrier since the last read, which may lie in an
/// earlier trip or before this block.
void BlockScan::orderAcquire(ProducerAcquireOp acquire) {
  CreateChannelOp channel = getChannelOf(acquire);
  if (channel.getSync() == Sync::BulkStore) {
    // The issuing thread waits for the store engine; the barrier tells the others.
    builder.setInsertionPointAfter(acquire);
    return barrier(acquire.getLoc(), channel.getGroupsAttr());
  }
  if (!usesRoleBarrier(channel) || ((allClean || cleanAtEntry.contains(channel)) && !dirty.contains(channel)))
    return;
  builder.setInsertionPoint(acquire);
  barrier(acquire.getLoc());
}

/// Data that this thread sees has landed must be seen by all: a barrier after the last of adjacent waits.
void BlockScan::orderWait(ConsumerWaitOp wait) {
  CreateChannelOp channel = getChannelOf(wait);
  if (!usesRoleBarrier(channel))
    return;
  builder.setInsertionPointAfter(wait);
  if (isReadBy(channel, readsAsync))
    FenceAsyncOp::create(builder, wait.getLoc());
  for (Operation *next = wait->getNextNode(); next; next = next->getNextNode()) {
    auto another = dyn_cast<ConsumerWaitOp>(next);
    if (another && usesRoleBarrier(getChannelOf(another)))
      return; // it will place the barrier
    if (!isMemoryEffectFree(next) && !isa<FenceAsyncOp>(next))
      break;
  }
  barrier(wait.getLoc());
}

void BlockScan::run() {
  findCleanChannels();
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto acquire = dyn_cast<ProducerAcquireOp>(op)) {
      orderAcquire(acquire);
    } else if (auto wait = dyn_cast<ConsumerWaitOp>(op)) {
      orderWait(wait);
    } else if (auto commit = dyn_cast<ProducerCommitOp>(op)) {
      if (getChannelOf(commit).getSync() != Sync::BulkStore)
        continue;
      builder.setInsertionPoint(commit);
      FenceAsyncOp::create(builder, commit.getLoc());
      barrier(commit.getLoc(), getChannelOf(commit).getGroupsAttr());
    } else if (auto release = dyn_cast<ConsumerReleaseOp>(op)) {
      CreateChannelOp channel = getChannelOf(release);
      dirty.insert(channel);
      if (!needsReleaseFence(channel))
        continue;
      builder.setInsertionPoint(release);
      FenceAsyncOp::create(builder, release.getLoc());
    } else if (op.getNumRegions()) {
      op.walk([&](ConsumerReleaseOp inner) { dirty.insert(getChannelOf(inner)); });
    }
  }
}
