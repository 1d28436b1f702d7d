// Products of scaled blocks.
#pragma once

#include "headrace/Dialect/Tile/IR/Tile.h"

namespace headrace::tile {

/// Rewrites every tile.dot_scaled as a tile.dot of bf16 numbers that have taken their scale; returns those. A number of at
/// most 4 bits and a factor of at most 4 have a product that bf16 holds, so nothing is rounded within its range.
llvm::SmallVector<DotOp> expandScales(KernelOp kernel);

} // namespace headrace::tile
