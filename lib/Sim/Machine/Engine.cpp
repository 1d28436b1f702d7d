// Asynchronous operations: issue, choice, performance.
#include "headrace/Sim/Machine/Engine.h"

#include "headrace/Sim/Machine/Cluster.h"
#include "headrace/Sim/Machine/Hex.h"
#include "headrace/Sim/Machine/Program.h"

#include <algorithm>
#include <cstring>

namespace headrace::sim {

uint32_t Stream::endOfGroups(uint32_t pending) const {
  return groups.size() > pending ? groups[groups.size() - 1 - pending] : 0;
}

bool Stream::done(uint32_t number) const { return unfinished.empty() || unfinished.front() > number; }

uint32_t Stream::doneUpTo() const { return unfinished.empty() ? count : unfinished.front() - 1; }

void AsyncContext::report(FindingKind kind, std::string message) {
  cluster.findings.add({kind, agent.origin, std::move(message), {}});
}

namespace {

/// The CTA that owns [address, address + count), or null after a finding.
Cta *ownerOfRange(AsyncContext &ctx, const char *verb, uint32_t address, int64_t count, uint32_t &offset) {
  Cta *cta = ctx.cluster.ownerOf(address, offset);
  if (cta && offset + count <= cta->shared.size())
    return cta;
  ctx.report(FindingKind::OutOfBounds, std::string(ctx.agent.what) + " " + verb + " " + std::to_string(count) +
                                           " bytes at shared memory " + hexText(address) + ", of which there are " +
                                           std::to_string(ctx.cluster.ctas.front()->shared.size()));
  return nullptr;
}

} // namespace

void AsyncContext::readShared(uint32_t address, int64_t count, void *out) {
  uint32_t offset = 0;
  if (Cta *cta = ownerOfRange(*this, "reads", address, count, offset))
    cta->shared.read(agent, offset, count, out);
  else
    std::memset(out, 0, count);
}

void AsyncContext::writeShared(uint32_t address, int64_t count, const void *in) {
  uint32_t offset = 0;
  Cta *cta = ownerOfRange(*this, "writes", address, count, offset);
  if (!cta)
    return;
  if (cta->finished())
    return report(FindingKind::Barrier,
                  std::string(agent.what) + " lands in CTA " + std::to_string(cta->index) + " after it has exited");
  cta->shared.write(agent, offset, count, in);
}

void AsyncContext::readGlobal(uint64_t address, int64_t count, void *out) {
  const GlobalMemory &memory = *cluster.launch.memory;
  if (const uint8_t *data = memory.find(address, count)) {
    std::memcpy(out, data, count);
    return;
  }
  std::memset(out, 0, count);
  report(FindingKind::OutOfBounds, std::string(agent.what) + " reads " + std::to_string(count) + " bytes at " +
                                       hexText(address) + ": " + memory.describe(address));
}

void AsyncContext::writeGlobal(uint64_t address, int64_t count, const void *in) {
  const GlobalMemory &memory = *cluster.launch.memory;
  if (uint8_t *data = memory.find(address, count))
    std::memcpy(data, in, count);
  else
    report(FindingKind::OutOfBounds, std::string(agent.what) + " writes " + std::to_string(count) + " bytes at " +
                                         hexText(address) + ": " + memory.describe(address));
}

void AsyncContext::landOn(uint32_t mbarrier) {
  if (Mbarrier *barrier = cluster.mbarrierAt(mbarrier))
    agent.own = barrier->landing();
}

void AsyncContext::completeTx(uint32_t mbarrier, int64_t bytes) {
  Mbarrier *barrier = cluster.mbarrierAt(mbarrier);
  if (!barrier)
    return report(FindingKind::Barrier, std::string(agent.what) + " completes on " + hexText(mbarrier) +
                                            ", where no mbarrier is initialised");
  if (!agent.seen->async.has(barrier->initialised))
    report(FindingKind::MissingProxyFence, "the initialisation of " + cluster.nameOfShared(mbarrier) +
                                               " is not visible to the async proxy: expected fence.mbarrier_init");
  if (std::string error = barrier->completeBytes(bytes); !error.empty())
    report(FindingKind::Barrier, cluster.nameOfShared(mbarrier) + ": " + error);
}

void AsyncContext::arrive(uint32_t mbarrier, const Clock &passed) {
  Mbarrier *barrier = cluster.mbarrierAt(mbarrier);
  if (!barrier)
    return report(FindingKind::Barrier,
                  std::string(agent.what) + " arrives on " + hexText(mbarrier) + ", where no mbarrier is initialised");
  if (std::string error = barrier->arrive(1, passed); !error.empty())
    report(FindingKind::Barrier, cluster.nameOfShared(mbarrier) + ": " + error);
}

Engine::Engine(Cluster &cluster, Policy policy, uint64_t seed) : cluster(cluster), policy(policy), random(seed) {}

uint32_t Engine::issue(AsyncOp op, Stream *stream) {
  uint32_t number = 0;
  if (stream) {
    number = ++stream->count;
    stream->unfinished.push_back(number);
    op.stream = stream;
    op.number = number;
    op.agent.own = stream->epoch(number);
  }
  pending.push_back(std::move(op));
  if (policy == Policy::Early)
    tick();
  return number;
}

bool Engine::mayPerform(std::list<AsyncOp>::const_iterator op) const {
  if (op->ready && !op->ready())
    return false;
  if (op->order == 0)
    return true;
  return std::none_of(pending.begin(), op, [&](const AsyncOp &earlier) { return earlier.order == op->order; });
}

void Engine::perform(std::list<AsyncOp>::iterator op) {
  AsyncOp current = std::move(*op);
  pending.erase(op);
  AsyncContext context(cluster, current.agent);
  current.perform(context);
  if (Stream *stream = current.stream)
    stream->unfinished.erase(std::lower_bound(stream->unfinished.begin(), stream->unfinished.end(), current.number));
  cluster.changed();
}

void Engine::tick() {
  if (policy == Policy::Early) {
    for (bool any = true; any;) {
      any = false;
      for (auto op = pending.begin(); op != pending.end();) {
        auto next = std::next(op);
        if (mayPerform(op)) {
          perform(op);
          any = true;
        }
        op = next;
      }
    }
  } else if (policy == Policy::Random && !pending.empty() && random() % 4 == 0) {
    performOne();
  }
}

bool Engine::performOne() {
  std::vector<std::list<AsyncOp>::iterator> candidates;
  // Enough of a choice: the scan for earlier operations makes a longer list costly.
  constexpr size_t kMaxCandidates = 64;
  auto consider = [&](std::list<AsyncOp>::iterator op) {
    if (mayPerform(op))
      candidates.push_back(op);
    return candidates.size() == (policy == Policy::Chosen   ? pending.size()
                                 : policy == Policy::Random ? kMaxCandidates
                                                            : 1);
  };
  if (policy == Policy::Reversed) {
    for (auto op = pending.end(); op != pending.begin();)
      if (consider(--op))
        break;
  } else {
    for (auto op = pending.begin(); op != pending.end(); ++op)
      if (consider(op))
        break;
  }
  if (candidates.empty())
    return false;
  bool isChoice = policy == Policy::Chosen && cluster.launch.chooser && candidates.size() > 1;
  size_t choice = isChoice ? cluster.launch.chooser->choose(cluster, candidates.size()) : random() % candidates.size();
  if (choice >= candidates.size())
    return false;
  perform(candidates[choice]);
  return true;
}

uint64_t Engine::digest() const {
  uint64_t sum = 0;
  for (const AsyncOp &op : pending)
    sum += std::hash<std::string>()(op.description) ^
           (uint64_t(op.agent.issuer.component) << 32 | op.agent.issuer.number) * 0x9E3779B97F4A7C15u;
  return sum;
}

std::vector<std::string> Engine::inFlight() const {
  std::vector<std::string> result;
  for (const AsyncOp &op : pending)
    result.push_back(op.description);
  return result;
}

} // namespace headrace::sim
