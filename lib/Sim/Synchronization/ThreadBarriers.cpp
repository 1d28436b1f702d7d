// bar, barrier and barrier.cluster: PTX ISA 9.7.13.1 to 9.7.13.4.
#include "Synchronization.h"

#include "headrace/Sim/Machine/Program.h"

#include <algorithm>

namespace headrace::sim {

namespace {

/// One use of a barrier by some lanes: which barrier, and how many threads it takes. Where the program gave no number it
/// takes all that have not exited, which may become fewer.
struct Use {
  ThreadBarrier &barrier;
  uint32_t expected;
  bool isCounted;
  std::string name;
};

uint32_t liveThreads(const Cta &cta) {
  uint32_t count = 0;
  for (const auto &warp : cta.warps)
    count += static_cast<uint32_t>(__builtin_popcount(warp->live));
  return count;
}

std::pair<uint32_t, int> keyOf(const Lanes &lanes, int lane) { return {lanes.cta.rank, lanes.thread(lane)}; }

void completeIfReady(const Lanes &lanes, Use &use) {
  if (use.barrier.arrived < use.expected)
    return;
  use.barrier.passed = std::make_shared<Clock>(std::move(use.barrier.gathering));
  use.barrier.gathering = {};
  use.barrier.arrived = 0;
  use.barrier.expected = 0;
  ++use.barrier.uses;
  lanes.cluster.changed();
}

/// Lets the lanes arrive. `waits`: they will also wait.
void arrive(const Lanes &lanes, Use &use, bool waits) {
  ThreadBarrier &barrier = use.barrier;
  if (barrier.arrived == 0)
    barrier.expected = use.expected;
  else if (use.isCounted && barrier.expected != use.expected)
    lanes.report(lanes.leader(), FindingKind::Barrier,
                 use.name + " is used with " + std::to_string(use.expected) + " threads, others use it with " +
                     std::to_string(barrier.expected));
  const Clock *last = nullptr;
  lanes.forEach([&](int lane) {
    ThreadState &state = lanes.state(lane);
    if (state.clock.get() != last)
      barrier.gathering.acquire(*state.clock);
    last = state.clock.get();
    barrier.gathering.generic.raise(lanes.epoch(lane));
    ++state.step;
    if (waits)
      barrier.waiting[keyOf(lanes, lane)] = barrier.uses + 1;
  });
  barrier.arrived += static_cast<uint32_t>(__builtin_popcount(lanes.mask));
  if (barrier.arrived > use.expected)
    lanes.report(lanes.leader(), FindingKind::Barrier,
                 use.name + " gets " + std::to_string(barrier.arrived) + " threads, expected " +
                     std::to_string(use.expected));
  lanes.cluster.changed();
}

/// Waits for the use that the lanes arrived in. Requires: they are in barrier.waiting.
Step wait(const Lanes &lanes, Use &use) {
  completeIfReady(lanes, use);
  bool all = true;
  lanes.forEach([&](int lane) { all &= use.barrier.waiting[keyOf(lanes, lane)] <= use.barrier.uses; });
  if (!all)
    return lanes.waits([&] {
      return "for " + use.name + ": " + std::to_string(use.barrier.arrived) + " of " + std::to_string(use.expected) +
             " threads are there";
    });
  lanes.forEach([&](int lane) {
    use.barrier.waiting.erase(keyOf(lanes, lane));
    lanes.acquire(lane, use.barrier.passed);
  });
  return Step::Done;
}

Step arriveAndWait(const Lanes &lanes, Use &use) {
  if (!use.barrier.waiting.count(keyOf(lanes, lanes.leader())))
    arrive(lanes, use, /*waits=*/true);
  return wait(lanes, use);
}

/// The barrier that operands `id` and `threads` name. Without `threads` every live thread of the CTA takes part.
Use namedUse(const Lanes &lanes, const Source &id, const Source *threads) {
  int lane = lanes.leader();
  uint64_t number = id(lanes, lane);
  if (number >= Cta::kNamedBarriers) {
    lanes.report(lane, FindingKind::Operand, "expected a barrier 0 to 15, got " + std::to_string(number));
    number = 0;
  }
  uint32_t expected = threads ? static_cast<uint32_t>((*threads)(lanes, lane)) : liveThreads(lanes.cta);
  if (expected == 0 || expected % kLanes) {
    if (threads)
      lanes.report(lane, FindingKind::Operand,
                   "expected a multiple of 32 threads at barrier " + std::to_string(number) + ", got " +
                       std::to_string(expected));
    expected = std::max<uint32_t>(expected, 1);
  }
  return {lanes.cta.barriers[number], expected, threads != nullptr, "barrier " + std::to_string(number)};
}

Evaluator makeNamedBarrier(Decoder &decode, bool aligned) {
  if (aligned)
    decode.executedBy(Scope::Warp);
  Source id = decode.source(0);
  bool hasCount = decode.numOperands() > 1;
  Source threads = hasCount ? decode.source(1) : Source();
  if (decode.has("sync"))
    return [=](Lanes &lanes) {
      Use use = namedUse(lanes, id, hasCount ? &threads : nullptr);
      return arriveAndWait(lanes, use);
    };
  if (!decode.has("arrive"))
    decode.fail("expected sync or arrive: barrier reductions are not simulated");
  else if (!hasCount)
    decode.fail("expected a number of threads");
  return [=](Lanes &lanes) {
    Use use = namedUse(lanes, id, &threads);
    arrive(lanes, use, /*waits=*/false);
    completeIfReady(lanes, use);
    return Step::Done;
  };
}

/// bar.warp.sync mask: the lanes of the mask wait for each other, and see what each did before.
Evaluator makeWarpSync(Decoder &decode) {
  Source members = decode.source(0);
  return [=](Lanes &lanes) {
    LaneMask named = static_cast<LaneMask>(members(lanes, lanes.leader())) & lanes.warp.live;
    if ((lanes.mask & named) != named)
      return lanes.waits([] { return std::string("for the other lanes of the mask"); });
    auto all = std::make_shared<Clock>();
    lanes.forEach([&](int lane) {
      all->acquire(*lanes.state(lane).clock);
      all->generic.raise(lanes.epoch(lane));
      ++lanes.state(lane).step;
    });
    lanes.forEach([&](int lane) { lanes.acquire(lane, all); });
    return Step::Done;
  };
}

Use clusterUse(const Lanes &lanes) {
  uint32_t expected = 0;
  for (const auto &cta : lanes.cluster.ctas)
    expected += liveThreads(*cta);
  return {lanes.cluster.barrier, expected, false, "the cluster barrier"};
}

Evaluator makeClusterBarrier(Decoder &decode) {
  if (decode.has("aligned"))
    decode.executedBy(Scope::Warp);
  if (decode.has("arrive"))
    return [](Lanes &lanes) {
      Use use = clusterUse(lanes);
      arrive(lanes, use, /*waits=*/true);
      completeIfReady(lanes, use);
      return Step::Done;
    };
  if (!decode.has("wait"))
    decode.fail("expected barrier.cluster.arrive or barrier.cluster.wait");
  return [](Lanes &lanes) {
    Use use = clusterUse(lanes);
    if (!use.barrier.waiting.count(keyOf(lanes, lanes.leader()))) {
      lanes.report(lanes.leader(), FindingKind::Barrier, "waits for the cluster barrier without having arrived on it");
      return Step::Done;
    }
    return wait(lanes, use);
  };
}

Evaluator makeBar(Decoder &decode) {
  return decode.has("warp") ? makeWarpSync(decode) : makeNamedBarrier(decode, /*aligned=*/true);
}

Evaluator makeBarrier(Decoder &decode) {
  return decode.has("cluster") ? makeClusterBarrier(decode) : makeNamedBarrier(decode, decode.has("aligned"));
}

} // namespace

void addThreadBarriers(Registry &registry) {
  registry.add("bar", makeBar);
  registry.add("barrier", makeBarrier);
}

} // namespace headrace::sim
