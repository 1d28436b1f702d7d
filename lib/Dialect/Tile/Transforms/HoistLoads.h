// Loads under conditions in pipelined loops, a step of the plan.
#pragma once

#include "headrace/Dialect/Tile/IR/Tile.h"
#include "headrace/Target/TargetInfo.h"

namespace headrace::tile {

/// Takes loads that have an asynchronous mechanism out of the conditionals of a pipelined loop's trip, so that they can run
/// ahead as all others: where the condition does not hold they lie outside of the array, and read nothing. Tells of those
/// whose condition or place cannot be computed ahead. Requires: the atoms are chosen.
void hoistLoads(KernelOp kernel, const TargetInfo &target);

} // namespace headrace::tile
