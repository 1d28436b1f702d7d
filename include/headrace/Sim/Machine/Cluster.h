// The unit that runs on its own: the CTAs of a cluster and their asynchronous engine.
#ifndef HEADRACE_SIM_MACHINE_CLUSTER_H
#define HEADRACE_SIM_MACHINE_CLUSTER_H

#include "headrace/Sim/Machine/Cta.h"
#include "headrace/Sim/Machine/Engine.h"
#include "headrace/Sim/Machine/Finding.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::sim {

class Program;
class Scheduler;
struct Launch;

class Cluster {
public:
  /// `first`: linear index of its first CTA in the grid.
  Cluster(const Program &program, const Launch &launch, int first, uint64_t seed, Findings &findings);
  ~Cluster();

  const Program &program;
  const Launch &launch;
  Findings &findings;
  std::vector<std::unique_ptr<Cta>> ctas; // by rank
  Engine engine;
  ThreadBarrier barrier; // barrier.cluster

  enum class State { Running, Spinning, Finished, Stuck };
  /// Runs for about `steps` warp instructions. Spinning: only loads and tests ran, which somebody else may end.
  /// Stuck: nothing goes on, which has been reported: a deadlock, or a trap.
  State run(uint64_t steps);

  /// A thread has run into a trap or a failed assert: nothing of the kernel goes on.
  void stop() { stopped = true; }

  /// Something changed that a waiting thread may want to see.
  void changed() { ++changes; }
  /// A new component of this cluster's clocks.
  Component newComponent() { return components++; }
  /// The component of a thread.
  Component componentOf(const Cta &cta, int thread) const;

  /// The stream of a thread, warp or warpgroup; `owner` is its index within the CTA. Made when first asked for.
  Stream &stream(Cta &cta, StreamKind kind, int owner);

  /// The CTA whose shared memory a shared::cluster address is in, or null; `offset` becomes the place in it. The rank is
  /// in bits 24 and up, also in the addresses that a CTA uses for its own memory.
  Cta *ownerOf(uint32_t address, uint32_t &offset);

  /// The mbarrier at a shared::cluster address, or null where there is none.
  Mbarrier *mbarrierAt(uint32_t address);

  /// A number that differs, as a rule, where the state of threads, memory, mbarriers or operations in flight does.
  uint64_t digest() const;

  /// "mbarrier 0x34018 (full of 'A', slot 1)" where the launch record names it.
  std::string nameOfShared(uint32_t address) const;
  /// "slot 1 of 'A'", or "" where the launch record names nothing at this offset.
  std::string nameOfRange(int64_t offset) const;

private:
  friend class Scheduler;
  std::unique_ptr<Scheduler> scheduler;
  Component components = 0;
  uint64_t changes = 0;
  bool stopped = false;
};

} // namespace headrace::sim

#endif
