// The order of things: warps in turns, lanes together where they can be.
#include "Scheduler.h"

#include <algorithm>
#include <cstdio>

namespace headrace::sim {

namespace {

constexpr uint64_t kNever = ~uint64_t(0);
constexpr uint64_t kSpinSteps = 1 << 20;   // warp instructions that change nothing before others get their turn
constexpr uint64_t kTurnsAwake = 4;        // of a warp, on average, before it falls asleep
constexpr uint64_t kAsleepSteps = 1 << 14; // as kSpinSteps, before it wakes

LaneMask bit(int lane) { return LaneMask(1) << lane; }

template <typename Body> void forEachLane(LaneMask mask, Body body) {
  for (; mask; mask &= mask - 1)
    body(__builtin_ctz(mask));
}

} // namespace

Scheduler::Scheduler(Cluster &cluster, uint64_t seed) : cluster(cluster), random(seed) {
  for (auto &cta : cluster.ctas) {
    for (auto &warp : cta->warps) {
      Runner runner{cta.get(), warp.get(), {}};
      runner.blockedAt.fill(kNever);
      runners.push_back(runner);
    }
  }
}

/// The lanes to run: those at the lowest place of any that may run, or with `any` at a place of chance.
LaneMask Scheduler::choose(const Runner &runner, bool any) {
  const Warp &warp = *runner.warp;
  size_t place = ~size_t(0);
  forEachLane(warp.live, [&](int lane) {
    if (!isBlocked(runner, lane) && (warp.pc[lane] < place || (any && random() % 2)))
      place = warp.pc[lane];
  });
  if (place == ~size_t(0))
    return 0;
  LaneMask group = 0;
  forEachLane(warp.live, [&](int lane) { group |= warp.pc[lane] == place ? bit(lane) : 0; });
  return group;
}

/// In random orders a warp may fall asleep when its turn is over. It wakes when nothing goes on without it, at the latest
/// when the others may be polling for what it does.
void Scheduler::fallAsleep(const Warp &warp) {
  if (cluster.launch.policy == Policy::Random && !asleep && warp.live && random() % kTurnsAwake == 0)
    asleep = &warp;
}

void Scheduler::wakeUp() {
  if (asleep && (!asleep->live || stepsSinceChange > kAsleepSteps))
    asleep = nullptr;
}

Cluster::State Scheduler::run(uint64_t steps) {
  std::shuffle(runners.begin(), runners.end(), random);
  while (steps > 0) {
    bool anyLive = false, anyRan = false;
    wakeUp();
    for (Runner &runner : runners) {
      if (runner.warp == asleep) {
        anyLive = true;
        continue;
      }
      uint64_t turn = 1 + random() % 64;
      // Now and then lanes other than the last ones run, so that one lane's polling cannot starve another.
      bool any = random() % 8 == 0;
      for (; turn > 0 && runner.warp->live; --turn, any = false) {
        LaneMask group = choose(runner, any);
        if (!group || step(runner, group) == Turn::Waiting)
          break;
        if (cluster.stopped)
          return Cluster::State::Stuck;
        anyRan = true;
        steps -= steps > 0;
        ++stepsSinceChange;
      }
      if (turn == 0)
        fallAsleep(*runner.warp);
      anyLive |= runner.warp->live != 0;
      cluster.engine.tick();
    }
    if (!anyLive) {
      while (cluster.engine.performOne())
        ;
      return Cluster::State::Finished;
    }
    if (cluster.changes != lastChange) {
      lastChange = cluster.changes;
      stepsSinceChange = 0;
    }
    if (!anyRan && !cluster.engine.performOne()) {
      if (asleep) {
        asleep = nullptr;
        continue;
      }
      bool anyWaiting = std::any_of(runners.begin(), runners.end(), [&](const Runner &runner) {
        bool waiting = false;
        forEachLane(runner.warp->live, [&](int lane) { waiting |= !isBlocked(runner, lane); });
        return waiting;
      });
      if (anyWaiting) {
        steps -= steps > 0; // so that a limit on time ends this, too
        continue;
      }
      reportDeadlock();
      return Cluster::State::Stuck;
    }
    if (stepsSinceChange > kSpinSteps) {
      stepsSinceChange = 0;
      // Late operations may be what it polls for.
      if (!cluster.engine.performOne())
        return Cluster::State::Spinning;
    }
  }
  return Cluster::State::Running;
}

/// The lanes of the group whose guard is true.
LaneMask Scheduler::guarded(const Warp &warp, LaneMask group, const ptx::Instruction &instruction) const {
  if (!instruction.guarded)
    return group;
  const uint64_t *guard = const_cast<Warp &>(warp).cells(instruction.guard);
  LaneMask result = 0;
  forEachLane(group, [&](int lane) { result |= (guard[lane] & 1) != instruction.guardNegated ? bit(lane) : 0; });
  return result;
}

void Scheduler::block(Runner &runner, LaneMask group) {
  forEachLane(group, [&](int lane) { runner.blockedAt[lane] = cluster.changes; });
}

Scheduler::Turn Scheduler::step(Runner &runner, LaneMask group) {
  Warp &warp = *runner.warp;
  size_t pc = warp.pc[__builtin_ctz(group)];
  if (pc >= cluster.program.code.size()) { // past the last instruction: as ret
    warp.live &= ~group;
    finish(runner);
    return Turn::Ran;
  }
  const Decoded &code = cluster.program.code[pc];
  if (code.scope != Scope::Thread && group != warp.live) {
    block(runner, group);
    return Turn::Waiting;
  }
  return code.scope == Scope::Warpgroup ? runWarpgroup(runner, code, pc) : runWarp(runner, group, code, pc);
}

Scheduler::Turn Scheduler::runWarp(Runner &runner, LaneMask group, const Decoded &code, size_t pc) {
  Warp &warp = *runner.warp;
  const ptx::Instruction &instruction = cluster.program.function->instructions[pc];
  LaneMask mask = guarded(warp, group, instruction);
  forEachLane(group, [&](int lane) { warp.pc[lane] = pc + 1; });
  if (!mask)
    return Turn::Ran;
  Lanes lanes(cluster, *runner.cta, warp, mask, instruction);
  if (code.scope == Scope::Warp && mask != group)
    lanes.report(lanes.leader(), FindingKind::Divergence, "only part of the warp has a true guard, all of it must");
  LaneMask before = warp.live;
  checkRegisters(lanes, code);
  if (code.run(lanes) == Step::Blocked) {
    forEachLane(mask, [&](int lane) { warp.pc[lane] = pc; });
    block(runner, mask);
    return mask == group ? Turn::Waiting : Turn::Ran;
  }
  if (warp.live != before) {
    checkStoresRead(lanes, before & ~warp.live);
    finish(runner);
  }
  return Turn::Ran;
}

/// Shared memory goes with its CTA: a thread must have waited until its bulk stores had read it.
void Scheduler::checkStoresRead(const Lanes &lanes, LaneMask ended) const {
  forEachLane(ended, [&](int lane) {
    const Stream *stream = lanes.cta.findStream(StreamKind::Bulk, lanes.thread(lane));
    if (stream && stream->issued() && !lanes.state(lane).clock->generic.has(stream->epoch(stream->issued())))
      lanes.report(lane, FindingKind::Overwrite,
                   "exits while its bulk stores may still read shared memory: expected cp.async.bulk.wait_group");
  });
}

Scheduler::Turn Scheduler::runWarpgroup(Runner &runner, const Decoded &code, size_t pc) {
  const ptx::Instruction &instruction = cluster.program.function->instructions[pc];
  size_t first = runner.warp->index / 4 * 4;
  if (first + 4 > runner.cta->warps.size()) {
    Lanes(cluster, *runner.cta, *runner.warp, runner.warp->live, instruction)
        .report(0, FindingKind::Divergence, "expected a warpgroup of four warps, the block has no fourth");
    block(runner, runner.warp->live);
    return Turn::Waiting;
  }
  size_t threads = 0, executing = 0;
  for (size_t i = first; i < first + 4; ++i) {
    Warp &warp = *runner.cta->warps[i];
    bool here = warp.live != 0;
    forEachLane(warp.live, [&](int lane) { here &= warp.pc[lane] == pc; });
    if (!here) {
      block(runner, runner.warp->live);
      return Turn::Waiting;
    }
    threads += __builtin_popcount(warp.live);
    executing += __builtin_popcount(guarded(warp, warp.live, instruction));
  }
  if (executing) {
    Warp &warp = *runner.cta->warps[first];
    Lanes lanes(cluster, *runner.cta, warp, warp.live, instruction);
    if (executing != threads)
      lanes.report(lanes.leader(), FindingKind::Divergence,
                   "only " + std::to_string(executing) + " of the " + std::to_string(threads) +
                       " threads of the warpgroup have a true guard, all of them must");
    checkRegisters(lanes, code);
    if (code.run(lanes) == Step::Blocked) {
      block(runner, runner.warp->live);
      return Turn::Waiting;
    }
  }
  for (size_t i = first; i < first + 4; ++i)
    forEachLane(runner.cta->warps[i]->live, [&](int lane) { runner.cta->warps[i]->pc[lane] = pc + 1; });
  cluster.changed(); // the other three were blocked here
  return Turn::Ran;
}

/// Registers that the instruction must not touch now: those in flight, and those that never got a value.
void Scheduler::checkRegisters(const Lanes &lanes, const Decoded &code) const {
  Warp &warp = lanes.warp;
  const auto &names = cluster.program.function->registers;
  if (!code.readsUndefined) {
    for (ptx::RegId reg : code.reads) {
      if (LaneMask missing = lanes.mask & ~warp.defined(reg)) {
        lanes.report(__builtin_ctz(missing), FindingKind::Uninitialised,
                     "reads " + names[reg].name + ", which has no value");
        warp.define(reg, missing); // say it once
      }
    }
  }
  if (!warp.anyInFlight() || code.touchesFlight)
    return;
  auto accuse = [&](const char *verb, ptx::RegId reg) {
    const char *user =
        warp.flight(reg) == Flight::Load ? "tcgen05.ld, before tcgen05.wait::ld" : "wgmma, before wgmma.wait_group";
    lanes.report(lanes.leader(), FindingKind::RegisterInFlight,
                 std::string(verb) + " " + names[reg].name + " in the hands of " + user);
  };
  for (ptx::RegId reg : code.reads)
    if (warp.flight(reg) != Flight::None)
      accuse("reads", reg);
  for (ptx::RegId reg : code.writes)
    if (warp.flight(reg) != Flight::None && !warp.overwrite(reg))
      accuse("writes", reg);
}

/// What a CTA must have done when its last warp ends.
void Scheduler::finish(Runner &runner) {
  cluster.changed();
  Cta &cta = *runner.cta;
  if (!cta.finished())
    return;
  for (const TensorColumns &columns : cta.tensorAllocator.live)
    cluster.findings.add(
        {FindingKind::TensorMemory,
         {cta.index, runner.warp->index * kLanes, columns.allocated},
         std::to_string(columns.count) + " columns from " + std::to_string(columns.first) + " are never freed",
         {}});
  for (const auto &[group, operations] : cta.wgmmaInFlight)
    if (!operations.empty())
      cluster.findings.add({FindingKind::RegisterInFlight,
                            {cta.index, group * 4 * kLanes, operations.front().instruction},
                            "the program ends without wgmma.wait_group for this",
                            {}});
  for (auto &[offset, barrier] : cta.mbarriers)
    if (barrier.pendingBytes() != 0)
      cluster.findings.add({FindingKind::Barrier,
                            {cta.index, runner.warp->index * kLanes, nullptr},
                            cluster.nameOfShared(offset) + " ends with " + std::to_string(barrier.pendingBytes()) +
                                " transaction bytes outstanding in phase " + std::to_string(barrier.phase()),
                            {}});
}

std::string Scheduler::nameOf(const Runner &runner, LaneMask group) const {
  std::string role;
  for (const auto &[first, name] : cluster.launch.roles)
    if (runner.warp->index >= first)
      role = name + ", ";
  char lanes[24];
  std::snprintf(lanes, sizeof lanes, "%08x", group);
  return "CTA " + std::to_string(runner.cta->index) + ", " + role + "warp " + std::to_string(runner.warp->index) +
         (group == runner.warp->live ? std::string() : std::string(" lanes 0x") + lanes);
}

void Scheduler::noteWait(const Runner &runner, LaneMask group, std::vector<std::string> &notes) {
  Warp &warp = *runner.warp;
  size_t pc = warp.pc[__builtin_ctz(group)];
  const ptx::Instruction &instruction = cluster.program.function->instructions[pc];
  const Decoded &code = cluster.program.code[pc];
  std::string reason;
  if (code.scope != Scope::Thread && group != warp.live) {
    reason = "for the other lanes of the warp, all of which must execute it together";
    Lanes(cluster, *runner.cta, warp, group, instruction)
        .report(__builtin_ctz(group), FindingKind::Divergence,
                "a warp-wide instruction is reached by part of the warp: the others never come");
  } else if (code.scope == Scope::Warpgroup) {
    reason = "for the rest of its warpgroup";
    size_t first = warp.index / 4 * 4;
    bool together = first + 4 <= runner.cta->warps.size();
    for (size_t i = first; together && i < first + 4; ++i)
      forEachLane(runner.cta->warps[i]->live, [&](int lane) { together &= runner.cta->warps[i]->pc[lane] == pc; });
    if (together) {
      Lanes lanes(cluster, *runner.cta, *runner.cta->warps[first], warp.live, instruction);
      lanes.explanation = &reason;
      code.run(lanes);
    }
  } else {
    Lanes lanes(cluster, *runner.cta, warp, guarded(warp, group, instruction), instruction);
    lanes.explanation = &reason;
    code.run(lanes);
  }
  notes.push_back(nameOf(runner, group) + ", " + describePlace(instruction) + ": waits " + reason);
}

void Scheduler::reportDeadlock() {
  std::vector<std::string> notes;
  Origin origin;
  std::sort(runners.begin(), runners.end(), [](const Runner &a, const Runner &b) {
    return std::make_pair(a.cta->index, a.warp->index) < std::make_pair(b.cta->index, b.warp->index);
  });
  for (Runner &runner : runners) {
    for (LaneMask rest = runner.warp->live; rest;) {
      int lane = __builtin_ctz(rest);
      LaneMask group = 0;
      forEachLane(rest, [&](int other) { group |= runner.warp->pc[other] == runner.warp->pc[lane] ? bit(other) : 0; });
      rest &= ~group;
      if (!origin.instruction)
        origin = {runner.cta->index, runner.warp->index * kLanes + lane,
                  &cluster.program.function->instructions[runner.warp->pc[lane]]};
      noteWait(runner, group, notes);
    }
  }
  for (const std::string &operation : cluster.engine.inFlight())
    notes.push_back("in flight: " + operation);
  cluster.findings.add({FindingKind::Deadlock, origin, "nobody can go on", std::move(notes)});
}

} // namespace headrace::sim
