// The graph of a loop: values, slots and rings of channels, effects; and the places where it may be cut.
#include "LoopGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <functional>

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

LoopGraph::LoopGraph(scf::ForOp loop, bool specialized, const UnitModel &model) : loop(loop) {
  addNodes(specialized, model);
  addValues();
  addSlots();
  if (!addRings())
    return;
  addEffects();
  addReaders();
  addRegisters();
  numberGroups();
  addCuts();
}

bool LoopGraph::refuse(Operation *op, StringRef why) {
  refusal = why.str();
  culprit = op;
  return false;
}

//===- nodes --------------------------------------------------------------------------------------------------------===//

/// Cycles that the warps of an op spend on it: they wait for their own units in turn. Matmuls that are started, and copies,
/// go on by themselves; issuing one takes a few.
static constexpr double kIssueCycles = 8;

static double busyCycles(Operation *op, const UnitCycles &cost, bool starts, const UnitModel &model) {
  if (starts || isa<CopyOp>(op))
    return kIssueCycles;
  if (auto store = dyn_cast<AsyncStoreOp>(op))
    return kIssueCycles;
  double cycles = cost[Unit::Special] + cost[Unit::Alu] + cost[Unit::Copy];
  // A synchronous matmul reads its operands while it multiplies.
  cycles += std::max(cost[Unit::Tensor], cost[Unit::Shared]);
  return cycles + latencyOf(op, model);
}

/// The body's ops: what has effects in the order of the program, everything else directly before what first needs it. So
/// a schedule does not depend on where a source makes a value.
static SmallVector<Operation *> orderByNeed(Block &body) {
  llvm::SetVector<Operation *> order;
  std::function<void(Operation *)> visit = [&](Operation *op) {
    if (order.contains(op))
      return;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (Operation *maker = operand.getDefiningOp())
          if (Operation *member = body.findAncestorOpInBlock(*maker); member && member != op)
            visit(member);
    });
    order.insert(op);
  };
  for (Operation &op : body)
    if (!isMemoryEffectFree(&op))
      visit(&op);
  visit(body.getTerminator());
  order.remove(body.getTerminator());
  for (Operation &op : body.without_terminator()) // what nobody needs
    visit(&op);
  return order.takeVector();
}

void LoopGraph::addNodes(bool specialized, const UnitModel &model) {
  for (Operation *op : orderByNeed(*loop.getBody())) {
    LoopNode node;
    node.op = op;
    node.cost = costWithRegions(op, model);
    node.starts = isa<MmaAsyncOp, MmaTmemOp>(op);
    node.busy = busyCycles(op, node.cost, node.starts, model);
    node.latency = node.starts || isa<CopyOp>(op) ? latencyOf(op, model) : 0;
    node.stream = specialized ? getOwner(op).value_or(Role::Compute) : Role::Compute;
    node.anywhere = node.busy == 0 && isMemoryEffectFree(op) && !isa<MmaWaitOp>(op);
    CreateChannelOp channel = getChannelOf(op);
    node.blocks = isa<MmaWaitOp>(op) || (isa<ConsumerWaitOp>(op) && channel.getAsyncCommit());
    if (auto fixed = op->getAttrOfType<IntegerAttr>(kFixedStageAttr))
      node.fixed = fixed.getInt();
    node.group = nodes.size();
    parents.push_back(nodes.size());
    numbers[op] = nodes.size();
    nodes.push_back(node);
  }
}

unsigned LoopGraph::find(unsigned group) {
  while (parents[group] != group)
    group = parents[group] = parents[parents[group]];
  return group;
}

void LoopGraph::join(Operation *first, Operation *second) {
  unsigned a = find(indexOf(first)), b = find(indexOf(second));
  parents[std::max(a, b)] = std::min(a, b);
}

void LoopGraph::numberGroups() {
  DenseMap<unsigned, unsigned> dense;
  for (unsigned i = 0; i < nodes.size(); ++i)
    nodes[i].group = dense.try_emplace(find(i), dense.size()).first->second;
  numGroups = dense.size();
}

