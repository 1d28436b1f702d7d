// Verification of schedules: each rule is asked of each op. Knows nothing of how a schedule is found.
#include "VerifySchedule.h"
#include "RoleShares.h"
#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "headrace/Dialect/Tile/Transforms/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

namespace {
class ScheduleCheck {
public:
  explicit ScheduleCheck(scf::ForOp loop) : loop(loop) {}
  LogicalResult run();

private:
  struct Made {
    Operation *by;    ///< null: outside of the loop
    int64_t tripsAgo; ///< 0: in the same trip
  };

  int64_t stage(Operation *op) const { return op->getAttrOfType<IntegerAttr>(kStageAttr).getInt(); }
  int64_t place(Operation *op) const { return op->getAttrOfType<IntegerAttr>(kOrderAttr).getInt(); }
  Operation *inBody(Operation *op) const { return loop.getBody()->findAncestorOpInBlock(*op); }
  Made findMaker(Value value) const;
  bool comesBefore(Operation *first, Operation *second, int64_t tripsAgo) const;
  std::string describe(Operation *op) const;
  template <typename Step> Step findStep(Value channel) const;

  LogicalResult checkPlaces();
  LogicalResult checkValues(Operation *op);
  LogicalResult checkSlot(Operation *begin, Operation *end, ValueRange buffers, StringRef ending);
  LogicalResult checkRing(CreateChannelOp channel);
  LogicalResult checkFlight(MmaAsyncOp mma);
  LogicalResult checkEffects();
  LogicalResult checkRegisters();

  mutable scf::ForOp loop; ///< getters of ops are not const
};
} // namespace

//===- questions ----------------------------------------------------------------------------------------------------===//

ScheduleCheck::Made ScheduleCheck::findMaker(Value value) const {
  int64_t tripsAgo = 0;
  SmallPtrSet<Value, 4> seen;
  for (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == loop.getBody();
       argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getArgNumber() == 0 || !seen.insert(value).second)
      return {nullptr, 0};
    value = loop.getBody()->getTerminator()->getOperand(argument.getArgNumber() - 1);
    ++tripsAgo;
  }
  Operation *maker = value.getDefiningOp();
  return {maker ? inBody(maker) : nullptr, tripsAgo};
}

/// Whether what `first` did `tripsAgo` trips before comes before what `second` does.
bool ScheduleCheck::comesBefore(Operation *first, Operation *second, int64_t tripsAgo) const {
  int64_t early = stage(first) - tripsAgo, late = stage(second);
  return early < late || (early == late && place(first) < place(second));
}

std::string ScheduleCheck::describe(Operation *op) const {
  return "stage " + std::to_string(stage(op)) + ", place " + std::to_string(place(op));
}

/// The channel's step of this kind in the body; null if there is none.
template <typename Step> Step ScheduleCheck::findStep(Value channel) const {
  for (auto step : loop.getBody()->getOps<Step>())
    if (step.getChannel() == channel)
      return step;
  return {};
}

static std::string inTrip(int64_t tripsAgo) {
  if (tripsAgo == 0)
    return "of the same trip";
  return tripsAgo == 1 ? "of the trip before" : "of " + std::to_string(tripsAgo) + " trips before";
}

//===- rules --------------------------------------------------------------------------------------------------------===//

LogicalResult ScheduleCheck::checkPlaces() {
  DenseMap<int64_t, Operation *> byPlace;
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto [other, isNew] = byPlace.try_emplace(place(&op), &op);
    if (isNew)
      continue;
    InFlightDiagnostic error = op.emitError("expected a place of its own, got ") << place(&op);
    error.attachNote(other->second->getLoc()) << "which is the place of this op";
    return error;
  }
  return success();
}

LogicalResult ScheduleCheck::checkValues(Operation *op) {
  LogicalResult result = success();
  op->walk([&](Operation *user) {
    for (Value value : user->getOperands()) {
      Made made = findMaker(value);
      if (failed(result) || !made.by || made.by == op || comesBefore(made.by, op, made.tripsAgo))
        continue;
      InFlightDiagnostic error = op->emitError("is scheduled before a value that it uses: ")
                                 << describe(op) << " needs " << describe(made.by) << " " << inTrip(made.tripsAgo);
      error.attachNote(made.by->getLoc()) << "made here";
      result = error;
    }
  });
  return result;
}

