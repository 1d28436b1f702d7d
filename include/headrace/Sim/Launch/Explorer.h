// All orders in which the asynchronous operations of a small kernel can be done.
//
// Whenever every thread waits, one of the operations in flight is done next: a choice. A run is a path of choices; the
// next run takes the same path up to its last choice that had another way, and that way there. A run that comes to a state
// that was seen before is given up: what follows from it has been, or will be, explored from where it was first met.
// That makes the number of runs grow with the states, not with the orders, of which there are factorially many.
#ifndef HEADRACE_SIM_LAUNCH_EXPLORER_H
#define HEADRACE_SIM_LAUNCH_EXPLORER_H

#include "headrace/Sim/Machine/Engine.h"

#include <cstdint>
#include <functional>
#include <unordered_set>
#include <vector>

namespace headrace::sim {

class Explorer : public Chooser {
public:
  /// A number for what the state has outside the cluster: the arrays of the launch.
  std::function<uint64_t()> world;

  size_t choose(const Cluster &cluster, size_t count) override;

  /// Whether the run was given up; its threads were left waiting.
  bool gaveUp() const { return abandoned; }

  /// Ends a run. Result: whether another is to be made; it must start from the same state.
  bool next();

  uint64_t runs() const { return numRuns; }
  /// Different states in which there was a choice.
  uint64_t states() const { return seen.size(); }

private:
  struct Branch {
    size_t taken = 0;
    size_t count = 0;
  };

  std::vector<Branch> path;
  size_t depth = 0;
  bool abandoned = false;
  uint64_t numRuns = 0;
  std::unordered_set<uint64_t> seen;
};

} // namespace headrace::sim

#endif
