// Schedules of a loop: stages from cuts, an order from a list schedule, and predictions of what they cost.
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

/// The bounds that no schedule of the loop is below: cycles a trip.
struct LoopBounds {
  double resource = 0; ///< of the busiest unit
  Unit unit = Unit::Tensor;
  double recurrence = 0; ///< of what a trip needs of the trips before
  double least() const { return std::max(resource, recurrence); }
};

LoopBounds findBounds(const LoopGraph &graph);

/// The loop as it is written.
LoopSchedule keepOneStage(const LoopGraph &graph, const UnitModel &model);

/// The schedule that makes the given cuts; nothing if the loop does not allow them, or an op cannot have the stage that
/// the user wants. Deterministic.
std::optional<LoopSchedule> makeSchedule(const LoopGraph &graph, llvm::ArrayRef<int> cuts, const UnitModel &model);

} // namespace headrace::pipe
