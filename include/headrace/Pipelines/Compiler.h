// One compilation, from source text to the level asked for: what headrace-compile and the Python module call.
#pragma once

#include "headrace/Target/Ptxas.h"
#include "headrace/Target/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace headrace {

/// Levels at which compilation can stop, in order.
enum class Level { Tile, Layout, Pipe, Nvvm, Llvm, Ptx, Cubin };
std::optional<Level> parseLevel(llvm::StringRef name);
/// The level that the first pass with this argument is on the way to; nullopt if none runs it.
std::optional<Level> levelOfPass(llvm::StringRef argument);

struct CompileOptions {
  TargetInfo target;
  std::string kernel; ///< name of the kernel; empty: the only one
  Level level = Level::Cubin;
  std::string stopAfter; ///< argument of a pass: stop there and print the module
  PtxasOptions ptxas;
};

struct Compilation {
  std::string text;                         ///< the module at `level`, or the PTX
  std::vector<char> cubin;                  ///< only at Level::Cubin
  std::optional<llvm::json::Object> record; ///< from Level::Pipe on
  std::optional<llvm::json::Object> report; ///< the same
};

/// How a compilation failed: the user's program is refused, or we have a fault.
enum class CompileStatus { Ok, Refused, InternalError };

/// Compiles `module` in place. Diagnostics go to the context's handlers.
CompileStatus compile(mlir::ModuleOp module, const CompileOptions &options, Compilation &result);

} // namespace headrace
