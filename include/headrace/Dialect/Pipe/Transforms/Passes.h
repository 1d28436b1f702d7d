// Passes on the pipe dialect.
#pragma once

#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "mlir/Pass/Pass.h"

namespace headrace::pipe {
#define GEN_PASS_DECL
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe
