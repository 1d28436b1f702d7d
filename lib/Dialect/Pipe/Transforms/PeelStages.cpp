// Expansion of loops whose ops have stages. In trip K of the new loop an op of stage s works for trip K - s of the old one.
// The first and the last trips are peeled, so that nothing in the loop is predicated: a matmul must not be.
#include "VerifySchedule.h"
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPEPEELSTAGES
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

static int64_t getNumber(Operation *op, StringRef name) { return op->getAttrOfType<IntegerAttr>(name).getInt(); }

static void dropSchedule(Operation *op) {
  op->removeAttr(kStageAttr);
  op->removeAttr(kOrderAttr);
}

namespace {
/// A value of the old loop as it was `age` trips before the trip that the new loop is in.
using Instance = std::pair<Value, int64_t>;

/// The expansion of one loop:
///
///   if (trips >= last) { first trips; for (trips - last) { all stages }; last trips } else { the old loop }
class Peeling {
public:
  explicit Peeling(scf::ForOp loop);
  void run();

private:
  // What the new loop carries from trip to trip.
  void collectCarried();
  void demand(Value value, int64_t age);
  /// The instance that a carried one is in the next trip.
  Instance getNext(Instance instance);

  // Values: of the first trips by number of trip, then by age.
  Value getFirst(Value value, int64_t trip);
  Value getOffset(Value from, int64_t trips);
  Value lookUp(Value value, int64_t age);

  void peelFirst();
  scf::ForOp makeLoop();
  void peelLast(scf::ForOp made);
  void keepResults(int64_t afterStage);
  /// Clones an op; `find` gives the value that stands for one of the loop.
  Operation *clone(Operation *op, llvm::function_ref<Value(Value)> find);

  Operation *producer(Value value) const { return value.getDefiningOp(); }
  bool isInside(Value value) const { return loop.getRegion().isAncestor(value.getParentRegion()); }
  bool isCarriedArgument(Value value) const;
  Value getYielded(Value argument);
  int64_t stageOf(Value value) const { return stages.lookup(producer(value)); }

  mutable scf::ForOp loop; ///< getters of ops are not const
  OpBuilder builder;
  Location loc;
  SmallVector<Operation *> order;
  DenseMap<Operation *, int64_t> stages;
  int64_t last = 0;
  llvm::SetVector<Instance> carried;
  DenseMap<Instance, Value> first;   ///< by trip
  DenseMap<Instance, Value> current; ///< by age
  Value base;                        ///< the induction variable's value `last` trips before the present one
  SmallVector<Value> results;
};

struct PipePeelStagesPass : public headrace::pipe::impl::PipePeelStagesBase<PipePeelStagesPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(kKernelAttr))
        continue;
      WalkResult checked = kernel.walk(
          [](scf::ForOp loop) -> WalkResult { return isScheduled(loop) ? verifySchedule(loop) : success(); });
      if (checked.wasInterrupted())
        return signalPassFailure();
      // Outer loops first: an inner one is a single op to them, and moves with its own schedule.
      while (scf::ForOp loop = getScheduledLoop(kernel))
        Peeling(loop).run();
      setPending(kernel);
    }
  }

  static bool isScheduled(scf::ForOp loop) {
    auto body = loop.getBody()->without_terminator();
    return !body.empty() &&
           llvm::all_of(body, [](Operation &op) { return op.hasAttr(kStageAttr) && op.hasAttr(kOrderAttr); });
  }

  /// The first loop with a schedule, outer ones before inner ones; null if there is none.
  static scf::ForOp getScheduledLoop(func::FuncOp kernel) {
    scf::ForOp found;
    kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (!isScheduled(loop))
        return WalkResult::advance();
      found = loop;
      return WalkResult::interrupt();
    });
    return found;
  }

  /// Matmuls end in the order in which they start: a wait may leave in flight those that started after its own, as far as
  /// waits before it have left any.
  static void setPending(func::FuncOp kernel) {
    kernel.walk([](Block *block) {
      SmallVector<Operation *> inFlight; // oldest first
      for (Operation &op : *block) {
        if (isa<MmaAsyncOp>(op))
          inFlight.push_back(&op);
        auto wait = dyn_cast<MmaWaitOp>(op);
        if (!wait)
          continue;
        Operation *mma = wait.getInflight().getDefiningOp();
        if (!mma || mma->getBlock() != block) { // a wait by hand: take it that all are over
          inFlight.clear();
          continue;
        }
        if (auto *own = llvm::find(inFlight, mma); own != inFlight.end())
          inFlight.erase(inFlight.begin(), std::next(own));
        wait.setPending(inFlight.size());
      }
    });
  }
};
} // namespace

