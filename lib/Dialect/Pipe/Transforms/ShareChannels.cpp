// One ring for loops that follow each other: what the first needs no more, the second fills.
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <set>

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPESHARECHANNELS
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

/// The pipelined loop in whose body all waits of a channel lie; null if there is no such loop.
static scf::ForOp getLoop(CreateChannelOp channel) {
  scf::ForOp found;
  for (Operation *user : channel->getUsers()) {
    if (!isa<ConsumerWaitOp>(user))
      continue;
    auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
    if (!loop || !loop->hasAttr(kPipelineAttr) || (found && found != loop))
      return {};
    found = loop;
  }
  return found;
}

/// The smallest block that contains, at any depth, all users of both channels.
static Block *getCommonBlock(CreateChannelOp first, CreateChannelOp second) {
  auto contains = [](Block &block, CreateChannelOp channel) {
    return llvm::all_of(channel->getUsers(), [&](Operation *user) { return block.findAncestorOpInBlock(*user); });
  };
  Block *block = (*first->getUsers().begin())->getBlock();
  while (!contains(*block, first) || !contains(*block, second))
    block = block->getParentOp()->getBlock();
  return block;
}

/// Whether everything that `first` does in `block` comes before everything that `second` does.
static bool isBefore(CreateChannelOp first, CreateChannelOp second, Block &block) {
  for (Operation *user : first->getUsers())
    for (Operation *other : second->getUsers())
      if (!block.findAncestorOpInBlock(*user)->isBeforeInBlock(block.findAncestorOpInBlock(*other)))
        return false;
  return true;
}

/// The ways in which the slots of a channel are filled: who arrives, and how often, depends on them.
static std::set<tile::Mechanism> getMechanisms(CreateChannelOp channel) {
  std::set<tile::Mechanism> mechanisms;
  for (Operation *user : channel->getUsers())
    if (auto copy = dyn_cast<CopyOp>(user))
      mechanisms.insert(copy.getMechanism());
  return mechanisms;
}

/// Two rings are one if they hold the same tiles, are filled and read the same way and to the same depth, by loops of
/// which one ends before the other starts. Cursors run on from loop to loop, whatever their numbers of trips.
static bool canShare(CreateChannelOp first, CreateChannelOp second) {
  if (first->use_empty() || second->use_empty() || first.getChannel().getType() != second.getChannel().getType() ||
      first.getSync() != second.getSync() || first.getAsyncRelease() != second.getAsyncRelease() ||
      first.getAsyncCommit() != second.getAsyncCommit())
    return false;
  scf::ForOp firstLoop = getLoop(first), secondLoop = getLoop(second);
  if (!firstLoop || !secondLoop || firstLoop == secondLoop ||
      firstLoop->getAttr(kPipelineAttr) != secondLoop->getAttr(kPipelineAttr))
    return false;
  std::set<tile::Mechanism> copies = getMechanisms(first);
  if (copies.empty() || copies != getMechanisms(second))
    return false;
  Block *block = getCommonBlock(first, second);
  return isBefore(first, second, *block) || isBefore(second, first, *block);
}

namespace {
struct PipeShareChannelsPass : public headrace::pipe::impl::PipeShareChannelsBase<PipeShareChannelsPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(kKernelAttr))
        continue;
      SmallVector<CreateChannelOp> rings;
      for (auto channel : llvm::make_early_inc_range(kernel.getOps<CreateChannelOp>())) {
        auto found = llvm::find_if(rings, [&](CreateChannelOp ring) { return canShare(ring, channel); });
        if (found == rings.end()) {
          rings.push_back(channel);
          continue;
        }
        channel.getChannel().replaceAllUsesWith((*found).getChannel());
        channel.erase();
      }
    }
  }
};
} // namespace
