// Decomposed modulo scheduling (stages first, then a list schedule of what is left without cycles), after Wang, Eisenbeis,
// Jourdan and Su. A loop of tiles has a few matmuls to move and warps that do everything else in the order of the program,
// so every choice of stages can be tried and its result played, which a reservation table would only approximate.
#include "StageSearch.h"
#include "StagePrediction.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

namespace {
/// Builds one schedule, step by step.
class Construction {
public:
  explicit Construction(const LoopGraph &graph) : graph(graph) {}
  bool solveStages(ArrayRef<int> cuts);
  void sinkOps(ArrayRef<int> cuts);
  void orderOps();
  void keepOrder();

  LoopSchedule result;

private:
  /// Trips of the new loop between the two ends of an edge.
  int64_t lag(const LoopEdge &edge) const { return result.stages[edge.to] + edge.distance - result.stages[edge.from]; }
  void emit(unsigned node);
  bool isReady(unsigned node) const;
  void emitClosing(unsigned start);
  void emitAll(llvm::BitVector nodes);
  int64_t lastNeed(unsigned node) const;
  llvm::BitVector ancestors(unsigned node) const;
  double workBefore(unsigned node) const;
  SmallVector<int64_t> growth() const;

  const LoopGraph &graph;
  SmallVector<SmallVector<unsigned>> before; ///< by node: what the same trip of the new loop does before
  llvm::BitVector emitted;
  SmallVector<int64_t> places; ///< by node, once it is emitted
};
} // namespace

//===- stages -------------------------------------------------------------------------------------------------------===//

static int64_t weigh(const LoopEdge &edge, ArrayRef<int> cuts) {
  return (edge.cut >= 0 && llvm::is_contained(cuts, edge.cut)) - edge.distance;
}

/// The earliest stage of each group: a longest path. Fails on a cycle that grows, which asks a value of a later trip.
bool Construction::solveStages(ArrayRef<int> cuts) {
  SmallVector<int64_t> stages(graph.numGroups, 0);
  for (const LoopNode &node : graph.nodes)
    stages[node.group] = std::max(stages[node.group], node.fixed);
  bool changes = true;
  for (unsigned round = 0; changes && round <= graph.numGroups; ++round) {
    changes = false;
    for (const LoopEdge &edge : graph.edges) {
      unsigned from = graph.nodes[edge.from].group, to = graph.nodes[edge.to].group;
      int64_t least = stages[from] + weigh(edge, cuts);
      if (least > stages[to]) {
        stages[to] = least;
        changes = true;
      }
    }
  }
  result.stages.clear();
  for (const LoopNode &node : graph.nodes) {
    result.stages.push_back(stages[node.group]);
    if (node.fixed >= 0 && stages[node.group] != node.fixed)
      return false;
  }
  result.cuts.assign(cuts.begin(), cuts.end());
  return !changes;
}

/// Copies go where they are waited for, since their role runs ahead by itself; ops without effects go to the stage of
/// their first user, if what they make takes no fewer registers than what they need.
void Construction::sinkOps(ArrayRef<int> cuts) {
  SmallVector<SmallVector<unsigned>> members(graph.numGroups);
  for (unsigned i = 0; i < graph.nodes.size(); ++i)
    members[graph.nodes[i].group].push_back(i);
  auto wantsToSink = [&](ArrayRef<unsigned> group) {
    if (llvm::any_of(group, [&](unsigned i) { return isa<CopyOp>(graph.nodes[i].op); }))
      return true;
    Operation *op = graph.nodes[group.front()].op;
    if (group.size() > 1 || !isMemoryEffectFree(op))
      return false;
    int64_t made = 0, needed = 0;
    for (Type type : op->getResultTypes())
      made += registersOf(type);
    for (Value operand : op->getOperands())
      if (auto maker = graph.findMaker(operand); maker && maker->distance == 0 && !isView(graph.nodes[maker->node].op))
        needed += registersOf(operand.getType());
    return made >= needed;
  };
  bool changes = true;
  while (changes) {
    changes = false;
    for (ArrayRef<unsigned> group : llvm::reverse(members)) {
      unsigned number = graph.nodes[group.front()].group;
      std::optional<int64_t> latest;
      bool usedSoon = false;
      for (const LoopEdge &edge : graph.edges) {
        if (graph.nodes[edge.from].group != number || graph.nodes[edge.to].group == number)
          continue;
        int64_t bound = result.stages[edge.to] - weigh(edge, cuts);
        latest = std::min(latest.value_or(bound), bound);
        usedSoon |= edge.distance == 0;
      }
      bool fixed = llvm::any_of(group, [&](unsigned i) { return graph.nodes[i].fixed >= 0; });
      if (fixed || !usedSoon || *latest <= result.stages[group.front()] || !wantsToSink(group))
        continue;
      for (unsigned i : group)
        result.stages[i] = *latest;
      changes = true;
    }
  }
  // Without wishes of the user, the first stage is 0.
  bool wishes = llvm::any_of(graph.nodes, [](const LoopNode &node) { return node.fixed >= 0; });
  int64_t first = wishes ? 0 : *llvm::min_element(result.stages);
  for (int64_t &stage : result.stages)
    stage -= first;
  result.last = *llvm::max_element(result.stages);
}

