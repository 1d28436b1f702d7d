// Runs a program without a shell and keeps what it prints.
#include "ProgramRun.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <optional>

namespace headrace {

ScopedFile::ScopedFile(llvm::StringRef stem, llvm::StringRef suffix) {
  llvm::SmallString<128> created;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile(stem, suffix, created))
    problem = "no temporary file: " + error.message();
  else
    path = created.str().str();
}

ScopedFile::~ScopedFile() {
  if (!path.empty())
    llvm::sys::fs::remove(path);
}

std::string readFile(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

ProgramRun runProgram(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> arguments, unsigned timeoutSeconds) {
  ProgramRun run;
  ScopedFile output("headrace-run", "log");
  if (output.path.empty()) {
    run.problem = output.problem;
    return run;
  }
  llvm::SmallVector<llvm::StringRef> argv = {path};
  argv.append(arguments.begin(), arguments.end());
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), llvm::StringRef(output.path),
                                                llvm::StringRef(output.path)};
  std::string message;
  bool notStarted = false;
  run.exitCode = llvm::sys::ExecuteAndWait(path, argv, /*Env=*/std::nullopt, redirects, timeoutSeconds,
                                           /*MemoryLimit=*/0, &message, &notStarted);
  run.output = readFile(output.path);
  if (notStarted || run.exitCode == -1)
    run.problem = "'" + path.str() + "' cannot be started: " + message;
  else if (run.exitCode < 0)
    run.problem = "'" + path.str() + "' was stopped: " + message;
  return run;
}

} // namespace headrace
