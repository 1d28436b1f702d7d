// What `tile-plan` decides and later passes ask again.
#pragma once

#include "headrace/Dialect/Tile/IR/Tile.h"

namespace headrace::tile {

/// On a load, store or dot: why nothing faster was chosen (a sentence); absent if nothing is.
inline constexpr llvm::StringLiteral kWhyAttr = "tile.why_not_faster";
/// On a kernel: whether copies (and tcgen05) get warps of their own (bool).
inline constexpr llvm::StringLiteral kSpecializeAttr = "tile.specialize";

/// Whether the user wants the trips of this loop to overlap.
bool isPipelined(ForOp loop);

/// Whether a matmul reads this tile as operand a or b.
bool feedsDot(mlir::Value tile);

/// Whether a load goes through shared memory: for a matmul, or to be in flight during earlier trips.
bool movesThroughShared(LoadOp load);

} // namespace headrace::tile
