// The simulator's driver: a launch record, its PTX and arrays in, findings and arrays out.
#include "Options.h"
#include "Values.h"

#include "headrace/Sim/Launch/Explorer.h"
#include "headrace/Sim/Launch/Grid.h"
#include "headrace/Sim/Launch/Kernel.h"
#include "headrace/Sim/Launch/Report.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>

using namespace headrace::sim;

static int refuse(const std::string &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

static std::optional<std::string> readFile(const std::string &path, std::string &error) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (file)
    return (*file)->getBuffer().str();
  error = "cannot read '" + path + "': " + file.getError().message();
  return std::nullopt;
}

/// The record's own PTX lies beside it.
static std::string ptxPath(const CommandLine &line, const std::string &recordJson) {
  if (!line.ptx.empty())
    return line.ptx;
  std::string error;
  std::optional<Record> record = Record::parse(recordJson, error);
  llvm::SmallString<128> path(llvm::sys::path::parent_path(line.record));
  if (record && !record->ptx.empty())
    llvm::sys::path::append(path, record->ptx);
  else
    llvm::sys::path::append(path, llvm::sys::path::stem(line.record) + ".ptx");
  return path.str().str();
}

static std::unique_ptr<Kernel> loadKernel(const CommandLine &line, std::string &error) {
  std::optional<std::string> json = readFile(line.record, error);
  if (!json)
    return nullptr;
  std::string path = ptxPath(line, *json);
  std::optional<std::string> ptx = readFile(path, error);
  return ptx ? Kernel::load(*json, *ptx, path, error) : nullptr;
}

/// The order of run number `index`.
static Policy policyOf(const CommandLine &line, unsigned index) {
  constexpr Policy first[] = {Policy::Early, Policy::Late, Policy::Reversed};
  if (line.policy)
    return *line.policy;
  return line.seeds > 1 && index < 3 ? first[index] : Policy::Random;
}

static bool isWanted(const CommandLine &line, FindingKind kind) {
  return line.checks.empty() || line.checks.count(kind) || kind == FindingKind::TimeLimit;
}

/// Prints what a run found; of one that was given up the threads that were left waiting do not count. Result: how many
/// findings.
static size_t report(const CommandLine &line, const Findings &findings, const Launch &launch, const Kernel &kernel,
                     bool gaveUp) {
  size_t count = 0;
  for (const Findings::Entry &entry : findings.sorted()) {
    if (!isWanted(line, entry.finding.kind) || (gaveUp && entry.finding.kind == FindingKind::Deadlock))
      continue;
    llvm::errs() << describe(entry, launch, kernel.module);
    ++count;
  }
  return count;
}

static bool writeOutputs(const CommandLine &line, const Record &record, const Values &values, std::string &error) {
  for (const auto &[name, path] : line.outputs) {
    size_t i = 0;
    while (i < record.arguments.size() && record.arguments[i].name != name)
      ++i;
    if (i == record.arguments.size() || !record.arguments[i].isArray) {
      error = "--out: '" + name + "' is not an array of kernel '" + record.kernel + "'";
      return false;
    }
    llvm::StringRef to = path;
    bool isWhole = to.consume_front("whole:");
    std::error_code code;
    llvm::raw_fd_ostream file(to, code, llvm::sys::fs::OF_None);
    if (code) {
      error = "cannot write '" + to.str() + "': " + code.message();
      return false;
    }
    file << writeNpy(isWhole ? values.arrays[i] : viewOf(values.arrays[i], values.passed[i]));
  }
  return true;
}

/// One run of the kernel on fresh copies of the arguments.
struct Run {
  Values values;
  size_t found = 0;
  std::string error;   ///< why the arguments are refused
  std::string printed; ///< by the kernel
};

static uint64_t digestOf(const Values &values) {
  uint64_t hash = 0;
  for (const NpyArray &array : values.arrays)
    for (uint8_t byte : array.data)
      hash = (hash ^ byte) * 0x100000001B3u; // FNV-1a
  return hash;
}