void LoopGraph::order(Operation *first, Operation *second, int64_t distance) {
  edges.push_back({indexOf(first), indexOf(second), distance});
}

//===- values -------------------------------------------------------------------------------------------------------===//

std::optional<LoopGraph::Maker> LoopGraph::findMaker(Value value) const {
  int64_t distance = 0;
  SmallPtrSet<Value, 4> seen; // values may be handed from one argument to the next
  for (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == loop.getBody();
       argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getArgNumber() == 0 || !seen.insert(value).second)
      return std::nullopt;
    value = loop.getTiedLoopYieldedValue(argument)->get();
    ++distance;
  }
  Operation *op = value.getDefiningOp();
  Operation *member = op ? loop.getBody()->findAncestorOpInBlock(*op) : nullptr;
  if (!member)
    return std::nullopt;
  return Maker{indexOf(member), distance};
}

void LoopGraph::addValues() {
  for (unsigned to = 0; to < nodes.size(); ++to)
    nodes[to].op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (std::optional<Maker> maker = findMaker(operand); maker && maker->node != to)
          edges.push_back({maker->node, to, maker->distance});
    });
  // An accumulator does not leave the trip in which it is in flight.
  for (LoopNode &node : nodes)
    if (isa<MmaAsyncOp>(node.op))
      for (Operation *user : node.op->getUsers())
        if (isa<MmaWaitOp>(user) && user->getBlock() == loop.getBody())
          join(node.op, user);
}

/// Views are looked through: they take no registers. A matmul reads its operands until it is waited for.
void LoopGraph::addRegisters() {
  llvm::MapVector<std::pair<unsigned, unsigned>, LoopValue> found; // by node and result
  SmallPtrSet<Value, 8> seenOutside;
  std::function<void(Value, unsigned, int64_t)> use = [&](Value value, unsigned user, int64_t distance) {
    std::optional<Maker> maker = findMaker(value);
    if (!maker) {
      Operation *op = value.getDefiningOp();
      if (!isa<BlockArgument>(value) && !(op && isView(op)) && seenOutside.insert(value).second)
        registersFromOutside += registersOf(value.getType());
      return;
    }
    if (maker->node == user)
      return;
    distance += maker->distance;
    Operation *op = nodes[maker->node].op;
    if (isView(op)) {
      for (Value source : op->getOperands())
        use(source, user, distance);
      return;
    }
    // The yielded value that an argument stands for.
    for (SmallPtrSet<Value, 4> seen; isa<BlockArgument>(value) && seen.insert(value).second;)
      value = loop.getTiedLoopYieldedValue(cast<BlockArgument>(value))->get();
    unsigned number = value.getDefiningOp() == op ? cast<OpResult>(value).getResultNumber() : 0;
    LoopValue &entry = found[{maker->node, number}];
    entry.maker = maker->node;
    entry.registers = registersOf(op->getResult(number).getType());
    entry.uses.push_back({user, distance});
  };
  for (unsigned user = 0; user < nodes.size(); ++user) {
    Operation *op = nodes[user].op;
    if (isView(op))
      continue;
    unsigned end = user;
    auto mma = dyn_cast<MmaAsyncOp>(op);
    if (mma)
      for (Operation *wait : mma.getResult().getUsers())
        if (isa<MmaWaitOp>(wait) && wait->getBlock() == loop.getBody())
          end = indexOf(wait);
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        use(operand, mma && operand == mma.getA() ? end : user, 0);
    });
  }
  for (auto &[key, value] : found)
    values.push_back(std::move(value));
}

//===- channels -----------------------------------------------------------------------------------------------------===//

