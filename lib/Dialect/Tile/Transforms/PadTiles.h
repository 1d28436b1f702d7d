// Padding of odd extents, a step of the plan.
#pragma once

#include "headrace/Dialect/Tile/IR/Tile.h"

namespace headrace::tile {

/// Lengthens extents with few factors of two (127, 1000), where the kernel's threads would otherwise hold the same
/// elements: of what is loaded, computed and stored through registers, not of matmuls' tiles. Elements behind an extent are
/// padding of any value: they are neutral where a reduction or a scan from the end meets them, and stores and atomics leave
/// them out (`valid`). Requires: the warps are chosen.
void padTiles(KernelOp kernel);

} // namespace headrace::tile
