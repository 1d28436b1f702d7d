// Channels: what makes a slot full and empty, for each kind of synchronisation, and the fences and
// barriers around it.
//
//   sync         producer_acquire          producer_commit            consumer_wait
//   consumer_release mbarrier     wait empty, expect bytes  arrive full, or TMA does   wait full
//   arrive empty group        -                         cp.async.commit_group cp.async.wait_group -
//   barrier      -                         -                          -                  -
//   bulk_store   bulk.wait_group.read      -                          - bulk.commit_group
//
// One thread, the role's leader, starts all TMA copies and tcgen05 instructions of the role, so it
// alone expects their bytes and commits them. Whoever writes or reads slots with ordinary
// instructions arrives once for each warp.
#include "Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

//===- instructions
//-------------------------------------------------------------------------------------===//

static Value both(OpBuilder &builder, Location loc, Value left, Value right) {
  if (!left || !right)
    return left ? left : right;
  return arith::AndIOp::create(builder, loc, left, right);
}

/// An instruction that executes where `predicate` is true; `text` uses $0 for the address, if there
/// is one.
static void guarded(OpBuilder &builder, Location loc, StringRef text, Value predicate, Value address = {}) {
  SmallVector<Value> operands;
  if (address)
    operands.push_back(address);
  operands.push_back(predicate);
  ptx(builder, loc, llvm::formatv("@${0} {1}", operands.size() - 1, text).str(), {}, operands);
}

/// tcgen05.fence: PTX ISA 9.7.16.11.
static void fenceAfter(OpBuilder &builder, Location loc) {
  ptx(builder, loc, "tcgen05.fence::after_thread_sync;", {}, {});
}
static void fenceBefore(OpBuilder &builder, Location loc) {
  ptx(builder, loc, "tcgen05.fence::before_thread_sync;", {}, {});
}

/// fence.proxy.async: PTX ISA 9.7.13.4.
static void fenceAsync(OpBuilder &builder, Location loc) {
  ptx(builder, loc, "fence.proxy.async.shared::cta;", {}, {});
}

/// bar.warp.sync: PTX ISA 9.7.13.2.
static void syncWarp(OpBuilder &builder, Location loc) { ptx(builder, loc, "bar.warp.sync 0xffffffff;", {}, {}); }

/// bar.sync: PTX ISA 9.7.13.1. Barrier 0 is the kernel's, barrier i + 1 that of role i.
static void syncRole(OpBuilder &builder, Location loc, const RoleInfo &role) {
  if (role.active == 1)
    return syncWarp(builder, loc);
  if (role.index < 0)
    ptx(builder, loc, "bar.sync 0;", {}, {});
  else
    ptx(builder, loc, llvm::formatv("bar.sync {0}, {1};", role.index + 1, 32 * role.active).str(), {}, {});
}

/// tcgen05.commit: PTX ISA 9.7.16.12. Arrives once what the leader started before has been done.
static void commitTcgen05(OpBuilder &builder, Operation *op, Value barrier, Value predicate = {}) {
  guarded(builder, op->getLoc(), "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];",
          both(builder, op->getLoc(), isLeader(builder, op), predicate), barrier);
}

/// mbarrier.arrive: PTX ISA 9.7.13.15.13. One arrival for each warp, when all its lanes have come.
static void arriveWarp(OpBuilder &builder, Operation *op, Value barrier, Value predicate = {}) {
  Location loc = op->getLoc();
  syncWarp(builder, loc);
  Value lane = getThread(builder, op).lane;
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, constI32(builder, loc, 0));
  guarded(builder, loc, "mbarrier.arrive.shared::cta.b64 _, [$0];", both(builder, loc, first, predicate), barrier);
}

