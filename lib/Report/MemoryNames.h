// Names for places and warps, so that tools which watch the kernel run can speak of slots and roles.
#ifndef HEADRACE_LIB_REPORT_MEMORYNAMES_H
#define HEADRACE_LIB_REPORT_MEMORYNAMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace headrace {

/// Slots and mbarriers of the kernel's channels in dynamic shared memory: {name, offset, bytes} in order of offset.
/// Requires: pipe-allocate-memory has run.
llvm::json::Array memoryNames(mlir::func::FuncOp kernel);

/// {name, first_warp} of each role, in order.
llvm::json::Array roleNames(mlir::func::FuncOp kernel);

} // namespace headrace

#endif
