// What the Python module asks of the compiler, in types that need no header of LLVM.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headrace::native {

/// How a request ended; the numbers are the exit codes of headrace-compile.
enum Status { Fine = 0, Refused = 1, Usage = 2, Fault = 3 };

struct Request {
  std::string source; ///< a module in the tile dialect
  std::string name;   ///< of its file, for messages
  std::string target, level;
  std::string kernel; ///< empty: the only one
  std::vector<std::pair<std::string, std::string>> settings;
};

struct Answer {
  Status status = Fine;
  std::string code;     ///< the module at the level, PTX, or a cubin
  std::string record;   ///< the launch record as JSON, from the pipe level on
  std::string report;   ///< what was chosen and why, as JSON, the same
  std::string messages; ///< what there is to say, with lines of the source
};

/// Compiles; may run on several threads at once.
Answer compile(const Request &request);
/// The module in MLIR's generic form with locations, unchanged otherwise, as `code`.
Answer toGeneric(const std::string &source, const std::string &name);
/// Names of the targets, oldest first.
std::vector<std::string> targets();

} // namespace headrace::native