/// C3: users of a slot's tiles are between the steps that give and take it, for the same trip.
LogicalResult ScheduleCheck::checkSlot(Operation *begin, Operation *end, ValueRange buffers, StringRef ending) {
  StringRef name = getChannelOf(begin).getName();
  auto complain = [&](Operation *op, Operation *against) -> LogicalResult {
    InFlightDiagnostic error = op->emitError("uses a slot of channel '")
                               << name << "' outside of its " << begin->getName().stripDialect() << " and " << ending
                               << ": " << describe(op) << " against " << describe(against);
    error.attachNote(against->getLoc()) << "this step";
    return error;
  };
  if (!end)
    return begin->emitError("channel '") << name << "': expected its " << ending << " in the same loop";
  if (stage(begin) != stage(end) || place(begin) > place(end))
    return complain(end, begin);
  SmallVector<Value> worklist(buffers);
  while (!worklist.empty())
    for (Operation *nested : worklist.pop_back_val().getUsers()) {
      Operation *user = inBody(nested);
      if (!user)
        return begin->emitError("channel '") << name << "': expected its slot to be used in the same loop";
      if (stage(user) != stage(begin) || place(user) < place(begin))
        return complain(user, begin);
      if (place(user) > place(end))
        return complain(user, end);
      if (isa<ViewOp>(nested))
        llvm::append_range(worklist, nested->getResults());
      auto mma = dyn_cast<MmaAsyncOp>(nested);
      if (!mma)
        continue;
      // It reads until it is waited for.
      for (Operation *wait : mma.getResult().getUsers())
        if (isa<MmaWaitOp>(wait) && wait->getBlock() == loop.getBody() && place(wait) > place(end))
          return complain(wait, end);
    }
  return success();
}

/// C4: with the slots in a row, trip t is filled before trip t is read, and trip t + depth is filled after that.
LogicalResult ScheduleCheck::checkRing(CreateChannelOp channel) {
  Value ring = channel.getChannel();
  auto acquire = findStep<ProducerAcquireOp>(ring);
  auto commit = findStep<ProducerCommitOp>(ring);
  auto wait = findStep<ConsumerWaitOp>(ring);
  auto release = findStep<ConsumerReleaseOp>(ring);
  if (!acquire || !commit || !wait || !release)
    return success(); // the other side is somewhere else
  int64_t depth = channel.getChannel().getType().getDepth();
  if (!comesBefore(commit, wait, 0)) {
    InFlightDiagnostic error = wait.emitError("waits for a slot of channel '")
                               << channel.getName() << "' before it is filled: " << describe(wait) << " against "
                               << describe(commit);
    error.attachNote(commit.getLoc()) << "filled here";
    return error;
  }
  if (!comesBefore(release, acquire, depth)) {
    InFlightDiagnostic error = acquire.emitError("fills a slot of channel '")
                               << channel.getName() << "' that is not released: " << describe(acquire) << " against "
                               << describe(release) << " of " << depth << (depth == 1 ? " trip" : " trips")
                               << " before, the slots that there are";
    error.attachNote(release.getLoc()) << "released here";
    return error;
  }
  return success();
}

LogicalResult ScheduleCheck::checkFlight(MmaAsyncOp mma) {
  for (Operation *nested : mma.getResult().getUsers()) {
    Operation *user = inBody(nested);
    if (user && !isa<scf::YieldOp>(user) && stage(user) == stage(mma))
      continue;
    InFlightDiagnostic error = mma.emitError("expected the accumulator in flight to be waited for in ")
                               << "stage " << stage(mma) << ", where it starts";
    error.attachNote(nested->getLoc()) << "used here";
    return error;
  }
  return success();
}

