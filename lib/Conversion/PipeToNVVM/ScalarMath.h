// math ops on scalars in terms of what NVPTX can select without a library.
#pragma once

#include "Lowering.h"

namespace headrace::lowering {

/// True for an op of the math dialect that must not be left to convert-math-to-llvm, on tiles and
/// scalars alike.
bool needsExpansion(Operation *op);

/// The value of `op` (one result, scalar after conversion) on `operands`; emits an error if there
/// is no expansion for the op or its type. Requires: needsExpansion(op).
mlir::FailureOr<Value> expandMath(OpBuilder &builder, Operation *op, ValueRange operands);

} // namespace headrace::lowering
