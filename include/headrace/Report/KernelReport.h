// What the compiler chose for a kernel and why nothing faster: for people as a table, for programs as JSON.
#pragma once

#include "headrace/Target/Ptxas.h"
#include "headrace/Target/TargetInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace headrace {

/// Collects the loops of a kernel while they are still whole: at the pipe level, depths chosen, before expansion.
/// Each entry: location, stages, the cycles of a trip by resource, what binds, why it is not pipelined (if it is not).
llvm::json::Array reportLoops(mlir::func::FuncOp kernel, const TargetInfo &target);

/// Adds to each loop what pipe-schedule-stages decided about it, as `schedule`. Requires: `loops` from reportLoops for the
/// same kernel.
void addSchedules(llvm::json::Array &loops, mlir::func::FuncOp kernel);

/// Channels, copies, matmuls and roles of a kernel at the pipe level, all passes run; `loops` from reportLoops.
llvm::json::Object reportKernel(mlir::func::FuncOp kernel, const TargetInfo &target, llvm::json::Array loops);

/// Adds what ptxas says: registers, spills, notes.
void addPtxasReport(llvm::json::Object &report, const PtxasResult &result);

/// The report as text, one fact a line.
std::string formatReport(const llvm::json::Object &report);

} // namespace headrace