/// The leader waits until the slot is empty and announces the bytes that TMA will bring:
/// mbarrier.arrive.expect_tx, PTX ISA 9.7.13.15.13. One block of assembly, since all of it hangs on
/// one predicate.
static void acquireForTma(OpBuilder &builder, Location loc, Value empty, Value parity, Value full, int64_t bytes,
                          Value predicate) {
  std::string text = llvm::formatv("{{\n.reg .pred p;\n@!$3 bra D;\nW: mbarrier.try_wait.parity.shared::cta.b64 "
                                   "p, [$0], $1;\n"
                                   "@!p bra W;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [$2], {0};\nD:\n}",
                                   bytes)
                         .str();
  ptx(builder, loc, text, {}, {empty, parity, full, predicate});
}

//===- who is on the other side
//-------------------------------------------------------------------------===//

static bool inTensorMemory(CreateChannelOp channel) {
  return channel.getChannel().getType().getBuffers().front().isTmem();
}

/// Whether warps write slots with ordinary instructions: then each of them arrives. TMA accounts
/// for one arrival.
static bool hasWarpProducers(CreateChannelOp channel) {
  return !channel.getAsyncCommit() && *channel.getFullArrivals() > (channel.getTxBytes() ? 1u : 0u);
}

static bool hasCpAsync(CreateChannelOp channel) {
  return llvm::any_of(channel.getChannel().getUsers(), [](Operation *user) {
    auto copy = dyn_cast<CopyOp>(user);
    return copy && copy.getMechanism() == tile::Mechanism::CpAsync;
  });
}

static SmallVector<Value> slotAddresses(OpBuilder &builder, Location loc, CreateChannelOp channel, Value index) {
  SmallVector<Value> addresses;
  for (size_t i = 0; i < channel.getChannel().getType().getBuffers().size(); ++i)
    addresses.push_back(slotAddress(builder, loc, channel, index, i));
  return addresses;
}

//===- the four steps
//-----------------------------------------------------------------------------------===//

namespace {

struct ConvertAcquire : OpConversionPattern<ProducerAcquireOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ProducerAcquireOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    CreateChannelOp channel = getChannelOf(op);
    if (channel.getSync() == Sync::Mbarrier)
      acquire(op, channel, rewriter);
    else if (channel.getSync() == Sync::BulkStore)
      // cp.async.bulk.wait_group: PTX ISA 9.7.9.27.2.
      guarded(rewriter, loc,
              llvm::formatv("cp.async.bulk.wait_group.read {0};", channel.getChannel().getType().getDepth() - 1).str(),
              both(rewriter, loc, isGroupLeader(rewriter, op, channel.getGroups()), op.getPredicate()));
    rewriter.replaceOp(op, slotAddresses(rewriter, loc, channel, op.getIndex()));
    return success();
  }

  void acquire(ProducerAcquireOp op, CreateChannelOp channel, OpBuilder &builder) const {
    Location loc = op.getLoc();
    Value predicate = op.getPredicate();
    Value empty = emptyBarrier(builder, loc, channel, op.getIndex());
    if (channel.getTxBytes())
      acquireForTma(builder, loc, empty, op.getPhase(), fullBarrier(builder, loc, channel, op.getIndex()),
                    *channel.getTxBytes(), both(builder, loc, isLeader(builder, op), predicate));
    if (channel.getAsyncCommit()) {
      // As in ConvertWait: the leader alone writes the slot, and commits.
      waitBarrier(builder, loc, empty, op.getPhase(), both(builder, loc, isLeader(builder, op), predicate));
      fenceAfter(builder, loc);
    } else if (hasWarpProducers(channel)) {
      waitBarrier(builder, loc, empty, op.getPhase(), predicate);
    }
  }
};

