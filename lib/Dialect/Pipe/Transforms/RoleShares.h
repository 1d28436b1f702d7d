// How the warps of a block and their registers are shared between roles.
#pragma once

#include "headrace/Target/TargetInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace headrace::pipe {

struct RoleShares {
  int64_t computeWarps = 0;
  int64_t loadWarps = 0, loadActive = 0; ///< 0 if the kernel is one role
  /// For setmaxnreg; 0: each thread has what the launch gives it.
  int64_t computeRegisters = 0, loadRegisters = 0;
  /// Registers that a computing thread may use, one way or the other.
  int64_t computeBudget = 0;
};

/// The shares of a kernel that is not split yet. Requires: it has `pipe.warps`, the number of warps that compute.
RoleShares getRoleShares(mlir::func::FuncOp kernel, const TargetInfo &target);

} // namespace headrace::pipe
