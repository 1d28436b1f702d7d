// Names by which the scheduler is told what the user wants, and by which it says what it decided.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace headrace::pipe {

/// On an op of a pipelined loop: the stage that the user wants it to have (i64).
inline constexpr llvm::StringLiteral kFixedStageAttr = "tile.stage";
/// On a kernel: what pipe-schedule-stages decided, a dictionary for each pipelined loop in the order of a walk.
inline constexpr llvm::StringLiteral kSchedulesAttr = "pipe.schedules";

} // namespace headrace::pipe
