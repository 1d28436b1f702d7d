// The command line of headrace-compile. Plain parsing: LLVM's own option registry would show some hundred options of
// LLVM to users.
#include "Options.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace headrace;
using llvm::StringRef;

static constexpr const char *kUsage = R"(usage: headrace-compile IN.mlir --target=TARGET [options] [-o OUT]

  --target=sm_90a       what to compile for; --target=help lists the names
  --emit=LEVEL          tile, layout, pipe, nvvm, llvm, ptx, cubin (default; ptx for -o NAME.ptx) or record
  -o OUT                output file; OUT.json beside a .ptx or .cubin is the launch record; '-' is standard output
  --kernel=NAME         which kernel, if the module has several
  --set=NAME=VALUE,...  values of the source's parameters
  --stop-after=PASS     stop after a level or a pass (its name in headrace-opt) and print the module
  --report[=FILE.json]  what was chosen and why, as text on standard error or as JSON in a file; from the pipe level on
  --ptxas=PATH          default: $HEADRACE_PTXAS, $CUDA_HOME, PATH, the pip package nvidia-cuda-nvcc
  --line-info           keep source lines in the cubin (PTX has them always)

exit codes: 0 fine, 1 the program is refused, 2 wrong usage, 3 a fault of headrace
)";

static std::optional<CommandLine> usage(const std::string &message, int &exitCode) {
  llvm::errs() << "headrace-compile: " << message << "\n(headrace-compile --help shows all options)\n";
  exitCode = 2;
  return std::nullopt;
}

/// `A=1,B=2`
static bool parseSettings(StringRef text, CommandLine &line) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    auto [name, value] = part.split('=');
    if (name.empty() || value.empty())
      return false;
    line.settings.emplace_back(name.str(), value.str());
  }
  return true;
}

static bool parseTargetName(StringRef name, CommandLine &line, std::string &message) {
  std::optional<TargetInfo> target = parseTarget(name, message);
  if (target)
    line.compile.target = *target;
  return target.has_value();
}

/// Whether compilation ends before the pipe level is complete, where the launch record and the report are made.
static bool endsBeforePipe(const CompileOptions &options) {
  return options.level < Level::Pipe || (!options.stopAfter.empty() && levelOfPass(options.stopAfter) <= Level::Pipe);
}

std::optional<CommandLine> headrace::parseCommandLine(int argc, char **argv, int &exitCode) {
  CommandLine line;
  bool hasTarget = false;
  StringRef end; // the argument that says where to stop
  for (int i = 1; i < argc; ++i) {
    StringRef argument = argv[i], value;
    auto is = [&](StringRef name) {
      value = argument;
      return value.consume_front(name) && value.consume_front("=");
    };
    std::string message;
    if (argument == "--help" || argument == "-h") {
      llvm::outs() << kUsage;
      exitCode = 0;
      return std::nullopt;
    }
    if (argument == "-o") {
      if (++i == argc)
        return usage("-o needs a file", exitCode);
      line.output = argv[i];
    } else if (argument == "--target=help") {
      for (const TargetInfo &target : allTargets())
        llvm::outs() << target.name << "\n";
      exitCode = 0;
      return std::nullopt;
    } else if (is("--target")) {
      if (!parseTargetName(value, line, message)) {
        llvm::errs() << "error: " << message << "\n";
        exitCode = 1;
        return std::nullopt;
      }
      hasTarget = true;
    } else if (is("--emit")) {
      std::optional<Level> level = parseLevel(value);
      if (!level)
        return usage("unknown level '" + value.str() + "'", exitCode);
      line.compile.level = *level;
      line.wantsRecord = value == "record";
      end = argument;
    } else if (is("--stop-after")) {
      end = argument;
      if (std::optional<Level> level = parseLevel(value))
        line.compile.level = *level;
      else if (levelOfPass(value))
        line.compile.stopAfter = value.str();
      else
        return usage("no level or pass '" + value.str() + "' to stop after", exitCode);
    } else if (is("--kernel")) {
      line.compile.kernel = value.str();
    } else if (is("--set")) {
      if (!parseSettings(value, line))
        return usage("expected --set=NAME=VALUE,..., got '" + value.str() + "'", exitCode);
    } else if (argument == "--report") {
      line.report = true;
    } else if (is("--report")) {
      line.report = true;
      line.reportFile = value.str();
    } else if (is("--ptxas")) {
      line.compile.ptxas.path = value.str();
    } else if (argument == "--line-info") {
      line.compile.ptxas.lineInfo = true;
    } else if (argument.starts_with("-") && argument != "-") {
      return usage("unknown option '" + argument.str() + "'", exitCode);
    } else if (!line.input.empty()) {
      return usage("expected one input file, got '" + line.input + "' and '" + argument.str() + "'", exitCode);
    } else {
      line.input = argument.str();
    }
  }
  if (line.input.empty())
    return usage("expected an input file", exitCode);
  if (!hasTarget)
    return usage("expected --target", exitCode);
  // The name of the output says it where --emit does not.
  if (end.empty() && StringRef(line.output).ends_with(".ptx"))
    line.compile.level = Level::Ptx;
  // The record needs no code.
  if (line.wantsRecord)
    line.compile.level = Level::Pipe;
  if ((line.report || line.wantsRecord) && endsBeforePipe(line.compile))
    return usage((line.report ? "--report" : "--emit=record") + (" needs the whole pipe level, " + end).str() +
                     " ends before",
                 exitCode);
  return line;
}
