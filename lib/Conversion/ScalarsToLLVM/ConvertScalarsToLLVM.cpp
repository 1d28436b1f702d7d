// What is left of upstream dialects becomes LLVM, in one conversion: upstream's passes, one for each dialect, would walk
// the kernel seven times, which is a fifth of the whole compilation.
#include "headrace/Conversion/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace headrace {
#define GEN_PASS_DEF_CONVERTSCALARSTOLLVM
#include "headrace/Conversion/Passes.h.inc"
} // namespace headrace

using namespace mlir;

/// Extents and offsets are below 2^31: 32-bit index arithmetic halves registers and instructions. Addresses are made in
/// 64 bits by the lowering before.
static constexpr unsigned kIndexBits = 32;

namespace {
struct ConvertScalarsToLLVM : headrace::impl::ConvertScalarsToLLVMBase<ConvertScalarsToLLVM> {
  void runOnOperation() override {
    LowerToLLVMOptions options(&getContext());
    options.overrideIndexBitwidth(kIndexBits);
    LLVMTypeConverter types(&getContext(), options);
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    populateMathToLLVMConversionPatterns(types, patterns);
    populateVectorToLLVMConversionPatterns(types, patterns);
    index::populateIndexToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    populateNVVMToLLVMConversionPatterns(patterns);

    ConversionTarget target(getContext());
    target.addLegalDialect<LLVM::LLVMDialect>();
    target.addIllegalDialect<arith::ArithDialect, math::MathDialect, vector::VectorDialect, index::IndexDialect,
                             cf::ControlFlowDialect>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