//===- the order ----------------------------------------------------------------------------------------------------===//

bool Construction::isReady(unsigned node) const {
  return llvm::all_of(before[node], [&](unsigned other) { return emitted.test(other); });
}

void Construction::emit(unsigned node) {
  if (emitted.test(node))
    return;
  emitted.set(node);
  places[node] = result.order.size();
  result.order.push_back(node);
}

/// Everything that a trip of the new loop does before the given op.
llvm::BitVector Construction::ancestors(unsigned node) const {
  llvm::BitVector found(graph.nodes.size());
  SmallVector<unsigned> worklist = {node};
  while (!worklist.empty())
    for (unsigned other : before[worklist.pop_back_val()])
      if (!found.test(other)) {
        found.set(other);
        worklist.push_back(other);
      }
  return found;
}

/// Cycles until an op could start in a trip of the new loop.
double Construction::workBefore(unsigned node) const {
  double work = 0;
  for (unsigned other : ancestors(node).set_bits()) {
    const LoopNode &member = graph.nodes[other];
    work += member.busy + (member.starts ? member.cost[Unit::Tensor] + member.latency : 0);
  }
  return work;
}

/// What ends a matmul's slots without waiting for it: tcgen05.commit does.
void Construction::emitClosing(unsigned start) {
  for (unsigned i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].group == graph.nodes[start].group && !graph.nodes[i].blocks && isReady(i))
      emit(i);
}

/// Matmuls start as soon as they can, those first that need the least before; ops that wait for one come when nothing else
/// is left to do.
void Construction::orderOps() {
  before.assign(graph.nodes.size(), {});
  for (const LoopEdge &edge : graph.edges)
    if (lag(edge) == 0 && edge.from != edge.to)
      before[edge.to].push_back(edge.from);
  for (SmallVector<unsigned> &list : before) {
    llvm::sort(list);
    list.erase(llvm::unique(list), list.end());
  }
  emitted.resize(graph.nodes.size());
  places.resize(graph.nodes.size());
  SmallVector<std::pair<double, unsigned>> starts;
  DenseMap<int64_t, double> least; // by stage: matmuls of one stage keep their order
  for (unsigned i = 0; i < graph.nodes.size(); ++i) {
    if (!graph.nodes[i].starts)
      continue;
    double &work = least[result.stages[i]];
    work = std::max(work, workBefore(i));
    starts.push_back({work, i});
  }
  llvm::stable_sort(starts, [](auto &lhs, auto &rhs) { return lhs.first < rhs.first; });
  for (auto &[work, start] : starts) {
    emitAll(ancestors(start));
    emit(start);
    emitClosing(start);
  }
  emitAll(llvm::BitVector(graph.nodes.size(), true));
}

/// By node: the registers that are taken more if it comes next.
SmallVector<int64_t> Construction::growth() const {
  SmallVector<int64_t> growth(graph.nodes.size(), 0);
  for (const LoopValue &value : graph.values) {
    growth[value.maker] += value.registers;
    SmallVector<unsigned> users = findLastUsers(value, result).second;
    llvm::erase_if(users, [&](unsigned user) { return emitted.test(user); });
    if (!users.empty() && llvm::all_equal(users))
      growth[users.front()] -= value.registers;
  }
  return growth;
}

/// When an op's last need came; -1 if another trip has it done.
int64_t Construction::lastNeed(unsigned node) const {
  int64_t last = -1;
  for (unsigned other : before[node])
    last = std::max(last, places[other]);
  return last;
}

/// Of what is ready that first which takes the fewest registers more; what waits for a matmul last, the oldest one first.
void Construction::emitAll(llvm::BitVector nodes) {
  nodes.reset(emitted);
  while (nodes.any()) {
    SmallVector<int64_t> registers = growth();
    std::optional<unsigned> next;
    auto rank = [&](unsigned node) {
      bool blocks = graph.nodes[node].blocks;
      return std::make_pair(blocks, blocks ? lastNeed(node) : registers[node]);
    };
    for (unsigned node : nodes.set_bits())
      if (isReady(node) && (!next || rank(node) < rank(*next)))
        next = node;
    emit(*next);
    nodes.reset(*next);
  }
}

void Construction::keepOrder() {
  result.stages.assign(graph.nodes.size(), 0);
  for (unsigned i = 0; i < graph.nodes.size(); ++i)
    result.order.push_back(i);
  llvm::sort(result.order,
             [&](unsigned lhs, unsigned rhs) { return graph.nodes[lhs].op->isBeforeInBlock(graph.nodes[rhs].op); });
}

//===- all ----------------------------------------------------------------------------------------------------------===//

LoopSchedule headrace::pipe::keepOneStage(const LoopGraph &graph, const UnitModel &model) {
  Construction construction(graph);
  construction.keepOrder();
  predict(graph, model, construction.result);
  return construction.result;
}

std::optional<LoopSchedule> headrace::pipe::makeSchedule(const LoopGraph &graph, ArrayRef<int> cuts,
                                                         const UnitModel &model) {
  Construction construction(graph);
  if (!construction.solveStages(cuts))
    return std::nullopt;
  construction.sinkOps(cuts);
  construction.orderOps();
  predict(graph, model, construction.result);
  return construction.result;
}
