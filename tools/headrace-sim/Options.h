// The command line of headrace-sim.
#pragma once

#include "headrace/Sim/Machine/Engine.h"
#include "headrace/Sim/Machine/Finding.h"

#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headrace::sim {

struct CommandLine {
  std::string record;
  std::string ptx;                                            ///< empty: the record's own
  std::vector<std::pair<std::string, std::string>> arguments; ///< --arg NAME=VALUE
  std::vector<std::pair<std::string, std::string>> outputs;   ///< --out NAME=FILE
  std::optional<std::array<uint32_t, 3>> grid;
  std::optional<Policy> policy; ///< empty: a random order, or one of each with --seeds
  uint64_t seed = 0;
  unsigned seeds = 1;
  bool exhaustive = false;
  unsigned jobs = 0;
  int64_t processors = 132;
  double timeLimit = 0;
  std::set<FindingKind> checks; ///< empty: all
  bool progress = false;
};

/// Parses the command line. On failure (or --help) returns nothing and `exitCode` says what to exit with.
std::optional<CommandLine> parseCommandLine(int argc, char **argv, int &exitCode);

} // namespace headrace::sim
