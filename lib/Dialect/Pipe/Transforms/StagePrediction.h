// What a schedule of a loop costs.
#pragma once

#include "LoopGraph.h"

namespace headrace::pipe {

/// One way to run a loop. Everything by number of node.
struct LoopSchedule {
  llvm::SmallVector<int64_t> stages;
  llvm::SmallVector<unsigned> order; ///< numbers of nodes in the order of the new body
  int64_t last = 0;                  ///< the last stage
  double ii = 0;                     ///< cycles a trip, as played
  int64_t registers = 0;             ///< of a thread, at most at once
  llvm::SmallVector<int> cuts;       ///< that were made
};

/// Sets the schedule's cycles a trip and its registers.
void predict(const LoopGraph &graph, const UnitModel &model, LoopSchedule &schedule);

/// How many trips of the new loop after it was made a value is needed last, and who then uses it.
std::pair<int64_t, llvm::SmallVector<unsigned>> findLastUsers(const LoopValue &value, const LoopSchedule &schedule);

/// The bounds that no schedule of the loop is below: cycles a trip.
struct LoopBounds {
  double resource = 0; ///< of the busiest unit
  Unit unit = Unit::Tensor;
  double recurrence = 0; ///< of what a trip needs of the trips before
  double least() const { return std::max(resource, recurrence); }
};

LoopBounds findBounds(const LoopGraph &graph);

} // namespace headrace::pipe
