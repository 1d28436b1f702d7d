// How threads read and write slots of shared memory, and the bank conflicts that this is predicted to have.
#pragma once

#include "headrace/Target/TargetInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace headrace {

/// One entry for each way in which a kernel's threads access a channel: {"channel", "direction": "read" or "write",
/// "instruction": "ldmatrix", "stmatrix" or "vector", "bytes" of one thread's access, "bank_conflicts": extra wavefronts of
/// the worst phase}.
llvm::json::Array reportSharedAccesses(mlir::func::FuncOp kernel, const TargetInfo &target);

} // namespace headrace
