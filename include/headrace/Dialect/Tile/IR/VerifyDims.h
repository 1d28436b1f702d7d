// Checks that kernels of both levels share.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace headrace::tile {

/// Checks that every memref.dim inside `kernel` asks for a dimension that the array has, named by
/// an arith.constant: upstream's folders take that for granted. Emits an error otherwise. Ops
/// inside need not be verified yet.
mlir::LogicalResult verifyDims(mlir::Operation *kernel);

/// Checks that `valid`, if there is one, has an extent of 1 to that of `tile` for each dimension. Emits an error otherwise.
mlir::LogicalResult verifyValid(mlir::Operation *op, mlir::RankedTensorType tile,
                                std::optional<llvm::ArrayRef<int64_t>> valid);

} // namespace headrace::tile
