// Runs a program without a shell and keeps what it prints.
#ifndef HEADRACE_LIB_TARGET_PROGRAMRUN_H
#define HEADRACE_LIB_TARGET_PROGRAMRUN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace headrace {

struct ProgramRun {
  int exitCode = 0;
  std::string output;  ///< standard output and standard error, as they came
  std::string problem; ///< why there is no exit code: not started, killed, out of time; else empty
};

/// Runs `path` with `arguments` (without the name itself) and an empty standard input.
/// `timeoutSeconds` 0 waits for ever.
ProgramRun runProgram(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> arguments, unsigned timeoutSeconds = 0);

/// A new temporary file, removed at the end of the scope. `path` is empty if there is none.
struct ScopedFile {
  ScopedFile(llvm::StringRef stem, llvm::StringRef suffix);
  ~ScopedFile();
  ScopedFile(const ScopedFile &) = delete;
  ScopedFile &operator=(const ScopedFile &) = delete;

  std::string path;
  std::string problem; ///< why not
};

/// All bytes of a file, empty if it cannot be read.
std::string readFile(llvm::StringRef path);

} // namespace headrace

#endif // HEADRACE_LIB_TARGET_PROGRAMRUN_H
