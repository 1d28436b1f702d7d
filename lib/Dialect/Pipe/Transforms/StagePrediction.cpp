// Predictions of what a schedule costs: a play of its trips, a count of its registers, and bounds that no schedule is below.
#include "StagePrediction.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

//===- cycles -------------------------------------------------------------------------------------------------------===//

/// The order in which machine code will have the ops. ptxas moves the wait for a wgmma up over arithmetic that does not use
/// it, as far as the next start, wait or branch: measured, a softmax written between a start and its wait runs after both,
/// unless a matmul in between needs it.
static SmallVector<unsigned> orderOfMachine(const LoopGraph &graph, const LoopSchedule &schedule) {
  SmallVector<unsigned> order;
  for (unsigned node : schedule.order) {
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
static double play(const LoopGraph &graph, const LoopSchedule &schedule, const UnitModel &model) {
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
  SmallVector<unsigned> order = orderOfMachine(graph, schedule);
  for (int64_t now = 0; now < kTrips; ++now) {
    for (unsigned i : order) {
      int64_t trip = now - schedule.stages[i];
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
  return (roleFree[static_cast<int>(Role::Compute)] - settled) / (kTrips - kSettled);
}

//===- registers ----------------------------------------------------------------------------------------------------===//

std::pair<int64_t, SmallVector<unsigned>> headrace::pipe::findLastUsers(const LoopValue &value,
                                                                        const LoopSchedule &schedule) {
  int64_t longest = 0;
  SmallVector<unsigned> users;
  for (auto [user, distance] : value.uses) {
    int64_t lag = schedule.stages[user] + distance - schedule.stages[value.maker];
    if (lag > longest)
      users.clear();
    longest = std::max(longest, lag);
    if (lag == longest)
      users.push_back(user);
  }
  return {longest, users};
}

/// The most that is alive at once in a trip of the new loop. An op takes its operands' registers over for its results.
static int64_t countRegisters(const LoopGraph &graph, const LoopSchedule &schedule) {
  unsigned count = graph.nodes.size();
  SmallVector<unsigned> position(count);
  for (auto [place, node] : llvm::enumerate(schedule.order))
    position[node] = place;
  SmallVector<int64_t> entering(count, 0), leaving(count, 0);
  auto keep = [&](int64_t registers, int64_t from, int64_t to) { // made at `from`, last used at `to`
    for (int64_t place = std::max<int64_t>(from, 0); place < count && place <= to; ++place) {
      entering[place] += place > from ? registers : 0;
      leaving[place] += place < to ? registers : 0;
    }
  };
  for (const LoopValue &value : graph.values) {
    auto [lag, users] = findLastUsers(value, schedule);
    int64_t from = position[value.maker], lastUse = 0;
    for (unsigned user : users)
      lastUse = std::max<int64_t>(lastUse, position[user]);
    if (lag == 0) {
      keep(value.registers, from, lastUse);
      continue;
    }
    keep(value.registers, from, count);
    for (int64_t trip = 1; trip < lag; ++trip)
      keep(value.registers, -1, count);
    keep(value.registers, -1, lastUse);
  }
  // Addresses, cursors, loop counters, the parts of descriptors.
  constexpr int64_t kOthers = 30;
  int64_t most = 0;
  for (unsigned place = 0; place < count; ++place)
    most = std::max({most, entering[place], leaving[place]});
  return kOthers + graph.registersFromOutside + most;
}

void headrace::pipe::predict(const LoopGraph &graph, const UnitModel &model, LoopSchedule &schedule) {
  schedule.ii = play(graph, schedule, model);
  schedule.registers = countRegisters(graph, schedule);
}

//===- bounds -------------------------------------------------------------------------------------------------------===//

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
