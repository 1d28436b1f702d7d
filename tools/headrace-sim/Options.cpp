// The command line of headrace-sim.
#include "Options.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace headrace::sim;
using llvm::StringRef;

static constexpr const char *kUsage =
    R"(usage: headrace-sim KERNEL.json --arg NAME=VALUE ... [--out NAME=FILE.npy ...] [options]

Runs the PTX of a launch record on the CPU and reports races, deadlocks and other faults.

  --arg NAME=FILE.npy          an array; bf16 and 8-bit floats travel as uint16 and uint8
  --arg NAME=FILE.npy[2:9,:5]  a part of it: the rows keep their distance; [0:9:2] takes every second element
  --arg NAME=new:128x64        an array of that shape, filled with the byte 0xff
  --arg NAME=3                 a scalar
  --out NAME=FILE.npy          writes the array NAME as the kernel left it
  --out NAME=whole:FILE.npy    the file's whole array, if NAME is a part of it
  --ptx=FILE                   the PTX, if the record does not name it
  --grid=X,Y,Z                 programs to launch, instead of the record's expressions
  --processors=N               multiprocessors that a persistent kernel is launched for (132)
  --policy=early|late|reversed|random   when asynchronous operations are done (random)
  --seed=N                     of the random order (0)
  --seeds=N                    runs N times: early, late, reversed, then random orders of different seeds
  --exhaustive                 runs every order of completion (of a small kernel) and says how many states there were
  --check=KIND,...             report findings of these kinds only: races, deadlock, or names as in the report
  --jobs=N                     host threads (all)
  --time-limit=SECONDS         stop a run after this time
  --progress                   show how many programs have ended

exit codes: 0 nothing found, 1 something found or an argument refused, 2 wrong usage, 3 a fault of headrace
)";

static std::optional<CommandLine> usage(const std::string &message, int &exitCode) {
  llvm::errs() << "headrace-sim: " << message << "\n(headrace-sim --help shows all options)\n";
  exitCode = 2;
  return std::nullopt;
}

static std::optional<Policy> parsePolicy(StringRef text) {
  if (text == "early")
    return Policy::Early;
  if (text == "late")
    return Policy::Late;
  if (text == "reversed")
    return Policy::Reversed;
  if (text == "random")
    return Policy::Random;
  return std::nullopt;
}

static bool parseGrid(StringRef text, CommandLine &line) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  std::array<uint32_t, 3> grid = {1, 1, 1};
  for (size_t i = 0; i < parts.size(); ++i)
    if (i >= 3 || parts[i].getAsInteger(10, grid[i]))
      return false;
  line.grid = grid;
  return true;
}

/// `races,deadlock`: names of findings, and "races" for all kinds of them.
static bool parseChecks(StringRef text, CommandLine &line) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    bool known = false;
    for (int i = 0; i <= static_cast<int>(FindingKind::TimeLimit); ++i) {
      auto kind = static_cast<FindingKind>(i);
      bool isRace = kind <= FindingKind::RegisterInFlight;
      if (part == nameOf(kind) || (part == "races" && isRace)) {
        line.checks.insert(kind);
        known = true;
      }
    }
    if (!known)
      return false;
  }
  return true;
}

static bool parseNamed(StringRef text, std::vector<std::pair<std::string, std::string>> &into) {
  auto [name, value] = text.split('=');
  if (name.empty() || value.empty())
    return false;
  into.emplace_back(name.str(), value.str());
  return true;
}

/// An option `--name=value`. Result: false if the value is wrong; `known` says whether the option exists.
static bool parseOption(StringRef name, StringRef value, CommandLine &line, bool &known) {
  known = true;
  if (name == "--ptx") {
    line.ptx = value.str();
    return !value.empty();
  }
  if (name == "--grid")
    return parseGrid(value, line);
  if (name == "--policy")
    return (line.policy = parsePolicy(value)).has_value();
  if (name == "--check")
    return parseChecks(value, line);
  if (name == "--seed")
    return !value.getAsInteger(0, line.seed);
  if (name == "--seeds")
    return !value.getAsInteger(10, line.seeds) && line.seeds > 0;
  if (name == "--jobs")
    return !value.getAsInteger(10, line.jobs) && line.jobs > 0;
  if (name == "--processors")
    return !value.getAsInteger(10, line.processors) && line.processors > 0;
  if (name == "--time-limit")
    return !value.getAsDouble(line.timeLimit) && line.timeLimit > 0;
  if (name == "--arg")
    return parseNamed(value, line.arguments);
  if (name == "--out")
    return parseNamed(value, line.outputs);
  known = false;
  return false;
}

std::optional<CommandLine> headrace::sim::parseCommandLine(int argc, char **argv, int &exitCode) {
  CommandLine line;
  for (int i = 1; i < argc; ++i) {
    StringRef argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      llvm::outs() << kUsage;
      exitCode = 0;
      return std::nullopt;
    }
    if (argument == "--progress") {
      line.progress = true;
      continue;
    }
    if (argument == "--exhaustive") {
      line.exhaustive = true;
      continue;
    }
    if (!argument.starts_with("--")) {
      if (!line.record.empty())
        return usage("two records, '" + line.record + "' and '" + argument.str() + "'", exitCode);
      line.record = argument.str();
      continue;
    }
    auto [name, value] = argument.split('=');
    if ((argument == "--arg" || argument == "--out") && i + 1 < argc)
      value = argv[++i];
    bool known = false;
    if (!parseOption(name, value, line, known))
      return usage(known ? "option '" + name.str() + "' cannot be '" + value.str() + "'"
                         : "unknown option '" + name.str() + "'",
                   exitCode);
  }
  if (line.record.empty())
    return usage("expected a launch record", exitCode);
  if (line.exhaustive && (line.policy || line.seeds > 1))
    return usage("--exhaustive chooses the orders itself, without --policy and --seeds", exitCode);
  return line;
}
