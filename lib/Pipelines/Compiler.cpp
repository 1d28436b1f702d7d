// One compilation: the named pipelines in order, the record and the report taken on the way, then LLVM and ptxas.
#include "headrace/Pipelines/Compiler.h"
#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "headrace/Dialect/Tile/IR/Tile.h"
#include "headrace/Pipelines/Pipelines.h"
#include "headrace/Report/KernelReport.h"
#include "headrace/Report/LaunchRecord.h"
#include "headrace/Target/PtxEmitter.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"
#include <future>

using namespace mlir;
using namespace headrace;

std::optional<Level> headrace::parseLevel(StringRef name) {
  return llvm::StringSwitch<std::optional<Level>>(name)
      .Case("tile", Level::Tile)
      .Case("layout", Level::Layout)
      .Case("pipe", Level::Pipe)
      .Case("nvvm", Level::Nvvm)
      .Case("llvm", Level::Llvm)
      .Case("ptx", Level::Ptx)
      .Cases({"cubin", "record"}, Level::Cubin)
      .Default(std::nullopt);
}

std::optional<Level> headrace::levelOfPass(StringRef argument) {
  auto runs = [&](auto... populate) {
    OpPassManager manager(ModuleOp::getOperationName());
    (populate(manager), ...);
    return llvm::any_of(manager.getPasses(), [&](Pass &pass) { return pass.getArgument() == argument; });
  };
  if (runs(populateLayoutPipeline))
    return Level::Layout;
  if (runs(populateChannelPipeline, populateSchedulePipeline))
    return Level::Pipe;
  if (runs(populateNvvmPipeline))
    return Level::Nvvm;
  return std::nullopt;
}

namespace {
/// Runs pipelines on a module; remembers whether an error told the user something.
class Run {
public:
  Run(ModuleOp module, const CompileOptions &options, Compilation &result)
      : module(module), options(options), result(result) {}
  CompileStatus run();

private:
  LogicalResult selectKernel();
  using Populate = void (*)(OpPassManager &);
  /// Runs one pipeline, up to `stopAfter` if it is in it.
  LogicalResult runPipeline(Populate populate);
  bool finishedAt(Level level) { return stopped || options.level == level; }
  CompileStatus finish() {
    if (stopped)
      return CompileStatus::Ok;
    llvm::raw_string_ostream stream(result.text);
    module.print(stream);
    return CompileStatus::Ok;
  }
  /// Asks ptxas for its version, which it takes a while to say, while the passes run.
  void askPtxas();
  CompileStatus generateCode();
  func::FuncOp getKernel();
  /// Tells what ptxas found. It knows lines of the PTX alone, so all of it is said of the kernel.
  CompileStatus takeCubin(PtxasResult assembled);

  ModuleOp module;
  const CompileOptions &options;
  Compilation &result;
  LocationAttr kernelLocation; ///< of the kernel in the source, from selectKernel on
  bool stopped = false;
  std::optional<std::string> ptxas; ///< its path
  std::string whyNoPtxas;
  std::future<void> ptxasAsked; ///< the answer is then known to ptxasIsaVersion
};
} // namespace

/// Leaves the kernel asked for alone in the module.
LogicalResult Run::selectKernel() {
  SmallVector<tile::KernelOp> kernels(module.getOps<tile::KernelOp>());
  if (kernels.empty())
    return module.emitError("expected a tile.kernel, the module has none");
  auto names = [&] {
    std::string list;
    for (tile::KernelOp kernel : kernels)
      list += (list.empty() ? "" : ", ") + kernel.getSymName().str();
    return list;
  };
  if (options.kernel.empty() && kernels.size() > 1)
    return module.emitError("the module has several kernels, choose one with --kernel: ") << names();
  auto isChosen = [&](tile::KernelOp kernel) {
    return options.kernel.empty() || kernel.getSymName() == options.kernel;
  };
  auto chosen = llvm::find_if(kernels, isChosen);
  if (chosen == kernels.end())
    return module.emitError("the module has no kernel '") << options.kernel << "'; it has " << names();
  kernelLocation = chosen->getLoc();
  for (tile::KernelOp kernel : kernels)
    if (kernel != *chosen)
      kernel.erase();
  return success();
}

/// Takes a copy of the module's text after one pass.
class Snapshot : public PassInstrumentation {
public:
  Snapshot(StringRef pass, std::string &text, bool &taken) : pass(pass), text(text), taken(taken) {}
  void runAfterPass(Pass *current, Operation *op) override {
    if (taken || current->getArgument() != pass)
      return;
    llvm::raw_string_ostream stream(text);
    op->print(stream);
    taken = true;
  }

private:
  StringRef pass;
  std::string &text;
  bool &taken;
};