/// What uses the tiles of a slot, matmuls and their waits included, is between the slot's two steps and in their stage.
void LoopGraph::joinSlot(Operation *begin, Operation *end, ValueRange buffers) {
  auto within = [&](Operation *user) {
    if (user->getBlock() != loop.getBody())
      user = loop.getBody()->findAncestorOpInBlock(*user);
    if (!user || user == end)
      return;
    join(begin, user);
    order(user, end);
  };
  join(begin, end);
  order(begin, end);
  SmallVector<Value> worklist(buffers);
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      within(user);
      if (isa<ViewOp>(user))
        llvm::append_range(worklist, user->getResults());
      if (auto mma = dyn_cast<MmaAsyncOp>(user))
        for (Operation *wait : mma.getResult().getUsers())
          if (isa<MmaWaitOp>(wait))
            within(wait);
    }
  // The cursor moves on with its step.
  for (Value cursor : end->getOperands().drop_front())
    for (Operation *user : cursor.getUsers())
      if (isa<AdvanceOp>(user) && user->getBlock() == loop.getBody() && end->isBeforeInBlock(user))
        join(end, user);
}

void LoopGraph::addSlots() {
  auto findEnd = [&](Operation *begin, auto isEnd) {
    for (Operation *op = begin->getNextNode(); op; op = op->getNextNode())
      if (isEnd(op) && getChannelOf(op) == getChannelOf(begin))
        return op;
    return static_cast<Operation *>(nullptr);
  };
  for (LoopNode &node : nodes) {
    if (auto acquire = dyn_cast<ProducerAcquireOp>(node.op)) {
      if (Operation *commit = findEnd(acquire, [](Operation *op) { return isa<ProducerCommitOp>(op); }))
        joinSlot(acquire, commit, acquire.getBuffers());
    } else if (auto wait = dyn_cast<ConsumerWaitOp>(node.op)) {
      if (Operation *release = findEnd(wait, [](Operation *op) { return isa<ConsumerReleaseOp>(op); }))
        joinSlot(wait, release, wait.getBuffers());
    }
  }
}

/// A slot is filled before it is read, and read before it is filled again.
bool LoopGraph::addRings() {
  struct Steps {
    SmallVector<Operation *, 1> acquires, commits, waits, releases;
  };
  llvm::MapVector<Operation *, Steps> rings;
  for (LoopNode &node : nodes) {
    bool inside = false;
    if (node.op->getNumRegions())
      node.op->walk([&](Operation *nested) { inside |= getChannelOf(nested) != nullptr; });
    if (inside)
      return refuse(node.op, "it has steps of a channel in a loop or a branch of its own");
    CreateChannelOp channel = getChannelOf(node.op);
    if (!channel || isa<CopyOp>(node.op))
      continue;
    Steps &steps = rings[channel];
    (isa<ProducerAcquireOp>(node.op)  ? steps.acquires
     : isa<ProducerCommitOp>(node.op) ? steps.commits
     : isa<ConsumerWaitOp>(node.op)   ? steps.waits
                                      : steps.releases)
        .push_back(node.op);
  }
  for (auto &[op, steps] : rings) {
    auto channel = cast<CreateChannelOp>(op);
    bool paired = steps.acquires.size() == steps.commits.size() && steps.waits.size() == steps.releases.size() &&
                  steps.acquires.size() <= 1 && steps.waits.size() <= 1;
    if (!paired)
      return refuse(op, ("channel '" + channel.getName() + "' has steps without their counterpart in it").str());
    if (steps.acquires.empty() || steps.waits.empty())
      continue; // the other side is outside of the loop
    if (!steps.commits.front()->isBeforeInBlock(steps.waits.front()))
      return refuse(op, ("channel '" + channel.getName() + "' is read before it is filled").str());
    order(steps.commits.front(), steps.waits.front());
    order(steps.releases.front(), steps.acquires.front(), channel.getChannel().getType().getDepth());
  }
  return true;
}

//===- effects ------------------------------------------------------------------------------------------------------===//

/// Whether an op's effects are on slots of its own, or on nothing that changes.
static bool hasNoOrder(Operation *op) {
  if (auto mma = dyn_cast<MmaTmemOp>(op))
    return mma.getAcc().getParentRegion() == op->getParentRegion();
  return getChannelOf(op) || isa<ReadOp, WriteOp, MmaOp, MmaAsyncOp, MmaWaitOp>(op) || isMemoryEffectFree(op) ||
         (isGlobalRead(op) && !isWritten(op->getOperand(0)));
}

