// Runs all clusters of a launch, several at a time.
#ifndef HEADRACE_SIM_LAUNCH_GRID_H
#define HEADRACE_SIM_LAUNCH_GRID_H

#include "headrace/Sim/Machine/Finding.h"
#include "headrace/Sim/Machine/Program.h"

#include <cstdint>
#include <functional>

namespace headrace::sim {

struct RunOptions {
  unsigned hostThreads = 0; // 0: as many as the machine has processors
  double timeLimit = 0;     // seconds for the whole run; 0: none
  /// Called now and then with the numbers of finished CTAs and of all, from one thread at a time.
  std::function<void(int64_t, int64_t)> progress;
};

/// Runs the launch to its end, to the first deadlock, or to the time limit; what it found is in `findings`.
void runGrid(const Program &program, const Launch &launch, const RunOptions &options, Findings &findings);

} // namespace headrace::sim

#endif
