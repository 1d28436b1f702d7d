// The simulator's driver: a launch record, its PTX and arrays in, findings and arrays out.
#include "Options.h"
#include "Values.h"

#include "headrace/Sim/Launch/Grid.h"
#include "headrace/Sim/Launch/Kernel.h"
#include "headrace/Sim/Launch/Report.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

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

/// Prints what a run found. Result: how many findings.
static size_t report(const CommandLine &line, const Findings &findings, const Launch &launch, const Kernel &kernel) {
  size_t count = 0;
  for (const Findings::Entry &entry : findings.sorted()) {
    if (!isWanted(line, entry.finding.kind))
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
    std::error_code code;
    llvm::raw_fd_ostream file(path, code, llvm::sys::fs::OF_None);
    if (code) {
      error = "cannot write '" + path + "': " + code.message();
      return false;
    }
    file << writeNpy(viewOf(values.arrays[i], values.passed[i]));
  }
  return true;
}

/// Runs once for each seed. Result: the exit code.
static int simulate(const CommandLine &line, const Kernel &kernel, const Values &given) {
  size_t found = 0;
  Values values;
  for (unsigned index = 0; index < line.seeds; ++index) {
    values = given;
    values.rebase();
    GlobalMemory memory;
    std::string error;
    std::optional<Launch> launch =
        makeLaunch(kernel.record, kernel.program, values.passed, line.processors, memory, error);
    if (!launch)
      return refuse(error);
    if (line.grid)
      launch->grid = *line.grid;
    launch->policy = policyOf(line, index);
    launch->seed = line.seed + index;
    RunOptions options;
    options.hostThreads = line.jobs;
    options.timeLimit = line.timeLimit;
    if (line.progress)
      options.progress = [](int64_t done, int64_t all) {
        llvm::errs() << "\r" << done << " of " << all << " programs" << (done == all ? "\n" : "");
      };
    Findings findings;
    runGrid(kernel.program, *launch, options, findings);
    found += report(line, findings, *launch, kernel);
    if (found)
      break; // another order would mostly say the same again
  }
  std::string error;
  if (!writeOutputs(line, kernel.record, values, error))
    return refuse(error);
  return found ? 1 : 0;
}

int main(int argc, char **argv) {
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
  return simulate(*line, *kernel, *values);
}
