// Conversions between the levels.
#pragma once

#include "mlir/Pass/Pass.h"

namespace headrace {
#define GEN_PASS_DECL
#include "headrace/Conversion/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "headrace/Conversion/Passes.h.inc"
} // namespace headrace