Peeling::Peeling(scf::ForOp loop) : loop(loop), builder(loop), loc(loop.getLoc()) {
  for (Operation &op : loop.getBody()->without_terminator()) {
    order.push_back(&op);
    stages[&op] = getNumber(&op, kStageAttr);
    last = std::max(last, stages[&op]);
  }
  llvm::sort(order,
             [](Operation *lhs, Operation *rhs) { return getNumber(lhs, kOrderAttr) < getNumber(rhs, kOrderAttr); });
}

bool Peeling::isCarriedArgument(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == loop.getBody() && argument.getArgNumber() > 0;
}

Value Peeling::getYielded(Value argument) { return loop.getTiedLoopYieldedValue(cast<BlockArgument>(argument))->get(); }

//===- what is carried ----------------------------------------------------------------------------------------------===//

Instance Peeling::getNext(Instance instance) {
  auto [value, age] = instance;
  return isCarriedArgument(value) ? Instance(getYielded(value), age) : Instance(value, age - 1);
}

void Peeling::demand(Value value, int64_t age) {
  if (!isInside(value) || value == loop.getInductionVar())
    return;
  if (isCarriedArgument(value)) {
    Value yielded = getYielded(value);
    // The trip before, as far as the new loop has just made it.
    if (isInside(yielded) && producer(yielded) && stageOf(yielded) == age + 1)
      return;
  } else if (stageOf(value) == age) {
    return; // made in this very trip
  }
  if (!carried.insert({value, age}))
    return;
  auto [next, nextAge] = getNext({value, age});
  demand(next, nextAge);
}

void Peeling::collectCarried() {
  for (Operation *op : order) {
    auto need = [&](OpOperand *operand) {
      if (Operation *definer = operand->get().getDefiningOp(); !definer || !op->isProperAncestor(definer))
        demand(operand->get(), stages[op]);
    };
    for (OpOperand &operand : op->getOpOperands())
      need(&operand);
    for (Region &region : op->getRegions())
      visitUsedValuesDefinedAbove(region, need);
  }
  for (auto [argument, result] : llvm::zip(loop.getRegionIterArgs(), loop.getResults())) {
    if (result.use_empty())
      continue;
    Value yielded = getYielded(argument);
    bool made = isInside(yielded) && producer(yielded);
    if (int64_t age = made ? stageOf(yielded) : last; carried.insert({argument, age}))
      demand(yielded, age);
  }
}

//===- values -------------------------------------------------------------------------------------------------------===//

Value Peeling::getOffset(Value from, int64_t trips) {
  if (trips == 0)
    return from;
  Value distance = loop.getStep();
  if (int64_t count = std::abs(trips); count > 1) {
    auto factor = builder.getIntegerAttr(distance.getType(), count);
    distance = arith::MulIOp::create(builder, loc, distance, arith::ConstantOp::create(builder, loc, factor));
  }
  if (trips > 0)
    return arith::AddIOp::create(builder, loc, from, distance);
  return arith::SubIOp::create(builder, loc, from, distance);
}

Value Peeling::getFirst(Value value, int64_t trip) {
  if (!isInside(value))
    return value;
  if (value == loop.getInductionVar())
    return getOffset(loop.getLowerBound(), trip);
  if (!isCarriedArgument(value))
    return first.lookup({value, trip});
  if (trip == 0)
    return loop.getTiedLoopInit(cast<BlockArgument>(value))->get();
  return getFirst(getYielded(value), trip - 1);
}

Value Peeling::lookUp(Value value, int64_t age) {
  if (!isInside(value))
    return value;
  if (value == loop.getInductionVar())
    return getOffset(base, last - age);
  if (Value known = current.lookup({value, age}))
    return known;
  return isCarriedArgument(value) && age < last ? lookUp(getYielded(value), age + 1) : Value();
}

//===- the parts ----------------------------------------------------------------------------------------------------===//

Operation *Peeling::clone(Operation *op, llvm::function_ref<Value(Value)> find) {
  IRMapping mapping;
  auto map = [&](OpOperand *operand) {
    Value value = operand->get();
    if (isInside(value) && !mapping.contains(value))
      mapping.map(value, find(value));
  };
  for (OpOperand &operand : op->getOpOperands())
    map(&operand);
  for (Region &region : op->getRegions())
    visitUsedValuesDefinedAbove(region, map);
  Operation *copy = builder.clone(*op, mapping);
  dropSchedule(copy);
  return copy;
}

/// The trips of the new loop before it is full: those of trips that do not exist yet are left out.
void Peeling::peelFirst() {
  for (int64_t now = 0; now < last; ++now)
    for (Operation *op : order) {
      int64_t trip = now - stages[op];
      if (trip < 0)
        continue;
      Operation *copy = clone(op, [&](Value value) { return getFirst(value, trip); });
      for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
        first[{from, trip}] = to;
    }
}

