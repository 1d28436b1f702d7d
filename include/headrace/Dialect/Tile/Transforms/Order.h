// Which accesses of global memory have to stay in the order of the program.
#pragma once

#include "headrace/Dialect/Tile/IR/Tile.h"

namespace headrace::tile {

/// The array that an op reads or writes; null for other ops.
mlir::Value getReadArray(mlir::Operation *op);
mlir::Value getWrittenArray(mlir::Operation *op);

/// Whether other ops of the kernel, or other trips of a loop, may read or write what this op reads or writes, so that
/// threads must meet before it.
bool needsOrder(mlir::Operation *access);

} // namespace headrace::tile
