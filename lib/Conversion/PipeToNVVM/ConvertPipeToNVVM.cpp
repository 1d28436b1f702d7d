// The pass convert-pipe-to-nvvm. It checks what the lowerings take for granted, converts everything
// inside kernels with one dialect conversion (while roles and kernels still stand, since lowerings
// ask which role an op is in), and then turns roles into branches and kernels into functions of the
// LLVM dialect.
#include "Lowering.h"
#include "Messages.h"
#include "ScalarMath.h"

#include "headrace/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace headrace {
#define GEN_PASS_DEF_CONVERTPIPETONVVM
#include "headrace/Conversion/Passes.h.inc"
} // namespace headrace

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

/// The target that the module names; a diagnostic on failure.
static FailureOr<TargetInfo> readTarget(ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>(tile::kTargetAttr);
  if (!name)
    return module.emitError("expected the attribute ") << tile::kTargetAttr << ", for example \"sm_90a\"";
  std::string whyNot;
  std::optional<TargetInfo> target = parseTarget(name.getValue(), whyNot);
  if (!target)
    return module.emitError(whyNot);
  return *target;
}

//===- conversion
//-------------------------------------------------------------------------------------===//

/// Shared memory is one array for the whole module; each launch says how long it is.
static void declareSharedMemory(ModuleOp module) {
  bool needed = llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp kernel) {
    auto bytes = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttr);
    return bytes && bytes.getInt() > 0;
  });
  if (!needed || module.lookupSymbol(kSharedSymbol))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  // 1024 is what the 128-byte swizzle asks of a slot (SharedLayout::alignment).
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/false, LLVM::Linkage::External, kSharedSymbol,
                         /*value=*/Attribute(), /*alignment=*/1024, unsigned(NVVM::NVVMMemorySpace::Shared));
}

static void populate(lowering::TypeConverter &converter, RewritePatternSet &patterns, const TargetInfo &target) {
  populateElementwise(converter, patterns);
  populateReductions(converter, patterns);
  populateIndexedMemory(converter, patterns);
  populateMessages(converter, patterns);
  populateGlobalMemory(converter, patterns);
  populateSharedMemory(converter, patterns);
  populateRearrangements(converter, patterns);
  populateCopies(converter, patterns, target);
  populateChannels(converter, patterns, target);
  populateMmaSync(converter, patterns, target);
  populateFma(converter, patterns);
  populateWgmma(converter, patterns);
  populateTcgen05(converter, patterns);
  populateKernel(converter, patterns, target);
}

static void setLegality(ConversionTarget &legality, const lowering::TypeConverter &converter) {
  legality.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, vector::VectorDialect, cf::ControlFlowDialect>();
  legality.addLegalOp<ModuleOp, func::ReturnOp, RolesOp>();
  legality.addDynamicallyLegalOp<func::FuncOp>([](func::FuncOp kernel) { return kernel->hasAttr(kConvertedAttr); });
  // Scalars are left to upstream conversions, but for the functions that PTX has no instruction for.
  legality.addDynamicallyLegalDialect<arith::ArithDialect, math::MathDialect>(
      [&](Operation *op) { return converter.isLegal(op) && !needsExpansion(op); });
  legality.addIllegalDialect<tile::TileDialect, gpu::GPUDialect, memref::MemRefDialect, tensor::TensorDialect>();
}

/// Runs `convert`, swallowing the errors that it prints; on failure reports one: the first that a
/// lowering had to say, or that an op has no lowering.
static LogicalResult withOneDiagnostic(ModuleOp module, const TargetInfo &target,
                                       llvm::function_ref<LogicalResult()> convert) {
  std::optional<Location> where;
  std::string message;
  bool specific = false;
  SmallVector<std::pair<Location, std::string>> notes;
  {
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure(); // remarks and warnings are for the user
      std::string text = diagnostic.str();
      bool generic = StringRef(text).starts_with("failed to legalize");
      if (specific || (where && generic))
        return success();
      where = diagnostic.getLocation();
      specific = !generic;
      notes.clear();
      // The note that shows the op is left out: half converted, it would puzzle.
      for (Diagnostic &note : diagnostic.getNotes())
        if (std::string noteText = note.str(); !StringRef(noteText).starts_with("see current operation"))
          notes.emplace_back(note.getLocation(), noteText);
      message = generic ? "no lowering for " + target.name + " of " +
                              StringRef(text).split('\'').second.split('\'').first.str()
                        : text;
      return success();
    });
    if (succeeded(convert()))
      return success();
  }
  InFlightDiagnostic error =
      emitError(where.value_or(module.getLoc()), where ? message : "no lowering for " + target.name + " of the module");
  for (auto &[location, text] : notes)
    error.attachNote(location) << text;
  return error;
}

namespace {
struct ConvertPipeToNVVM : headrace::impl::ConvertPipeToNVVMBase<ConvertPipeToNVVM> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<TargetInfo> target = readTarget(module);
    if (failed(target))
      return signalPassFailure();
    auto kernels = llvm::to_vector(module.getOps<func::FuncOp>());
    for (func::FuncOp kernel : kernels)
      if (failed(checkKernel(kernel, *target)))
        return signalPassFailure();
    declareSharedMemory(module);
    prepareMessages(module);
    if (failed(withOneDiagnostic(module, *target, [&] { return convert(module, *target); })))
      return signalPassFailure();
    for (func::FuncOp kernel : kernels) {
      kernel.walk([&](RolesOp roles) { lowerRoles(roles, *target); });
      eraseMarks(kernel);
      lowerKernel(kernel);
    }
  }

  LogicalResult convert(ModuleOp module, const TargetInfo &target) {
    lowering::TypeConverter converter;
    RewritePatternSet patterns(&getContext());
    ConversionTarget legality(getContext());
    populate(converter, patterns, target);
    setLegality(legality, converter);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, legality);
    return applyFullConversion(module, legality, std::move(patterns));
  }
};
} // namespace
