// The strides that tensor maps describe.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include <string>

namespace headrace::tile {

/// Why tensor maps cannot describe the strides of `array`, whose dimension `major` is to be contiguous, as "expected X,
/// got Y"; empty if they can. A dynamic stride is taken to be fine: the launch record's contract has it.
std::string whyNotTmaStrides(mlir::MemRefType array, int64_t major);

} // namespace headrace::tile
