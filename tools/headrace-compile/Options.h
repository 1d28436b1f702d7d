// The command line of headrace-compile.
#pragma once

#include "headrace/Pipelines/Compiler.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace {

struct CommandLine {
  std::string input, output;
  CompileOptions compile;
  std::vector<std::pair<std::string, std::string>> settings; ///< --set
  bool wantsRecord = false;                                  ///< --emit=record: the record is the output
  bool report = false;
  std::string reportFile; ///< empty: print to standard error
};

/// Parses the command line. On failure (or --help, --version) returns nothing and `exitCode` says what to exit with.
std::optional<CommandLine> parseCommandLine(int argc, char **argv, int &exitCode);

} // namespace headrace
