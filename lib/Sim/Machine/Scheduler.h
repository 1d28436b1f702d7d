// Which warp runs next, and with which of its lanes.
#ifndef HEADRACE_LIB_SIM_MACHINE_SCHEDULER_H
#define HEADRACE_LIB_SIM_MACHINE_SCHEDULER_H

#include "headrace/Sim/Machine/Cluster.h"
#include "headrace/Sim/Machine/Lanes.h"
#include "headrace/Sim/Machine/Program.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

namespace headrace::sim {

/// Runs the warps of a cluster in turns. Every lane has its own place in the program. Of a warp the lanes furthest behind
/// run, which brings diverged lanes together again; those whose evaluator said Blocked sit out until something changes.
class Scheduler {
public:
  Scheduler(Cluster &cluster, uint64_t seed);

  Cluster::State run(uint64_t steps);

private:
  /// A warp, and for each lane the state of the cluster in which it was found blocked.
  struct Runner {
    Cta *cta = nullptr;
    Warp *warp = nullptr;
    std::array<uint64_t, kLanes> blockedAt;
  };
  enum class Turn { Ran, Waiting };

  void fallAsleep(const Warp &warp);
  void wakeUp();
  bool isBlocked(const Runner &runner, int lane) const { return runner.blockedAt[lane] == cluster.changes; }
  LaneMask choose(const Runner &runner, bool any);
  Turn step(Runner &runner, LaneMask group);
  Turn runWarp(Runner &runner, LaneMask group, const Decoded &code, size_t pc);
  Turn runWarpgroup(Runner &runner, const Decoded &code, size_t pc);
  LaneMask guarded(const Warp &warp, LaneMask group, const ptx::Instruction &instruction) const;
  void checkRegisters(const Lanes &lanes, const Decoded &code) const;
  void block(Runner &runner, LaneMask group);
  void checkStoresRead(const Lanes &lanes, LaneMask ended) const;
  void finish(Runner &runner);
  void reportDeadlock();
  void noteWait(const Runner &runner, LaneMask group, std::vector<std::string> &notes);
  std::string nameOf(const Runner &runner, LaneMask group) const;

  Cluster &cluster;
  std::vector<Runner> runners;
  std::mt19937_64 random;
  /// A warp that gets no turn while anything else can go on, or null: another may be slower by any factor.
  const Warp *asleep = nullptr;
  uint64_t lastChange = 0;
  uint64_t stepsSinceChange = 0;
};

} // namespace headrace::sim

#endif
