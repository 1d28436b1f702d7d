// The choice of stages: every combination of cuts is tried, the fastest that fits is written down, and what was chosen or
// refused is left for the report.
#include "RoleShares.h"
#include "StageSearch.h"
#include "VerifySchedule.h"
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "headrace/Dialect/Tile/Transforms/Target.h"

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPESCHEDULESTAGES
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

/// Cuts beyond these are not made: the choices double with each.
static constexpr unsigned kMostCuts = 8;
/// A gain below this share is less than the model can tell.
static constexpr double kLeastGain = 0.05;

/// Stages that a user may ask for.
static constexpr int64_t kLatestStage = 8;

static LogicalResult checkWishes(func::FuncOp kernel);

namespace {
/// The decision about one loop.
class StageDecision {
public:
  StageDecision(scf::ForOp loop, const TargetInfo &target, bool specialized)
      : loop(loop), specialized(specialized), model(getUnitModel(target)), graph(loop, specialized, model),
        budget(getRoleShares(loop->getParentOfType<func::FuncOp>(), target).computeBudget) {}

  /// Fails if the user's wishes cannot be met.
  LogicalResult decide();
  /// Writes what was decided on the ops.
  void write();
  DictionaryAttr report();

private:
  void search();
  LogicalResult obey();
  LogicalResult refuseWish();
  bool hasWishes() const {
    return llvm::any_of(graph.nodes, [](const LoopNode &node) { return node.fixed >= 0; });
  }

  scf::ForOp loop;
  bool specialized;
  const UnitModel &model;
  LoopGraph graph;
  int64_t budget;
  LoopSchedule asWritten;
  LoopBounds bounds;
  std::optional<LoopSchedule> chosen, tooLarge; ///< the best that fits, and the best if it does not
  std::string why;
};

struct PipeScheduleStagesPass : public headrace::pipe::impl::PipeScheduleStagesBase<PipeScheduleStagesPass> {
  void runOnOperation() override {
    FailureOr<TargetInfo> target = tile::getTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr) && failed(schedule(kernel, *target)))
        return signalPassFailure();
  }

  LogicalResult schedule(func::FuncOp kernel, const TargetInfo &target) {
    if (failed(checkWishes(kernel)))
      return failure();
    SmallVector<scf::ForOp> loops;
    kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (loop->hasAttr(kPipelineAttr))
        loops.push_back(loop);
    });
    SmallVector<Attribute> decisions;
    for (scf::ForOp loop : loops) {
      StageDecision decision(loop, target, kernel->hasAttr("pipe.specialize"));
      if (failed(decision.decide()))
        return failure();
      decision.write();
      decisions.push_back(decision.report());
      if (loop.getBody()->front().hasAttr(kOrderAttr) && failed(verifySchedule(loop)))
        return failure();
    }
    if (!decisions.empty())
      kernel->setAttr(kSchedulesAttr, ArrayAttr::get(kernel.getContext(), decisions));
    return success();
  }
};
} // namespace

/// A wish that nobody would hear is an error.
static LogicalResult checkWishes(func::FuncOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) -> WalkResult {
    Attribute wish = op->getAttr(kFixedStageAttr);
    if (!wish)
      return success();
    auto stage = dyn_cast<IntegerAttr>(wish);
    if (!stage || !stage.getType().isInteger(64) || stage.getInt() < 0 || stage.getInt() > kLatestStage)
      return op->emitError("expected ") << kFixedStageAttr << " to be 0 to " << kLatestStage << ", got " << wish;
    if (!op->getParentOp()->hasAttr(kPipelineAttr))
      return op->emitError("expected ") << kFixedStageAttr << " on an op of the body of a pipelined loop";
    return success();
  });
  return failure(result.wasInterrupted());
}

//===- the decision -------------------------------------------------------------------------------------------------===//

/// Calls `visit` with every subset of the cuts, smaller numbers first.
static void forEachSubset(unsigned count, llvm::function_ref<void(ArrayRef<int>)> visit) {
  for (unsigned mask = 0; mask < (1u << count); ++mask) {
    SmallVector<int> cuts;
    for (unsigned i = 0; i < count; ++i)
      if (mask >> i & 1)
        cuts.push_back(i);
    visit(cuts);
  }
}

/// The fastest schedule wins, then the one with fewer registers, then with fewer cuts.
static bool isBetter(const LoopSchedule &schedule, const std::optional<LoopSchedule> &than) {
  if (!than)
    return true;
  auto rank = [](const LoopSchedule &one) {
    return std::make_tuple(std::llround(one.ii), one.registers, one.cuts.size());
  };
  return rank(schedule) < rank(*than);
}

void StageDecision::search() {
  unsigned count = std::min<unsigned>(graph.cuts.size(), kMostCuts);
  forEachSubset(count, [&](ArrayRef<int> cuts) {
    std::optional<LoopSchedule> schedule = makeSchedule(graph, cuts, model);
    if (!schedule || (schedule->last == 0 && !hasWishes()))
      return;
    bool fits = schedule->registers <= budget;
    std::optional<LoopSchedule> &best = fits ? chosen : tooLarge;
    if (isBetter(*schedule, best))
      best = schedule;
  });
  if (tooLarge && chosen && !isBetter(*tooLarge, chosen))
    tooLarge.reset();
}