/// Ops whose effects other rules know, or that have none that matter.
static bool isOrderedElsewhere(Operation *op) {
  // A product of its own, as opposed to one that adds to what earlier trips left.
  if (auto mma = dyn_cast<MmaTmemOp>(op))
    return mma.getAcc().getParentRegion() == op->getParentRegion();
  return isa<ProducerAcquireOp, ProducerCommitOp, ConsumerWaitOp, ConsumerReleaseOp, CopyOp, ReadOp, WriteOp, MmaOp,
             MmaAsyncOp, MmaWaitOp>(op) ||
         isMemoryEffectFree(op) || (isGlobalRead(op) && !isWritten(op->getOperand(0)));
}

/// C6: neighbours in the program stay neighbours, from the last to the first of the next trip too.
LogicalResult ScheduleCheck::checkEffects() {
  SmallVector<Operation *> ops;
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isOrderedElsewhere(&op))
      ops.push_back(&op);
  for (size_t i = 0; i < ops.size() && ops.size() > 1; ++i) {
    bool wraps = i + 1 == ops.size();
    Operation *op = ops[i], *next = ops[wraps ? 0 : i + 1];
    if (comesBefore(op, next, wraps ? 1 : 0))
      continue;
    InFlightDiagnostic error = next->emitError("is scheduled before an op with effects that it follows: ")
                               << describe(next) << " against " << describe(op) << " " << inTrip(wraps ? 1 : 0);
    error.attachNote(op->getLoc()) << "this op";
    return error;
  }
  return success();
}

/// C7: each tile that a later trip of the new loop uses is kept once for every trip between. Copies of one value spread
/// over a tile are no more than that value.
LogicalResult ScheduleCheck::checkRegisters() {
  auto kernel = loop->getParentOfType<func::FuncOp>();
  if (!kernel || !loop->getParentOfType<ModuleOp>()->hasAttr(tile::kTargetAttr))
    return success();
  FailureOr<TargetInfo> target = tile::getTarget(loop->getParentOfType<ModuleOp>());
  if (failed(target))
    return failure();
  int64_t kept = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isa<tile::BroadcastOp, tile::ExpandDimsOp>(op))
      continue;
    for (Value value : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      auto layout = type ? dyn_cast_or_null<tile::LayoutAttr>(type.getEncoding()) : tile::LayoutAttr();
      if (!layout)
        continue;
      int64_t trips = 0;
      for (Operation &user : loop.getBody()->without_terminator())
        user.walk([&](Operation *nested) {
          for (Value operand : nested->getOperands())
            if (Made made = findMaker(operand); made.by == &op)
              trips = std::max(trips, stage(&user) + made.tripsAgo - stage(&op));
        });
      int64_t words = layout.getTileLayout().numRegisters() * std::max<int64_t>(type.getElementTypeBitWidth(), 1);
      kept += trips * llvm::divideCeil(words, 32);
    }
  }
  int64_t budget = getRoleShares(kernel, *target).computeBudget;
  if (kept <= budget)
    return success();
  return loop.emitError("expected a schedule whose trips hand on no more than ")
         << budget << " registers of a thread, got " << kept;
}

LogicalResult ScheduleCheck::run() {
  if (failed(checkPlaces()))
    return failure();
  llvm::SmallSetVector<Operation *, 8> channels;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (failed(checkValues(&op)))
      return failure();
    if (CreateChannelOp channel = getChannelOf(&op))
      channels.insert(channel);
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(&op)
            .Case([&](ProducerAcquireOp acquire) {
              return checkSlot(acquire, findStep<ProducerCommitOp>(acquire.getChannel()), acquire.getBuffers(),
                               "commit");
            })
            .Case([&](ConsumerWaitOp wait) {
              return checkSlot(wait, findStep<ConsumerReleaseOp>(wait.getChannel()), wait.getBuffers(), "release");
            })
            .Case([&](MmaAsyncOp mma) { return checkFlight(mma); })
            .Default(success());
    if (failed(result))
      return failure();
  }
  for (Operation *channel : channels)
    if (failed(checkRing(cast<CreateChannelOp>(channel))))
      return failure();
  return failed(checkEffects()) ? failure() : checkRegisters();
}

LogicalResult headrace::pipe::verifySchedule(scf::ForOp loop) { return ScheduleCheck(loop).run(); }
