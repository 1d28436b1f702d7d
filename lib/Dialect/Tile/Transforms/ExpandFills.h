// Fills of loads that are copied asynchronously.
#pragma once

#include "headrace/Dialect/Tile/IR/Tile.h"

namespace headrace::tile {

/// Rewrites loads with a fill other than zero, if they go through shared memory, as loads that fill with zeros and a select
/// by what is inside the array.
void expandFills(KernelOp kernel);

} // namespace headrace::tile