/// All other effects stay in the order of the program.
void LoopGraph::addEffects() {
  Operation *firstOp = nullptr, *lastOp = nullptr;
  for (LoopNode &node : nodes) {
    if (hasNoOrder(node.op))
      continue;
    if (lastOp)
      order(lastOp, node.op);
    firstOp = firstOp ? firstOp : node.op;
    meetsOthers = true;
    lastOp = node.op;
  }
  meetsOthers |= llvm::any_of(nodes, [](const LoopNode &node) {
    CreateChannelOp channel = getChannelOf(node.op);
    return channel && channel.getSync() == Sync::Barrier;
  });
  if (firstOp && firstOp != lastOp)
    order(lastOp, firstOp, 1);
}

/// Whether `later` comes after `first` in the same trip.
bool LoopGraph::mustFollow(unsigned later, unsigned first) const {
  llvm::BitVector seen(nodes.size());
  SmallVector<unsigned> worklist = {first};
  while (!worklist.empty()) {
    unsigned node = worklist.pop_back_val();
    if (node == later)
      return true;
    for (const LoopEdge &edge : edges)
      if (edge.from == node && edge.distance == 0 && !seen.test(edge.to)) {
        seen.set(edge.to);
        worklist.push_back(edge.to);
      }
  }
  return false;
}

/// What reads the tile that an accumulator starts from reads it before the matmul starts, if it can: ptxas gives both the
/// same registers, and takes matmuls one by one if they are read in flight (C7514).
void LoopGraph::addReaders() {
  for (LoopNode &node : nodes) {
    auto mma = dyn_cast<MmaAsyncOp>(node.op);
    if (!mma)
      continue;
    SmallVector<Value> tiles = {mma.getAcc()};
    if (Operation *maker = mma.getAcc().getDefiningOp(); maker && maker->getBlock() == loop.getBody())
      for (Value operand : maker->getOperands())
        if (operand.getType() == mma.getAcc().getType())
          tiles.push_back(operand);
    for (Value tile : tiles)
      for (Operation *user : tile.getUsers())
        if (Operation *member = loop.getBody()->findAncestorOpInBlock(*user);
            member && member != mma && !isa<scf::YieldOp>(member) && !mustFollow(indexOf(member), indexOf(mma)))
          order(member, mma);
  }
}

//===- cuts ---------------------------------------------------------------------------------------------------------===//

static std::string placeOf(Operation *op) {
  if (auto place = dyn_cast<FileLineColLoc>(op->getLoc()))
    return " at line " + std::to_string(place.getLine());
  return "";
}

/// What reads a product in its own trip may wait for the next one, and a matmul may wait with its operands in registers.
void LoopGraph::addCuts() {
  DenseMap<std::pair<Operation *, unsigned>, int> known;
  auto cut = [&](LoopEdge &edge, Operation *matmul, bool before) {
    auto [number, isNew] = known.try_emplace({matmul, before ? 1u : 0u}, cuts.size());
    if (isNew)
      cuts.push_back((before ? "the matmul" : "what reads the matmul") + placeOf(matmul));
    edge.cut = number->second;
  };
  for (LoopEdge &edge : edges) {
    Operation *from = nodes[edge.from].op, *to = nodes[edge.to].op;
    if (edge.distance != 0 || nodes[edge.from].group == nodes[edge.to].group)
      continue;
    if (auto wait = dyn_cast<MmaWaitOp>(from)) {
      if (Operation *matmul = wait.getInflight().getDefiningOp())
        cut(edge, matmul, /*before=*/false);
    } else if (auto mma = dyn_cast<MmaAsyncOp>(to); mma && mma.getA().getDefiningOp() == from) {
      if (isa<RankedTensorType>(mma.getA().getType()))
        cut(edge, to, /*before=*/true);
    } else if (isa<ProducerCommitOp>(from) && isa<ConsumerWaitOp>(to) && getChannelOf(from).getAsyncCommit()) {
      cut(edge, from, /*before=*/false);
    }
  }
}

UnitCycles LoopGraph::total() const {
  UnitCycles sum;
  for (const LoopNode &node : nodes)
    sum += node.cost;
  return sum;
}
