// How the layouts of an op's tiles depend on each other: the rules by which `tile-infer-layouts` carries a layout from one
// tile to the next.
#pragma once

#include "headrace/Dialect/Tile/IR/Tile.h"

namespace headrace::tile {

/// A tile in registers: what the inference gives a layout to.
bool isRegisterTile(mlir::Value value);

/// Two tiles that should share a layout. If they do not, the tile at `use` is converted to that of `target`; without a
/// use they cannot differ (a loop's argument and its result).
struct Tie {
  mlir::Value source, target;
  mlir::OpOperand *use;
};

/// Whether a reshape between two layouts leaves every element in its thread.
bool onlyRenames(ReshapeOp op);

/// The ties of one op: loops, branches, accumulators, and whatever works element by element.
llvm::SmallVector<Tie> getTies(mlir::Operation *op);

/// The layout that the op's result has if the operand `use` has `layout`; nothing if that does not determine it.
std::optional<TileLayout> getResultLayout(mlir::OpOperand &use, const TileLayout &layout);

/// The tile on which the layout of the operand at `use` depends (of a broadcast its result, of a scatter's positions the
/// stored tile); null if it depends on none.
mlir::Value getGoverningTile(mlir::OpOperand &use);

/// The layout that the operand at `use` must have if its governing tile has `layout`; nothing if that has no say (of a
/// reshape that moves elements between threads).
std::optional<TileLayout> getOperandLayout(mlir::OpOperand &use, const TileLayout &layout);

/// The one layout that an op's operand at `use` can have, whatever its other tiles have (an operand of a matmul).
std::optional<TileLayout> getFixedOperandLayout(mlir::OpOperand &use, int64_t warps);

/// The one layout that a result can have (an accumulator of a matmul).
std::optional<TileLayout> getFixedResultLayout(mlir::OpResult result, int64_t warps);

} // namespace headrace::tile
