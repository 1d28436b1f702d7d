// The target of a module, and the element types of the instruction table.
#pragma once

#include "headrace/Dialect/Tile/IR/Tile.h"
#include "headrace/Target/MmaAtoms.h"
#include "headrace/Target/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"

namespace headrace::tile {

/// The target named by the module's `tile.target`; emits an error if it is missing or unknown.
mlir::FailureOr<TargetInfo> getTarget(mlir::ModuleOp module);

/// The table's name of an element type; `tf32` says that f32 may be read as tf32. Nothing for types no atom takes.
std::optional<ElemType> getElemType(mlir::Type type, bool tf32 = false);

} // namespace headrace::tile
