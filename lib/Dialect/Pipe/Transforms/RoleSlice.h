// What one role of a specialized kernel executes: the ops that are its own, and whatever they need.
#pragma once

#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace headrace::pipe {

enum class Role { Compute, Load, Mma };

/// The role whose warps an op with effects belongs to; nothing for control flow and for what any role may compute.
std::optional<Role> getOwner(mlir::Operation *op);

/// One role's share of a kernel: the ops it executes, and which values of each loop it carries.
class RoleSlice {
public:
  RoleSlice(mlir::func::FuncOp kernel, Role role) : kernel(kernel), role(role) {}
  /// Marks everything that the role's own ops need.
  void mark();
  bool empty() const { return live.empty(); }
  /// Clones the marked part of the kernel's body to the builder's place.
  void clone(mlir::OpBuilder &builder);

private:
  void need(mlir::Operation *op);
  void need(mlir::Value value);
  void needLoopValue(mlir::scf::ForOp loop, unsigned index);
  void needBefore(mlir::scf::WhileOp loop, unsigned index);
  void needAfter(mlir::scf::WhileOp loop, unsigned index);
  void cloneBlock(mlir::Block &from, mlir::OpBuilder &builder, mlir::IRMapping &mapping);
  void cloneFor(mlir::scf::ForOp loop, mlir::OpBuilder &builder, mlir::IRMapping &mapping);
  void cloneIf(mlir::scf::IfOp branch, mlir::OpBuilder &builder, mlir::IRMapping &mapping);
  void cloneWhile(mlir::scf::WhileOp loop, mlir::OpBuilder &builder, mlir::IRMapping &mapping);
  void cloneOther(mlir::Operation *op, mlir::OpBuilder &builder, mlir::IRMapping &mapping);

  mlir::func::FuncOp kernel;
  Role role;
  llvm::DenseSet<mlir::Operation *> live;
  llvm::DenseSet<std::pair<mlir::Operation *, unsigned>> liveValues; ///< (loop or branch, number of its result)
  llvm::DenseSet<std::pair<mlir::Operation *, unsigned>> liveBefore; ///< (scf.while, number of its initial value)
  llvm::SmallVector<mlir::Operation *> worklist;
};

} // namespace headrace::pipe
