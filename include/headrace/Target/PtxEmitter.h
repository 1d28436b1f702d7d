// From a module of LLVM and NVVM dialect to LLVM IR and PTX text, in process. LLVM runs no
// optimisation of its own before code generation: what guards an accumulator or a slot must stay
// where the pipeline put it.
#ifndef HEADRACE_TARGET_PTXEMITTER_H
#define HEADRACE_TARGET_PTXEMITTER_H

#include "headrace/Target/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace headrace {

/// Registers the translations of the builtin, LLVM and NVVM dialects to LLVM IR. emitLlvm and
/// emitPtx do this themselves for their module's context.
void registerPtxTranslations(mlir::DialectRegistry &registry);

/// LLVM IR text of the module, as code generation gets it: target triple and data layout set, every
/// function convergent and nounwind, every inline-asm call convergent. Requires: only LLVM and NVVM
/// dialect ops, converted by convert-nvvm-to-llvm. Emits a diagnostic on failure.
mlir::FailureOr<std::string> emitLlvm(mlir::ModuleOp llvmDialectModule, const TargetInfo &target, int ptxVersion);

/// PTX text of the module, declaring `.version` ptxVersion (10 * major + minor) and `.target`
/// target.name. Ensures: it calls nothing that it does not define, apart from vprintf,
/// __assertfail, malloc and free. Emits one diagnostic on failure, also where LLVM would abort;
/// LLVM's own words go to `*raw` if given.
mlir::FailureOr<std::string> emitPtx(mlir::ModuleOp llvmDialectModule, const TargetInfo &target, int ptxVersion,
                                     std::string *raw = nullptr);

} // namespace headrace

#endif // HEADRACE_TARGET_PTXEMITTER_H