LogicalResult Run::runPipeline(Populate populate) {
  PassManager manager(module->getName());
  // Passes trust verified input and the last one of each level is a verifier: verify between levels, not passes.
  manager.enableVerifier(false);
  populate(manager);
  if (!options.stopAfter.empty())
    manager.addInstrumentation(std::make_unique<Snapshot>(options.stopAfter, result.text, stopped));
  // What comes after the stop is nobody's concern.
  ScopedDiagnosticHandler silence(module.getContext(), [&](Diagnostic &) { return success(stopped); });
  return success(succeeded(manager.run(module)) || stopped);
}

func::FuncOp Run::getKernel() {
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(pipe::kKernelAttr))
      return function;
  return {};
}

void Run::askPtxas() {
  if (options.level < Level::Llvm || !options.stopAfter.empty())
    return;
  ptxas = options.ptxas.path.empty() ? findPtxas(whyNoPtxas) : options.ptxas.path;
  if (ptxas)
    ptxasAsked = std::async(std::launch::async, [path = *ptxas] {
      std::string ignored;
      (void)ptxasIsaVersion(path, ignored);
    });
}

CompileStatus Run::run() {
  askPtxas();
  module->setAttr(tile::kTargetAttr, StringAttr::get(module.getContext(), options.target.name));
  if (failed(selectKernel()))
    return CompileStatus::Refused;
  if (options.level == Level::Tile)
    return finish();
  if (failed(runPipeline(populateLayoutPipeline)))
    return CompileStatus::Refused;
  if (finishedAt(Level::Layout))
    return finish();
  if (failed(runPipeline(populateChannelPipeline)))
    return CompileStatus::Refused;
  if (stopped)
    return finish();
  llvm::json::Array loops = reportLoops(getKernel(), options.target);
  if (failed(runPipeline(populateSchedulePipeline)))
    return CompileStatus::Refused;
  if (stopped)
    return finish();
  FailureOr<llvm::json::Object> record = makeLaunchRecord(getKernel(), options.target);
  if (failed(record))
    return CompileStatus::Refused;
  result.record = std::move(*record);
  addSchedules(loops, getKernel());
  result.report = reportKernel(getKernel(), options.target, std::move(loops));
  if (finishedAt(Level::Pipe))
    return finish();
  // From here on the program is accepted: what fails now is ours.
  if (failed(runPipeline(populateNvvmPipeline)))
    return CompileStatus::InternalError;
  if (finishedAt(Level::Nvvm))
    return finish();
  // ptxas would put the whole text of PTX with source lines into the cubin.
  if ((options.level == Level::Ptx || options.ptxas.lineInfo) && failed(runPipeline(populateSourceLinePipeline)))
    return CompileStatus::InternalError;
  return generateCode();
}

/// The ISA version that the target needs and ptxas, if it is asked, accepts.
CompileStatus Run::generateCode() {
  std::string why = whyNoPtxas;
  int ptxVersion = kLlvmMaxPtx;
  if (ptxas) {
    ptxasAsked.wait();
    std::optional<int> isa = ptxasIsaVersion(*ptxas, why);
    std::optional<int> version = isa ? choosePtxVersion(options.target, *isa, why) : std::nullopt;
    if (version)
      ptxVersion = std::min(kLlvmMaxPtx, std::max(*version, std::min(*isa, kLlvmMaxPtx)));
    else if (options.level == Level::Cubin)
      return module.emitError(why), CompileStatus::Refused;
  } else if (options.level == Level::Cubin) {
    return module.emitError(why), CompileStatus::Refused;
  }
  if (options.level == Level::Llvm) {
    FailureOr<std::string> text = emitLlvm(module, options.target, ptxVersion);
    if (failed(text))
      return CompileStatus::InternalError;
    result.text = std::move(*text);
    return CompileStatus::Ok;
  }
  FailureOr<std::string> ptx = emitPtx(module, options.target, ptxVersion);
  if (failed(ptx))
    return CompileStatus::InternalError;
  result.text = std::move(*ptx);
  if (options.level == Level::Ptx)
    return CompileStatus::Ok;
  PtxasOptions ptxasOptions = options.ptxas;
  ptxasOptions.path = *ptxas;
  return takeCubin(assemble(result.text, options.target, ptxasOptions));
}

CompileStatus Run::takeCubin(PtxasResult assembled) {
  if (!assembled.ok) {
    emitError(kernelLocation) << assembled.error;
    return CompileStatus::InternalError;
  }
  addPtxasReport(*result.report, assembled);
  // A serialised matmul or a spill is a kernel far slower than planned: never silent.
  for (const PtxasNote &note : assembled.performance)
    emitWarning(kernelLocation, "ptxas ") << note.code << ": " << note.text;
  result.cubin = std::move(assembled.cubin);
  return CompileStatus::Ok;
}

CompileStatus headrace::compile(ModuleOp module, const CompileOptions &options, Compilation &result) {
  return Run(module, options, result).run();
}
