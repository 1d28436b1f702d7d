// Assembles PTX through temporary files.
#include "headrace/Target/Ptxas.h"

#include "ProgramRun.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

namespace headrace {
namespace {

/// Writes `text` to the file, true on success.
bool writeFile(llvm::StringRef path, llvm::StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return false;
  stream << text;
  stream.close();
  bool written = !stream.has_error();
  stream.clear_error();
  return written;
}

/// The command line after the program's name.
std::vector<std::string> commandLine(const TargetInfo &target, const PtxasOptions &options, const std::string &input,
                                     const std::string &output) {
  std::vector<std::string> line = {"-v", "-arch=" + target.name, "-O" + std::to_string(options.optLevel)};
  if (options.lineInfo)
    line.push_back("-lineinfo");
  if (options.maxRegisters > 0)
    line.push_back("--maxrregcount=" + std::to_string(options.maxRegisters));
  line.insert(line.end(), {input, "-o", output});
  return line;
}

} // namespace

PtxasResult assemble(llvm::StringRef ptx, const TargetInfo &target, const PtxasOptions &options) {
  PtxasResult result;
  std::string path = options.path;
  if (path.empty()) {
    std::optional<std::string> found = findPtxas(result.error);
    if (!found)
      return result;
    path = *found;
  }
  ScopedFile input("headrace", "ptx"), output("headrace", "cubin");
  if (input.path.empty() || output.path.empty() || !writeFile(input.path, ptx)) {
    result.error = "ptxas cannot be given its input: no space for temporary files";
    return result;
  }
  std::vector<std::string> line = commandLine(target, options, input.path, output.path);
  llvm::SmallVector<llvm::StringRef> arguments(line.begin(), line.end());
  ProgramRun run = runProgram(path, arguments, options.timeoutSeconds);
  result.raw = run.output;
  if (!run.problem.empty()) {
    result.error = run.problem;
    return result;
  }
  parsePtxasOutput(run.output, target, result);
  std::string cubin = run.exitCode == 0 ? readFile(output.path) : std::string();
  if (cubin.empty() && result.error.empty())
    result.error = "internal error: ptxas ended with code " + std::to_string(run.exitCode) + " and no cubin";
  result.ok = result.error.empty();
  if (result.ok)
    result.cubin.assign(cubin.begin(), cubin.end());
  return result;
}

} // namespace headrace
