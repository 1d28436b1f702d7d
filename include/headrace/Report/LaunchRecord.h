// The launch record: what a launcher must know of a kernel, and what it must check.
#pragma once

#include "headrace/Target/TargetInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace headrace {

/// The record (version 1, see docs/launch-record.md) of a kernel at the pipe level, all passes run.
/// An argument without a type the record can name is an error on the kernel.
mlir::FailureOr<llvm::json::Object> makeLaunchRecord(mlir::func::FuncOp kernel, const TargetInfo &target);

} // namespace headrace
