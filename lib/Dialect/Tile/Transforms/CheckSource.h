// What a kernel may consist of when it enters the compiler.
#pragma once

#include "headrace/Dialect/Tile/IR/Tile.h"
#include "headrace/Target/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"

namespace headrace::tile {

/// Checks that a module with tile kernels has nothing else; emits an error otherwise.
mlir::LogicalResult checkModule(mlir::ModuleOp module);

/// Checks that every op of the kernel has a lowering for `target`, on types that exist there, and
/// that no tile has a layout yet; emits an error at the first op that is not so.
mlir::LogicalResult checkSource(KernelOp kernel, const TargetInfo &target);

} // namespace headrace::tile
