// One compilation of source text, parameters and all: what headrace-compile and the Python module have in common.
#pragma once

#include "headrace/Pipelines/Compiler.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <utility>
#include <vector>

namespace headrace {

/// A module in the tile dialect as users write it, with `// param` lines.
struct Source {
  std::string name; ///< of the file, for messages
  std::string text;
  std::vector<std::pair<std::string, std::string>> settings; ///< values of parameters
};

/// Parses a module of our dialects, called `name` in messages, and calls `body` with it. Result: false, with messages, if
/// it does not parse.
bool withParsed(llvm::StringRef program, llvm::StringRef name, llvm::raw_ostream &messages,
                llvm::function_ref<void(mlir::ModuleOp)> body);

/// Compiles `source`. What there is to say goes to `messages`, with lines of the source and excerpts of them. `program`
/// becomes the text with its parameters replaced: it reproduces a fault without them.
CompileStatus compileSource(const Source &source, const CompileOptions &options, Compilation &result,
                            std::string &program, llvm::raw_ostream &messages);

} // namespace headrace
