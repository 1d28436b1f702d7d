// Schedules of a loop: stages from cuts, and an order from a list schedule.
#pragma once

#include "StagePrediction.h"

namespace headrace::pipe {

/// The loop as it is written.
LoopSchedule keepOneStage(const LoopGraph &graph, const UnitModel &model);

/// The schedule that makes the given cuts; nothing if the loop does not allow them, or an op cannot have the stage that
/// the user wants. Deterministic.
std::optional<LoopSchedule> makeSchedule(const LoopGraph &graph, llvm::ArrayRef<int> cuts, const UnitModel &model);

} // namespace headrace::pipe