static Run runOnce(const CommandLine &line, const Kernel &kernel, const Values &given, Policy policy, uint64_t seed,
                   Explorer *explorer = nullptr) {
  Run run{given, 0, "", ""};
  run.values.rebase();
  if (explorer)
    explorer->world = [&run] { return digestOf(run.values); };
  GlobalMemory memory;
  std::optional<Launch> launch =
      makeLaunch(kernel.record, kernel.program, run.values.passed, line.processors, memory, run.error);
  if (!launch)
    return run;
  if (line.grid)
    launch->grid = *line.grid;
  run.error = invalidGrid(launch->grid, launch->cluster);
  if (!run.error.empty())
    return run;
  launch->policy = policy;
  launch->chooser = explorer;
  launch->seed = seed;
  RunOptions options;
  options.hostThreads = explorer ? 1 : line.jobs;
  options.timeLimit = line.timeLimit;
  if (line.progress && !explorer)
    options.progress = [](int64_t done, int64_t all) {
      llvm::errs() << "\r" << done << " of " << all << " programs" << (done == all ? "\n" : "");
    };
  Output output;
  launch->output = &output;
  Findings findings;
  runGrid(kernel.program, *launch, options, findings);
  run.printed = output.text();
  run.found = report(line, findings, *launch, kernel, explorer && explorer->gaveUp());
  return run;
}

/// The exit code, after what the last run printed and its outputs are written.
static int finish(const CommandLine &line, const Kernel &kernel, const Run &last) {
  llvm::outs() << last.printed;
  std::string error = last.error;
  if (!error.empty() || !writeOutputs(line, kernel.record, last.values, error))
    return refuse(error);
  return last.found ? 1 : 0;
}

/// Runs once for each seed, up to the first finding: another order would mostly say the same again.
static int simulate(const CommandLine &line, const Kernel &kernel, const Values &given) {
  Run run;
  for (unsigned index = 0; index < line.seeds && !run.found && run.error.empty(); ++index)
    run = runOnce(line, kernel, given, policyOf(line, index), line.seed + index);
  return finish(line, kernel, run);
}

/// Runs every order of completion, and compares what they leave in memory.
static int explore(const CommandLine &line, const Kernel &kernel, const Values &given) {
  Explorer explorer;
  auto start = std::chrono::steady_clock::now();
  auto isOver = [&] {
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return line.timeLimit > 0 && passed.count() > line.timeLimit;
  };
  Run first = runOnce(line, kernel, given, Policy::Chosen, line.seed, &explorer);
  bool isComplete = !explorer.next();
  while (!first.found && first.error.empty() && !isComplete && !isOver()) {
    Run run = runOnce(line, kernel, given, Policy::Chosen, line.seed, &explorer);
    for (size_t i = 0; i < run.values.arrays.size() && !run.found && !explorer.gaveUp(); ++i) {
      if (run.values.arrays[i].data == first.values.arrays[i].data)
        continue;
      llvm::errs() << "error: array '" << kernel.record.arguments[i].name
                   << "' depends on the order in which operations complete\n";
      run.found = 1;
    }
    first.found = run.found;
    isComplete = !explorer.next();
  }
  if (first.error.empty())
    llvm::outs() << "explored " << explorer.runs() << " runs over " << explorer.states() << " states with a choice"
                 << (isComplete ? ": every order of completion" : ", not all of them") << "\n";
  return finish(line, kernel, first);
}

/// Takes the place of an exception that nobody would catch.
[[noreturn]] static void refuseForLackOfMemory() {
  std::fputs("error: the kernel needs more memory than there is\n", stderr);
  std::_Exit(1);
}

int main(int argc, char **argv) {
  std::set_new_handler(refuseForLackOfMemory);
  int exitCode = 0;
  std::optional<CommandLine> line = parseCommandLine(argc, argv, exitCode);
  if (!line)
    return exitCode;
  std::string error;
  std::unique_ptr<Kernel> kernel = loadKernel(*line, error);
  if (!kernel)
    return refuse(error);
  std::optional<Values> values = readValues(kernel->record, line->arguments, error);
  if (!values)
    return refuse(error);
  return line->exhaustive ? explore(*line, *kernel, *values) : simulate(*line, *kernel, *values);
}
