// Rotation of waits: the wait for trip k + 1 runs under the matmul of trip k.
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPEROTATEWAITS
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

namespace {
/// One wait of a loop's body, with what moves its cursor.
struct Rotation {
  ConsumerWaitOp wait;
  AdvanceOp advance;
  unsigned index, phase; ///< numbers of the cursor's loop values
};

/// The rotation of one loop.
class LoopRotation {
public:
  explicit LoopRotation(scf::ForOp loop) : loop(loop) {}
  /// Decides; false if the loop is none of ours.
  bool decide();
  void rewrite();

private:
  std::optional<Rotation> getRotation(ConsumerWaitOp wait);
  /// A wait like `wait` for another slot, if `condition`.
  ConsumerWaitOp waitFor(OpBuilder &builder, ConsumerWaitOp wait, Value index, Value phase, Value condition);

  scf::ForOp loop;
  MmaWaitOp mmaWait; ///< the first of the body
  SmallVector<Rotation> rotations;
};

struct PipeRotateWaitsPass : public headrace::pipe::impl::PipeRotateWaitsBase<PipeRotateWaitsPass> {
  void runOnOperation() override {
    SmallVector<LoopRotation> rotations;
    getOperation().walk([&](scf::ForOp loop) {
      LoopRotation rotation(loop);
      if (rotation.decide())
        rotations.push_back(std::move(rotation));
    });
    for (LoopRotation &rotation : rotations)
      rotation.rewrite();
  }
};
} // namespace

/// A wait can go round if its cursor is carried by this loop alone, moved once, and its slot read by matmuls only. With one
/// slot the next trip's data can only come once this trip's is released: waiting for it before would be for ever.
std::optional<Rotation> LoopRotation::getRotation(ConsumerWaitOp wait) {
  auto index = dyn_cast_or_null<BlockArgument>(wait.getIndex());
  auto phase = dyn_cast_or_null<BlockArgument>(wait.getPhase());
  if (wait.getChannel().getType().getDepth() < 2 || getChannelOf(wait).getSync() != Sync::Mbarrier || wait.getPredicate() || !index || !phase ||
      index.getOwner() != loop.getBody() || phase.getOwner() != loop.getBody() || index == loop.getInductionVar())
    return std::nullopt;
  if (!llvm::all_of(wait->getUsers(), [&](Operation *user) {
        return isa<MmaAsyncOp>(user) && user->getBlock() == loop.getBody() && user->isBeforeInBlock(mmaWait);
      }))
    return std::nullopt;
  Rotation rotation{wait, {}, index.getArgNumber() - 1, phase.getArgNumber() - 1};
  rotation.advance = loop.getYieldedValues()[rotation.index].getDefiningOp<AdvanceOp>();
  if (!rotation.advance || rotation.advance->getBlock() != loop.getBody() || rotation.advance.getPredicate() ||
      rotation.advance.getIndex() != index || rotation.advance.getPhase() != phase ||
      loop.getYieldedValues()[rotation.index] != rotation.advance.getNextIndex() ||
      loop.getYieldedValues()[rotation.phase] != rotation.advance.getNextPhase())
    return std::nullopt;
  return rotation;
}

bool LoopRotation::decide() {
  auto waits = loop.getBody()->getOps<MmaWaitOp>();
  if (waits.empty())
    return false;
  mmaWait = *waits.begin();
  for (auto wait : loop.getBody()->getOps<ConsumerWaitOp>())
    if (wait->isBeforeInBlock(mmaWait))
      if (std::optional<Rotation> rotation = getRotation(wait))
        rotations.push_back(*rotation);
  return !rotations.empty();
}

ConsumerWaitOp LoopRotation::waitFor(OpBuilder &builder, ConsumerWaitOp wait, Value index, Value phase,
                                     Value condition) {
  return ConsumerWaitOp::create(builder, wait.getLoc(), wait->getResultTypes(), wait.getChannel(), index, phase,
                                condition, wait.getPendingAttr());
}

void LoopRotation::rewrite() {
  Location loc = loop.getLoc();
  OpBuilder builder(loop);
  // Before the loop: the first slot, if there is a first trip.
  Value any =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  SmallVector<Value> inits(loop.getInits());
  for (Rotation &rotation : rotations)
    llvm::append_range(inits, waitFor(builder, rotation.wait, loop.getInits()[rotation.index],
                                      loop.getInits()[rotation.phase], any)
                                  .getBuffers());
  auto result = scf::ForOp::create(builder, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  result->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *body = result.getBody();
  if (!body->empty())
    body->clear();
  unsigned carried = loop.getNumRegionIterArgs();
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  for (auto [old, argument] : llvm::zip(loop.getBody()->getArguments(), body->getArguments()))
    old.replaceAllUsesWith(argument);

  // In the loop: the slot of the next trip, if there is one, while the matmul of this one runs.
  builder.setInsertionPoint(mmaWait);
  Value next = arith::AddIOp::create(builder, loc, result.getInductionVar(), result.getStep());
  Value more = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, next, result.getUpperBound());
  unsigned place = carried;
  SmallVector<Value> yielded;
  for (Rotation &rotation : rotations) {
    if (mmaWait->isBeforeInBlock(rotation.advance))
      rotation.advance->moveBefore(mmaWait);
    builder.setInsertionPoint(mmaWait);
    ConsumerWaitOp wait = waitFor(builder, rotation.wait, rotation.advance.getNextIndex(),
                                  rotation.advance.getNextPhase(), more);
    llvm::append_range(yielded, wait.getBuffers());
    for (Value buffer : rotation.wait.getBuffers())
      buffer.replaceAllUsesWith(result.getRegionIterArg(place++));
    rotation.wait.erase();
  }
  Operation *end = body->getTerminator();
  end->insertOperands(end->getNumOperands(), yielded);
  for (auto [old, value] : llvm::zip(loop.getResults(), result.getResults()))
    old.replaceAllUsesWith(value);
  loop.erase();
}
