// Translates a module to LLVM IR and generates PTX from it. Between the two stands no optimisation:
// LLVM's passes would move arithmetic on accumulators across the waits that guard them, and
// duplicate inline assembly.
#include "headrace/Target/PtxEmitter.h"

#include "FatalErrorGuard.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace mlir;

namespace headrace {
namespace {

constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";

/// A module in LLVM IR with the context that owns its types.
struct TranslatedModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// LLVM's target features for a PTX ISA version.
std::string featureString(int ptxVersion) { return "+ptx" + std::to_string(ptxVersion); }

void initializeNvptx() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

/// Warp-wide instructions must not be moved into or out of branches. Intrinsics carry that
/// themselves, MLIR's inline asm cannot, and a function inherits it from neither. Target and
/// version are there for who reads the text or gives it to llc.
void setAttributes(llvm::Module &module, const TargetInfo &target, int ptxVersion) {
  for (llvm::Function &function : module) {
    if (function.isIntrinsic())
      continue;
    function.addFnAttr(llvm::Attribute::Convergent);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("target-cpu", target.name);
    function.addFnAttr("target-features", featureString(ptxVersion));
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm())
        call->setConvergent();
  }
}

/// The module in LLVM IR. Null members on failure, with a diagnostic.
TranslatedModule translate(ModuleOp module, const TargetInfo &target, int ptxVersion) {
  DialectRegistry registry;
  registerPtxTranslations(registry);
  module.getContext()->appendDialectRegistry(registry);

  // The translation reads these: default alignments of loads and stores come from the data layout.
  Builder builder(module.getContext());
  llvm::StringRef names[] = {LLVM::LLVMDialect::getTargetTripleAttrName(), LLVM::LLVMDialect::getDataLayoutAttrName()};
  Attribute before[] = {module->getAttr(names[0]), module->getAttr(names[1])};
  llvm::scope_exit restore([&] {
    for (auto [name, attribute] : llvm::zip_equal(names, before))
      attribute ? (void)module->setAttr(name, attribute) : (void)module->removeAttr(name);
  });
  module->setAttr(names[0], builder.getStringAttr(kTriple));
  module->setAttr(names[1], builder.getStringAttr(llvm::Triple(kTriple).computeDataLayout()));

  TranslatedModule translated;
  translated.context = std::make_unique<llvm::LLVMContext>();
  translated.module = translateModuleToLLVMIR(module, *translated.context, "headrace");
  if (translated.module)
    setAttributes(*translated.module, target, ptxVersion);
  return translated;
}

/// Keeps LLVM from strength reduction of straight-line code (SLSR). Addresses are made with few
/// multiplications to begin with, so over some thousand kernels it changed the size of the code by
/// 0.1 % and no measured speed, but took two thirds of code generation: its time grows faster than
/// the square of the instructions.
class NoStraightLineReduction : public llvm::OptPassGate {
public:
  bool shouldRunPass(llvm::StringRef passName, llvm::StringRef) const override { return passName != "slsr"; }
  bool isEnabled() const override { return true; }
};

/// Code generation as a call that may end the process; see runGuarded. Errors that LLVM reports go
/// to `errors`.
void generateCode(llvm::Module &module, const TargetInfo &target, int ptxVersion, llvm::SmallVectorImpl<char> &ptx,
                  std::string &errors) {
  module.getContext().setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *errors) {
        if (info->getSeverity() != llvm::DS_Error)
          return;
        llvm::raw_string_ostream stream(*static_cast<std::string *>(errors));
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
        stream << '\n';
      },
      &errors);
  NoStraightLineReduction gate;
  module.getContext().setOptPassGate(gate);
  const llvm::Triple &triple = module.getTargetTriple();
  const llvm::Target *nvptx = llvm::TargetRegistry::lookupTarget(triple, errors);
  if (!nvptx)
    return;
  // Multiply and add fuse only where `contract` allows it: the default, named because results
  // depend on it.
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(
      nvptx->createTargetMachine(triple, target.name, featureString(ptxVersion), options, std::nullopt, std::nullopt,
                                 llvm::CodeGenOptLevel::Aggressive));
  llvm::raw_svector_ostream stream(ptx);
  llvm::legacy::PassManager passes;
  // The translation to LLVM IR has verified it.
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                   /*DisableVerify=*/true)) {
    errors = "no assembly printer";
    return;
  }
  passes.run(module);
}