struct ConvertCommit : OpConversionPattern<ProducerCommitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ProducerCommitOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    CreateChannelOp channel = getChannelOf(op);
    if (channel.getSync() == Sync::Mbarrier)
      commit(op, channel, rewriter);
    else if (channel.getSync() == Sync::Group)
      // cp.async.commit_group, PTX ISA 9.7.9.25.3.2: also when nothing was copied, so that waits
      // can count groups.
      ptx(rewriter, op.getLoc(), "cp.async.commit_group;", {}, {});
    rewriter.eraseOp(op);
    return success();
  }

  void commit(ProducerCommitOp op, CreateChannelOp channel, OpBuilder &builder) const {
    Location loc = op.getLoc();
    if (!channel.getAsyncCommit() && !hasWarpProducers(channel))
      return;
    Value full = fullBarrier(builder, loc, channel, op.getIndex());
    if (channel.getAsyncCommit())
      return commitTcgen05(builder, op, full, op.getPredicate());
    if (hasCpAsync(channel))
      ptx(builder, loc, "cp.async.wait_all;", {}, {});
    // wgmma and tcgen05 may be what reads the slot.
    fenceAsync(builder, loc);
    arriveWarp(builder, op, full, op.getPredicate());
  }
};

struct ConvertWait : OpConversionPattern<ConsumerWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ConsumerWaitOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    CreateChannelOp channel = getChannelOf(op);
    if (channel.getSync() == Sync::Mbarrier) {
      // The commit of what the leader issues is all that frees such a slot: nothing would hold back a slot that another
      // thread still waits for, and that thread would sleep through a phase.
      waitBarrier(rewriter, loc, fullBarrier(rewriter, loc, channel, op.getIndex()), op.getPhase(),
                  channel.getAsyncRelease() ? isLeader(rewriter, op) : Value());
      if (channel.getAsyncRelease() || inTensorMemory(channel))
        fenceAfter(rewriter, loc);
    } else if (channel.getSync() == Sync::Group) {
      // cp.async.wait_group: PTX ISA 9.7.9.25.3.3.
      ptx(rewriter, loc, llvm::formatv("cp.async.wait_group {0};", op.getPending().value_or(0)).str(), {}, {});
    }
    rewriter.replaceOp(op, slotAddresses(rewriter, loc, channel, op.getIndex()));
    return success();
  }
};

struct ConvertRelease : OpConversionPattern<ConsumerReleaseOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ConsumerReleaseOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    CreateChannelOp channel = getChannelOf(op);
    if (channel.getSync() == Sync::Mbarrier)
      release(op, channel, rewriter);
    else if (channel.getSync() == Sync::BulkStore)
      // cp.async.bulk.commit_group: PTX ISA 9.7.9.27.1.
      guarded(rewriter, op.getLoc(), "cp.async.bulk.commit_group;", isGroupLeader(rewriter, op, channel.getGroups()));
    rewriter.eraseOp(op);
    return success();
  }

  void release(ConsumerReleaseOp op, CreateChannelOp channel, OpBuilder &builder) const {
    Value empty = emptyBarrier(builder, op.getLoc(), channel, op.getIndex());
    if (channel.getAsyncRelease())
      return commitTcgen05(builder, op, empty);
    if (inTensorMemory(channel))
      fenceBefore(builder, op.getLoc());
    arriveWarp(builder, op, empty);
  }
};

/// index + 1, or 0 at the depth, where the phase flips. Without the predicate nothing is added, so
/// nothing wraps.
struct ConvertAdvance : OpConversionPattern<AdvanceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AdvanceOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    Value one = constI32(rewriter, loc, 1), index = adaptor.getIndex(), phase = adaptor.getPhase();
    if (Value predicate = adaptor.getPredicate())
      one = arith::ExtUIOp::create(rewriter, loc, i32, predicate);
    if (op.getDepth() == 1) {
      Value flipped = arith::XOrIOp::create(rewriter, loc, phase, one);
      rewriter.replaceOp(op, {index, flipped});
      return success();
    }
    Value next = arith::AddIOp::create(rewriter, loc, index, one);
    Value wraps =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, next, constI32(rewriter, loc, op.getDepth()));
    Value nextIndex = arith::SelectOp::create(rewriter, loc, wraps, constI32(rewriter, loc, 0), next);
    Value flip = arith::ExtUIOp::create(rewriter, loc, i32, wraps);
    rewriter.replaceOp(op, {nextIndex, arith::XOrIOp::create(rewriter, loc, phase, flip)});
    return success();
  }
};

