// Decomposed modulo scheduling (stages first, then a list schedule of what is left without cycles), after Wang, Eisenbeis,
// Jourdan and Su. A loop of tiles has a few matmuls to move and warps that do everything else in the order of the program,
// so every choice of stages can be tried and its result played, which a reservation table would only approximate.
#include "StageSearch.h"
#include "llvm/ADT/BitVector.h"

#include <functional>

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

namespace {
/// Builds one schedule, step by step.
class Construction {
public:
  Construction(const LoopGraph &graph, const UnitModel &model) : graph(graph), model(model) {}
  bool solveStages(ArrayRef<int> cuts);
  void sinkOps(ArrayRef<int> cuts);
  void orderOps();
  void keepOrder();
  void play();
  void countRegisters();

  LoopSchedule result;

private:
  /// Trips of the new loop between the two ends of an edge.
  int64_t lag(const LoopEdge &edge) const { return result.stages[edge.to] + edge.distance - result.stages[edge.from]; }
  void emit(unsigned node);
  bool isReady(unsigned node) const;
  void emitClosing(unsigned start);
  double workBefore(unsigned node) const;
  SmallVector<unsigned> orderOfMachine() const;

  const LoopGraph &graph;
  const UnitModel &model;
  SmallVector<SmallVector<unsigned>> before; ///< by node: what the same trip of the new loop does before
  llvm::BitVector emitted;
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
  for (unsigned other : before[node])
    emit(other);
  emitted.set(node);
  result.order.push_back(node);
}

/// Cycles until an op could start in a trip of the new loop.
double Construction::workBefore(unsigned node) const {
  llvm::BitVector seen(graph.nodes.size());
  double work = 0;
  std::function<void(unsigned)> visit = [&](unsigned at) {
    for (unsigned other : before[at]) {
      if (seen.test(other))
        continue;
      seen.set(other);
      const LoopNode &member = graph.nodes[other];
      work += member.busy + (member.starts ? member.cost[Unit::Tensor] + member.latency : 0);
      visit(other);
    }
  };
  visit(node);
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
    emit(start);
    emitClosing(start);
  }
  while (result.order.size() < graph.nodes.size()) {
    std::optional<unsigned> waiting;
    bool progress = false;
    for (unsigned i = 0; i < graph.nodes.size(); ++i) {
      if (emitted.test(i) || !isReady(i))
        continue;
      if (graph.nodes[i].blocks) {
        waiting = waiting.value_or(i);
        continue;
      }
      emit(i);
      progress = true;
    }
    if (!progress)
      emit(*waiting);
  }
}

void Construction::keepOrder() {
  result.stages.assign(graph.nodes.size(), 0);
  for (unsigned i = 0; i < graph.nodes.size(); ++i)
    result.order.push_back(i);
}

//===- predictions --------------------------------------------------------------------------------------------------===//

/// The order in which machine code will have the ops. ptxas moves the wait for a wgmma up over arithmetic that does not use
/// it, as far as the next start, wait or branch: measured, a softmax written between a start and its wait runs after both,
/// unless a matmul in between needs it.
SmallVector<unsigned> Construction::orderOfMachine() const {
  SmallVector<unsigned> order;
  for (unsigned node : result.order) {
    size_t place = order.size();
    auto staysBelow = [&](unsigned other) {
      Operation *op = graph.nodes[other].op;
      bool ours = graph.nodes[other].stream == graph.nodes[node].stream;
      return ours && (isa<MmaAsyncOp, MmaWaitOp, ConsumerWaitOp, scf::IfOp, scf::ForOp, scf::WhileOp>(op));
    };
    if (isa<MmaWaitOp>(graph.nodes[node].op))
      while (place > 0 && !staysBelow(order[place - 1]))
        --place;
    order.insert(order.begin() + place, node);
  }
  return order;
}

/// Whether a result passes from role to role.
static bool handsOver(const LoopNode &from, const LoopNode &to) {
  return !from.anywhere && !to.anywhere && from.stream != to.stream;
}