/// The function in which LLVM says it gave up, otherwise the module: where to put the diagnostic.
Operation *placeOf(ModuleOp module, llvm::StringRef reason) {
  llvm::SmallVector<llvm::StringRef, 2> match;
  if (llvm::Regex("[Ii]n function:? '?([A-Za-z0-9_.$]+)").match(reason, &match))
    if (Operation *function = module.lookupSymbol(match[1]))
      return function;
  return module;
}

/// One message for what LLVM could not do.
LogicalResult reportCodegenFailure(ModuleOp module, const TargetInfo &target, int ptxVersion, llvm::StringRef reason) {
  InFlightDiagnostic error = placeOf(module, reason)->emitError("internal error: ");
  llvm::SmallVector<llvm::StringRef, 1> match;
  if (llvm::Regex("llvm\\.nvvm\\.[a-z0-9_.]+").match(reason, &match))
    error << "'" << match[0] << "' cannot be generated";
  else
    error << "code cannot be generated";
  return error << " for " << target.name << " with PTX ISA " << formatPtxVersion(ptxVersion);
}

/// Name of the first function that the PTX declares and does not define, empty if there is none.
/// The device run time defines a few.
llvm::StringRef undefinedFunction(llvm::StringRef ptx) {
  for (llvm::StringRef line : llvm::split(ptx, '\n')) {
    if (!line.contains(".extern .func"))
      continue;
    // ".extern .func  (.param .b32 func_retval0) name" or ".extern .func name", also with "(" after
    // the name.
    line = line.split(".func").second.ltrim();
    if (line.starts_with("("))
      line = line.split(')').second.ltrim();
    llvm::StringRef name = line.take_until([](char c) { return c == '(' || c == ';' || c == ' '; });
    bool isDefined = llvm::StringSwitch<bool>(name.rtrim())
                         .Cases({"vprintf", "__assertfail", "malloc", "free"}, true)
                         .Default(false);
    if (!isDefined)
      return name.rtrim();
  }
  return "";
}

/// The first op that names the function or intrinsic, otherwise the module. PTX writes '.' of a
/// name as '_' or '$'.
Operation *callOf(ModuleOp module, llvm::StringRef ptxName) {
  auto normalized = [](llvm::StringRef name) {
    std::string text = name.str();
    for (char &c : text)
      c = llvm::isAlnum(c) ? c : '_';
    return text;
  };
  Operation *found = module;
  module.walk([&](Operation *op) {
    llvm::StringRef callee;
    if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
      callee = call.getIntrin();
    else if (auto call = dyn_cast<LLVM::CallOp>(op))
      callee = call.getCallee().value_or("");
    if (callee.empty() || normalized(callee) != normalized(ptxName))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

} // namespace

void registerPtxTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

FailureOr<std::string> emitLlvm(ModuleOp module, const TargetInfo &target, int ptxVersion) {
  TranslatedModule translated = translate(module, target, ptxVersion);
  if (!translated.module)
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  translated.module->print(stream, nullptr);
  return text;
}

FailureOr<std::string> emitPtx(ModuleOp module, const TargetInfo &target, int ptxVersion, std::string *raw) {
  initializeNvptx();
  TranslatedModule translated = translate(module, target, ptxVersion);
  if (!translated.module)
    return failure();
  llvm::SmallString<0> ptx;
  std::string errors, reason;
  bool finished = runGuarded([&] { generateCode(*translated.module, target, ptxVersion, ptx, errors); }, reason);
  if (!finished || !errors.empty()) {
    reason = errors + reason;
    if (raw)
      *raw = reason;
    if (!finished) {
      // Passes that were left half-way still point into them.
      (void)translated.module.release();
      (void)translated.context.release();
    }
    return reportCodegenFailure(module, target, ptxVersion, reason);
  }
  if (llvm::StringRef name = undefinedFunction(ptx); !name.empty())
    return callOf(module, name)->emitError("internal error: the PTX calls '") << name << "', which nothing defines";
  return ptx.str().str();
}

} // namespace headrace
