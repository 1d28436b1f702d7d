// A check that kernels of both levels share.
#pragma once

#include "mlir/IR/Operation.h"

namespace headrace::tile {

/// Checks that every memref.dim inside `kernel` asks for a dimension that the array has, named by
/// an arith.constant: upstream's folders take that for granted. Emits an error otherwise. Ops
/// inside need not be verified yet.
mlir::LogicalResult verifyDims(mlir::Operation *kernel);

} // namespace headrace::tile