/// Plays trips of the new loop: each role does its ops in order, each unit one thing after the other.
void Construction::play() {
  constexpr int64_t kTrips = 16, kSettled = 8;
  const auto &nodes = graph.nodes;
  bool oneRole = llvm::all_of(nodes, [](const LoopNode &node) { return node.stream == Role::Compute; });
  SmallVector<SmallVector<double>> done(nodes.size());
  SmallVector<SmallVector<const LoopEdge *>> needs(nodes.size());
  for (const LoopEdge &edge : graph.edges)
    needs[edge.to].push_back(&edge);
  std::array<double, 3> roleFree{};
  std::array<double, kNumUnits> unitFree{};
  double settled = 0;
  SmallVector<unsigned> order = orderOfMachine();
  for (int64_t now = 0; now < kTrips; ++now) {
    for (unsigned i : order) {
      int64_t trip = now - result.stages[i];
      if (trip < 0)
        continue;
      const LoopNode &node = nodes[i];
      double &roleFreeAt = roleFree[static_cast<int>(node.stream)];
      double ready = node.anywhere ? 0 : roleFreeAt;
      for (const LoopEdge *edge : needs[i])
        if (int64_t made = trip - edge->distance; made >= 0 && made < int64_t(done[edge->from].size()))
          ready = std::max(ready,
                           done[edge->from][made] + (handsOver(nodes[edge->from], node) ? model.handoverLatency : 0));
      if (node.anywhere) {
        done[i].push_back(ready);
        continue;
      }
      // What hands a slot over does so when the slot is ready; its role goes on.
      double end = isa<ProducerCommitOp, ConsumerReleaseOp>(node.op) ? roleFreeAt : ready + node.busy;
      roleFreeAt = end;
      bool copies = isa<CopyOp>(node.op);
      if (node.starts || (copies && !oneRole)) {
        Unit unit = copies ? Unit::Copy : Unit::Tensor;
        double &free = unitFree[static_cast<int>(unit)];
        free = std::max(free, ready) + node.cost[unit];
        end = free + node.latency;
      }
      end = std::max(end, ready);
      done[i].push_back(end); // trips come in order
    }
    if (now == kSettled - 1)
      settled = roleFree[static_cast<int>(Role::Compute)];
  }
  result.ii = (roleFree[static_cast<int>(Role::Compute)] - settled) / (kTrips - kSettled);
}

/// The most that is alive at once in a trip of the new loop. An op takes its operands' registers over for its results.
void Construction::countRegisters() {
  unsigned count = graph.nodes.size();
  SmallVector<unsigned> position(count);
  for (auto [place, node] : llvm::enumerate(result.order))
    position[node] = place;
  SmallVector<int64_t> entering(count, 0), leaving(count, 0);
  auto keep = [&](int64_t registers, int64_t from, int64_t to) { // made at `from`, last used at `to`
    for (int64_t place = std::max<int64_t>(from, 0); place < count && place <= to; ++place) {
      entering[place] += place > from ? registers : 0;
      leaving[place] += place < to ? registers : 0;
    }
  };
  struct Use {
    unsigned place;
    int64_t lag;
  };
  llvm::MapVector<std::pair<unsigned, unsigned>, SmallVector<Use>> uses; ///< by (node, result)
  int64_t outside = 0;
  SmallPtrSet<Value, 8> seenOutside;
  std::function<void(Value, unsigned, int64_t, unsigned)> use = [&](Value value, unsigned user, int64_t distance,
                                                                    unsigned place) {
    auto maker = graph.findMaker(value);
    if (!maker) {
      Operation *op = value.getDefiningOp();
      bool argument = isa<BlockArgument>(value);
      if (!argument && !(op && isView(op)) && seenOutside.insert(value).second)
        outside += registersOf(value.getType());
      return;
    }
    if (maker->node == user)
      return;
    distance += maker->distance;
    Operation *op = graph.nodes[maker->node].op;
    if (isView(op)) {
      for (Value source : op->getOperands())
        use(source, user, distance, place);
      return;
    }
    // The yielded value that an argument stands for.
    Value made = value;
    for (SmallPtrSet<Value, 4> seen; isa<BlockArgument>(made) && seen.insert(made).second;)
      made = cast<scf::ForOp>(op->getParentOp()).getTiedLoopYieldedValue(cast<BlockArgument>(made))->get();
    unsigned number = made.getDefiningOp() == op ? cast<OpResult>(made).getResultNumber() : 0;
    uses[{maker->node, number}].push_back({place, result.stages[user] + distance - result.stages[maker->node]});
  };
  for (unsigned user = 0; user < count; ++user) {
    Operation *op = graph.nodes[user].op;
    if (isView(op))
      continue;
    unsigned place = position[user];
    // A matmul reads its operands until it is waited for.
    auto mma = dyn_cast<MmaAsyncOp>(op);
    unsigned end = place;
    if (mma)
      for (unsigned other = 0; other < count; ++other)
        if (isa<MmaWaitOp>(graph.nodes[other].op) && graph.nodes[other].op->getOperand(0) == mma.getResult())
          end = position[other];
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        use(operand, user, 0, mma && operand == mma.getA() ? end : place);
    });
  }
  for (auto &[made, list] : uses) {
    int64_t registers = registersOf(graph.nodes[made.first].op->getResult(made.second).getType());
    int64_t longest = 0, lastUse = 0;
    for (const Use &one : list)
      longest = std::max(longest, one.lag);
    for (const Use &one : list)
      if (one.lag == longest)
        lastUse = std::max<int64_t>(lastUse, one.place);
    int64_t from = position[made.first];
    if (longest == 0) {
      keep(registers, from, lastUse);
      continue;
    }
    keep(registers, from, count);
    for (int64_t trip = 1; trip < longest; ++trip)
      keep(registers, -1, count);
    keep(registers, -1, lastUse);
  }
  // Addresses, cursors, loop counters, the parts of descriptors.
  constexpr int64_t kOthers = 30;
  result.registers = kOthers + outside;
  int64_t most = 0;
  for (unsigned place = 0; place < count; ++place)
    most = std::max({most, entering[place], leaving[place]});
  result.registers += most;
}

