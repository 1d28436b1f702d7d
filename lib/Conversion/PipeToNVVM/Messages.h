// Strings and functions that checks and messages need, made before the conversion.
#pragma once

#include "Lowering.h"

namespace headrace::lowering {

/// Declares what the asserts and prints of the module's kernels call, and puts their texts into it. Requires: nothing
/// has been converted.
void prepareMessages(mlir::ModuleOp module);

} // namespace headrace::lowering