/// A wish that no schedule can fulfil is an error; of those that do, the best is taken, whether it is worth it or not.
LogicalResult StageDecision::obey() {
  search();
  if (chosen)
    return success();
  if (!tooLarge)
    return refuseWish();
  return loop.emitError("the stages that ") << kFixedStageAttr << " asks for take " << tooLarge->registers
                                            << " registers of a thread, its role has " << budget;
}

LogicalResult StageDecision::refuseWish() {
  for (const LoopNode &wish : graph.nodes) {
    if (wish.fixed < 0)
      continue;
    InFlightDiagnostic error = wish.op->emitError("no schedule of this loop has this op in stage ")
                               << wish.fixed << ", which " << kFixedStageAttr << " asks for";
    for (const LoopEdge &edge : graph.edges)
      if (&graph.nodes[edge.to] == &wish && graph.nodes[edge.from].fixed > wish.fixed + edge.distance)
        error.attachNote(graph.nodes[edge.from].op->getLoc())
            << "it needs a value of this op, which has stage " << graph.nodes[edge.from].fixed;
    return error;
  }
  return failure();
}

LogicalResult StageDecision::decide() {
  if (!graph.refusal.empty()) {
    why = graph.refusal;
    for (Operation &op : *loop.getBody())
      if (op.hasAttr(kFixedStageAttr)) {
        InFlightDiagnostic error = op.emitError("this loop keeps one stage, but ")
                                   << kFixedStageAttr << " asks for more: " << why;
        error.attachNote(graph.culprit->getLoc()) << "this op";
        return error;
      }
    return success();
  }
  bounds = findBounds(graph);
  asWritten = keepOneStage(graph, model);
  if (hasWishes())
    return obey();
  bool starts = llvm::any_of(graph.nodes, [](const LoopNode &node) { return node.starts; });
  if (!starts) {
    why = "it starts no asynchronous matmul";
  } else if (graph.cuts.empty()) {
    why = "nothing in a trip waits for its matmuls but the next trip";
  } else if (graph.meetsOthers && llvm::any_of(graph.nodes, [](auto &node) { return isa<MmaAsyncOp>(node.op); })) {
    // Measured with linear attention: C7514, wgmma serialized. With a trap in the loop of attention: C7512, and spills.
    why = "it stores, asserts or has barriers: ptxas takes wgmma one by one if it is in flight around them";
  } else if (!specialized) {
    why = "copies are done by the role that computes: the first and last copies of a loop with more stages would be "
          "waited for";
  } else {
    search();
    double least = asWritten.ii * (1 - kLeastGain);
    if (tooLarge && tooLarge->ii > least)
      tooLarge.reset();
    if (chosen && chosen->ii > least)
      chosen.reset();
    if (!chosen)
      why = tooLarge ? "what is faster does not fit into registers" : "more stages are not faster";
  }
  return success();
}

//===- what is left behind ------------------------------------------------------------------------------------------===//

void StageDecision::write() {
  for (Operation &op : *loop.getBody())
    op.removeAttr(kFixedStageAttr);
  if (!chosen || chosen->last == 0)
    return;
  Builder builder(loop.getContext());
  for (auto [place, number] : llvm::enumerate(chosen->order)) {
    Operation *op = graph.nodes[number].op;
    op->setAttr(kStageAttr, builder.getI64IntegerAttr(chosen->stages[number]));
    op->setAttr(kOrderAttr, builder.getI64IntegerAttr(place));
  }
}

DictionaryAttr StageDecision::report() {
  Builder builder(loop.getContext());
  SmallVector<NamedAttribute> entries;
  auto number = [&](StringRef name, double value) {
    entries.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(std::llround(value))));
  };
  auto text = [&](StringRef name, StringRef value) {
    entries.push_back(builder.getNamedAttr(name, builder.getStringAttr(value)));
  };
  number("stages", chosen ? chosen->last + 1 : 1);
  if (graph.refusal.empty()) {
    const LoopSchedule &taken = chosen ? *chosen : asWritten;
    number("ii", taken.ii);
    number("ii_one_stage", asWritten.ii);
    number("bound", bounds.least());
    text("binds", bounds.recurrence > bounds.resource ? "recurrence" : unitName(bounds.unit));
    number("registers", taken.registers);
    number("register_budget", budget);
  }
  if (chosen) {
    SmallVector<Attribute> cuts;
    for (int cut : chosen->cuts)
      cuts.push_back(builder.getStringAttr(graph.cuts[cut]));
    entries.push_back(builder.getNamedAttr("next_trip", builder.getArrayAttr(cuts)));
  }
  if (tooLarge) {
    number("not_fitting_ii", tooLarge->ii);
    number("not_fitting_registers", tooLarge->registers);
  }
  if (!why.empty())
    text("why_one_stage", why);
  return builder.getDictionaryAttr(entries);
}