//===- all ----------------------------------------------------------------------------------------------------------===//

LoopSchedule headrace::pipe::keepOneStage(const LoopGraph &graph, const UnitModel &model) {
  Construction construction(graph, model);
  construction.keepOrder();
  construction.play();
  construction.countRegisters();
  return construction.result;
}

std::optional<LoopSchedule> headrace::pipe::makeSchedule(const LoopGraph &graph, ArrayRef<int> cuts,
                                                         const UnitModel &model) {
  Construction construction(graph, model);
  if (!construction.solveStages(cuts))
    return std::nullopt;
  construction.sinkOps(cuts);
  construction.orderOps();
  construction.play();
  construction.countRegisters();
  return construction.result;
}

/// Whether some cycle takes more than `ii` cycles for each trip that it spans: whether longest paths grow without end.
static bool isTooFast(const LoopGraph &graph, double ii) {
  SmallVector<double> start(graph.nodes.size(), 0);
  for (unsigned round = 0; round <= graph.nodes.size(); ++round) {
    bool changes = false;
    for (const LoopEdge &edge : graph.edges) {
      const LoopNode &from = graph.nodes[edge.from];
      double length = from.starts ? from.cost[Unit::Tensor] + from.latency : from.busy;
      if (isa<CopyOp>(from.op) && from.stream == Role::Load)
        length = from.cost[Unit::Copy] + from.latency;
      double least = start[edge.from] + length - ii * edge.distance;
      if (least > start[edge.to] + 1e-6) {
        start[edge.to] = least;
        changes = true;
      }
    }
    if (!changes)
      return false;
  }
  return true;
}

LoopBounds headrace::pipe::findBounds(const LoopGraph &graph) {
  LoopBounds bounds;
  UnitCycles total = graph.total();
  bounds.unit = total.busiest();
  bounds.resource = total[bounds.unit];
  double low = 0, high = 1;
  for (const LoopNode &node : graph.nodes)
    high += node.busy + node.latency + node.cost[Unit::Tensor] + node.cost[Unit::Copy];
  while (high - low > 1) {
    double middle = (low + high) / 2;
    (isTooFast(graph, middle) ? low : high) = middle;
  }
  bounds.recurrence = low;
  return bounds;
}