scf::ForOp Peeling::makeLoop() {
  SmallVector<Value> inits;
  for (auto [value, age] : carried)
    inits.push_back(getFirst(value, last - age));
  Value end = getOffset(loop.getUpperBound(), -last);
  auto leaveEmpty = [](OpBuilder &, Location, Value, ValueRange) {};
  auto made = scf::ForOp::create(builder, loc, loop.getLowerBound(), end, loop.getStep(), inits, leaveEmpty,
                                 loop.getUnsignedCmp());
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(made.getBody());
  for (auto [instance, argument] : llvm::zip(carried, made.getRegionIterArgs()))
    current[instance] = argument;
  base = made.getInductionVar();
  for (Operation *op : order) {
    Operation *copy = clone(op, [&](Value value) { return lookUp(value, stages[op]); });
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
      current[{from, stages[op]}] = to;
  }
  SmallVector<Value> yielded;
  for (Instance instance : carried) {
    auto [value, age] = getNext(instance);
    yielded.push_back(lookUp(value, age));
  }
  scf::YieldOp::create(builder, loc, yielded);
  return made;
}

/// Results of the old loop that are known once its last trip has gone through `afterStage`.
void Peeling::keepResults(int64_t afterStage) {
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    Value yielded = getYielded(argument);
    int64_t age = isInside(yielded) && producer(yielded) ? stageOf(yielded) : last;
    if (age == afterStage && !loop.getResult(i).use_empty())
      results[i] = current.lookup({argument, age});
  }
}

/// The trips in which the new loop runs empty.
void Peeling::peelLast(scf::ForOp made) {
  current.clear();
  for (auto [instance, result] : llvm::zip(carried, made.getResults()))
    current[instance] = result;
  keepResults(0);
  bool usesPlace = !loop.getInductionVar().use_empty();
  if (usesPlace) {
    Value span = arith::SubIOp::create(builder, loc, made.getUpperBound(), made.getLowerBound());
    Value trips = loop.getUnsignedCmp() ? Value(arith::CeilDivUIOp::create(builder, loc, span, made.getStep()))
                                        : Value(arith::CeilDivSIOp::create(builder, loc, span, made.getStep()));
    Value distance = arith::MulIOp::create(builder, loc, trips, made.getStep());
    base = arith::AddIOp::create(builder, loc, made.getLowerBound(), distance);
  }
  for (int64_t stage = 1; stage <= last; ++stage) {
    for (Operation *op : order) {
      if (stages[op] < stage)
        continue;
      Operation *copy = clone(op, [&](Value value) { return lookUp(value, stages[op]); });
      for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
        current[{from, stages[op]}] = to;
    }
    DenseMap<Instance, Value> next;
    for (Instance instance : carried) {
      auto [value, age] = getNext(instance);
      if (Value known = lookUp(value, age))
        next[instance] = known;
    }
    current = std::move(next);
    if (usesPlace)
      base = getOffset(base, 1);
    keepResults(stage);
  }
}

/// Peeled trips run once: their matmuls are waited for where they start. A constant that many registers start from may be
/// spread over them only now, and ptxas takes matmuls one by one if it finds such copies while another is in flight (C7514).
static void waitAtOnce(Block *block) {
  for (auto wait : llvm::make_early_inc_range(block->getOps<MmaWaitOp>()))
    if (Operation *mma = wait.getInflight().getDefiningOp(); mma && mma->getBlock() == block)
      wait->moveAfter(mma);
}

void Peeling::run() {
  if (last == 0) {
    for (Operation *op : order) {
      op->moveBefore(loop.getBody()->getTerminator());
      dropSchedule(op);
    }
    return;
  }
  collectCarried();
  Value lastFirst = getOffset(loop.getLowerBound(), last - 1);
  auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value enough = arith::CmpIOp::create(builder, loc, below, lastFirst, loop.getUpperBound());
  auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), enough, /*withElseRegion=*/true);
  results.assign(loop.getNumResults(), Value());

  builder.setInsertionPointToStart(branch.thenBlock());
  peelFirst();
  peelLast(makeLoop());
  waitAtOnce(branch.thenBlock());
  for (auto [result, init] : llvm::zip(results, loop.getInits()))
    result = result ? result : init; // nobody asks
  if (!results.empty())
    scf::YieldOp::create(builder, loc, results);

  builder.setInsertionPointToStart(branch.elseBlock());
  if (last == 1) {
    if (!results.empty())
      scf::YieldOp::create(builder, loc, loop.getInits());
    loop.replaceAllUsesWith(branch.getResults());
    loop.erase();
    return;
  }
  loop.replaceAllUsesWith(branch.getResults());
  if (!results.empty())
    scf::YieldOp::create(builder, loc, loop.getResults());
  loop->moveBefore(branch.elseBlock(), branch.elseBlock()->begin());
  for (Operation &op : *loop.getBody())
    dropSchedule(&op);
}