//===- creation, fences, barriers
//-----------------------------------------------------------------------===//

struct EraseChannel : OpConversionPattern<CreateChannelOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(CreateChannelOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, ArrayRef<ValueRange>{ValueRange()});
    return success();
  }
};

/// mbarrier.init: PTX ISA 9.7.13.15.9; fence.mbarrier_init, which TMA's arrivals need to see
/// it: 9.7.13.4.
struct ConvertInitChannels : OpConversionPattern<InitChannelsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(InitChannelsOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<CreateChannelOp> channels;
    op->getParentOfType<func::FuncOp>().walk([&](CreateChannelOp channel) {
      if (channel.usesBarriers())
        channels.push_back(channel);
    });
    if (!channels.empty()) {
      Location loc = op.getLoc();
      auto leader = scf::IfOp::create(rewriter, loc, isLeader(rewriter, op), /*withElseRegion=*/false);
      OpBuilder inside = OpBuilder::atBlockTerminator(leader.thenBlock(), rewriter.getListener());
      Value shared = sharedAddress(inside, loc, 0);
      for (CreateChannelOp channel : channels)
        initialise(inside, channel, shared);
      ptx(inside, loc, "fence.mbarrier_init.release.cluster;", {}, {});
      syncRole(rewriter, loc, getRole(op));
    }
    rewriter.eraseOp(op);
    return success();
  }

  void initialise(OpBuilder &builder, CreateChannelOp channel, Value shared) const {
    int64_t depth = channel.getChannel().getType().getDepth();
    for (int64_t i = 0; i < 2 * depth; ++i)
      ptx(builder, channel.getLoc(),
          llvm::formatv("mbarrier.init.shared::cta.b64 [$0+{0}], {1};", *channel.getBarrierOffset() + 8 * i,
                        i < depth ? *channel.getFullArrivals() : *channel.getEmptyArrivals())
              .str(),
          {}, {shared});
  }
};

struct ConvertFenceAsync : OpConversionPattern<FenceAsyncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(FenceAsyncOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    fenceAsync(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

constexpr int64_t kFirstGroupBarrier = 8;

struct ConvertRoleBarrier : OpConversionPattern<RoleBarrierOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RoleBarrierOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    if (op.getGroups())
      syncGroup(rewriter, op, *op.getGroups());
    else
      syncRole(rewriter, op.getLoc(), getRole(op));
    rewriter.eraseOp(op);
    return success();
  }

  /// Barriers 1.. belong to roles, 8.. to groups; 16 exist (PTX ISA 9.7.13.1).
  static void syncGroup(OpBuilder &builder, Operation *op, int64_t groups) {
    Location loc = op->getLoc();
    Value id =
        arith::AddIOp::create(builder, loc, groupOf(builder, op, groups), constI32(builder, loc, kFirstGroupBarrier));
    int64_t threads = 32 * getRole(op).active / groups;
    ptx(builder, loc, llvm::formatv("bar.sync $0, {0};", threads).str(), {}, id);
  }
};

struct ConvertDrainStores : OpConversionPattern<DrainStoresOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(DrainStoresOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    // Not only .read: whoever runs next sees the stores.
    guarded(rewriter, op.getLoc(), "cp.async.bulk.wait_group 0;", isGroupLeader(rewriter, op, op.getGroups()));
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void lowering::populateChannels(TypeConverter &converter, RewritePatternSet &patterns, const TargetInfo &) {
  patterns.add<ConvertAcquire, ConvertCommit, ConvertWait, ConvertRelease, ConvertAdvance, EraseChannel,
               ConvertInitChannels, ConvertFenceAsync, ConvertRoleBarrier, ConvertDrainStores>(converter,
                                                                                               patterns.getContext());
}
