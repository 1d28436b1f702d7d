// The compiler driver: a tile-dialect source file to any level, down to a cubin with its launch record.
#include "Options.h"
#include "headrace/Pipelines/CompileSource.h"
#include "headrace/Report/KernelReport.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

using namespace mlir;
using namespace headrace;

namespace {
/// Files to write, all or none: a failure leaves nothing behind.
class Outputs {
public:
  void add(std::string path, std::string content) { files.emplace_back(std::move(path), std::move(content)); }
  /// A path that two of the files have; empty if there is none.
  StringRef findTwice() const {
    for (size_t i = 0; i < files.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (files[i].first == files[j].first && files[i].first != "-")
          return files[i].first;
    return "";
  }
  bool write() {
    std::vector<std::unique_ptr<llvm::ToolOutputFile>> open;
    for (auto &[path, content] : files) {
      std::error_code error;
      open.push_back(std::make_unique<llvm::ToolOutputFile>(path, error, llvm::sys::fs::OF_None));
      if (error) {
        llvm::errs() << "error: cannot write '" << path << "': " << error.message() << "\n";
        return false;
      }
      open.back()->os() << content;
    }
    for (auto &file : open)
      file->keep();
    return true;
  }

private:
  std::vector<std::pair<std::string, std::string>> files;
};
} // namespace

/// The input as it is; reports on standard error.
static std::optional<Source> readSource(const CommandLine &line) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(line.input);
  if (!file) {
    llvm::errs() << "error: cannot read '" << line.input << "': " << file.getError().message() << "\n";
    return std::nullopt;
  }
  return Source{line.input, (*file)->getBuffer().str(), line.settings};
}

/// "gemm.cubin" -> "gemm.json"
static std::string recordPath(StringRef output) {
  llvm::SmallString<128> path(output);
  llvm::sys::path::replace_extension(path, "json");
  return path.str().str();
}

static void addRecord(Outputs &outputs, const CommandLine &line, Compilation &result) {
  llvm::json::Object &record = *result.record;
  StringRef file = llvm::sys::path::filename(line.output);
  record[line.compile.level == Level::Cubin ? "cubin" : "ptx"] = file;
  outputs.add(recordPath(line.output), llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object(record))));
}

static int writeResults(const CommandLine &line, Compilation &result) {
  Outputs outputs;
  bool code = line.compile.level >= Level::Ptx;
  std::string content = result.text;
  if (line.wantsRecord)
    content = llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object(*result.record)));
  else if (line.compile.level == Level::Cubin && line.compile.stopAfter.empty())
    content.assign(result.cubin.begin(), result.cubin.end());
  outputs.add(line.output, std::move(content));
  // A stream or a device (/dev/null) has no place beside it.
  bool isFile =
      line.output != "-" && (!llvm::sys::fs::exists(line.output) || llvm::sys::fs::is_regular_file(line.output));
  if (code && isFile && line.compile.stopAfter.empty())
    addRecord(outputs, line, result);
  if (line.report && result.report) {
    if (line.reportFile.empty())
      llvm::errs() << formatReport(*result.report);
    else
      outputs.add(line.reportFile, llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object(*result.report))));
  }
  if (StringRef path = outputs.findTwice(); !path.empty()) {
    llvm::errs() << "headrace-compile: the output, its launch record and the report need files of their own, got '"
                 << path << "' twice\n";
    return 2;
  }
  return outputs.write() ? 0 : 1;
}

/// Where a fault of ours leaves what it takes to reproduce it.
static int reportFault(const CommandLine &line, StringRef source) {
  llvm::SmallString<128> path;
  if (!llvm::sys::fs::createTemporaryFile("headrace-fault", "mlir", path)) {
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    if (!error)
      stream << source;
  }
  llvm::errs() << "error: this is a fault of headrace; to reproduce it: headrace-compile " << path
               << " --target=" << line.compile.target.name << "\n";
  return 3;
}

/// A heap of large pages, made at once: faulting in thousands of small ones takes a twentieth of a compilation.
static void growHeap() {
#ifdef __GLIBC__
  constexpr size_t kHeap = size_t(16) << 20, kPage = size_t(2) << 20;
  auto start = reinterpret_cast<uintptr_t>(sbrk(0));
  mallopt(M_TOP_PAD, kHeap + kPage);
  // Two blocks too large for what the heap starts with, too small to get a mapping of their own: it grows.
  void *volatile first = malloc(size_t(120) << 10), *volatile second = malloc(size_t(120) << 10);
  free(first), free(second);
  uintptr_t aligned = (start + kPage - 1) / kPage * kPage;
  if (reinterpret_cast<uintptr_t>(sbrk(0)) >= aligned + kHeap)
    (void)madvise(reinterpret_cast<void *>(aligned), kHeap, MADV_HUGEPAGE);
#endif
}

int main(int argc, char **argv) {
  growHeap();
  int exitCode = 0;
  std::optional<CommandLine> line = parseCommandLine(argc, argv, exitCode);
  if (!line)
    return exitCode;
  if (line->output.empty())
    line->output = line->compile.level == Level::Cubin && line->compile.stopAfter.empty()
                       ? (llvm::sys::path::stem(line->input) + ".cubin").str()
                       : "-";
  std::optional<Source> source = readSource(*line);
  if (!source)
    return 1;
  Compilation result;
  std::string program;
  switch (compileSource(*source, line->compile, result, program, llvm::errs())) {
  case CompileStatus::Refused:
    return 1;
  case CompileStatus::InternalError:
    return reportFault(*line, program);
  case CompileStatus::Ok:
    return writeResults(*line, result);
  }
  return 3;
}
