// The compiler's stages, in order.
#include "headrace/Pipelines/Pipelines.h"
#include "headrace/Conversion/Passes.h"
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "headrace/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace headrace;

/// Extents and offsets are below 2^31: 32-bit index arithmetic halves registers and instructions. Addresses are made in
/// 64 bits by the lowering.
static constexpr unsigned kIndexBits = 32;

void headrace::populateLayoutPipeline(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(tile::createTilePlan());
  manager.addPass(tile::createTilePlaceTiles());
  manager.addPass(tile::createTileInferLayouts());
}

void headrace::populateChannelPipeline(OpPassManager &manager) {
  manager.addPass(createConvertTileToPipe());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(pipe::createPipeCreateTensorMaps());
  manager.addPass(pipe::createPipeChooseDepth());
}

void headrace::populateSchedulePipeline(OpPassManager &manager) {
  manager.addPass(pipe::createPipeThreadCursors());
  manager.addPass(pipe::createPipeScheduleLoops());
  manager.addPass(pipe::createPipeExpandLoops());
  manager.addPass(pipe::createPipeSpecializeWarps());
  manager.addPass(pipe::createPipeDeriveArrivals());
  manager.addPass(pipe::createPipeInsertFences());
  manager.addPass(pipe::createPipeAllocateMemory());
  manager.addPass(pipe::createPipeVerifyProtocol());
}

void headrace::populateNvvmPipeline(OpPassManager &manager) {
  manager.addPass(createConvertPipeToNVVM());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createLoopInvariantCodeMotionPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(arith::createArithExpandOpsPass());
  ArithToLLVMConversionPassOptions arithOptions;
  arithOptions.indexBitwidth = kIndexBits;
  manager.addPass(createArithToLLVMConversionPass(arithOptions));
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertVectorToLLVMPass());
  ConvertIndexToLLVMPassOptions indexOptions;
  indexOptions.indexBitwidth = kIndexBits;
  manager.addPass(createConvertIndexToLLVMPass(indexOptions));
  ConvertControlFlowToLLVMPassOptions flowOptions;
  flowOptions.indexBitwidth = kIndexBits;
  manager.addPass(createConvertControlFlowToLLVMPass(flowOptions));
  manager.addPass(createConvertNVVMToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

void headrace::populateSourceLinePipeline(OpPassManager &manager) {
  manager.addPass(LLVM::createDIScopeForLLVMFuncOpPass({LLVM::DIEmissionKind::DebugDirectivesOnly}));
}
