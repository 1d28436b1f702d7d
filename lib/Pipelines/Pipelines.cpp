// The compiler's stages, in order.
#include "headrace/Pipelines/Pipelines.h"
#include "headrace/Conversion/Passes.h"
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "headrace/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace headrace;

void headrace::populateLayoutPipeline(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(tile::createTilePlan());
  manager.addPass(tile::createTilePlaceTiles());
  manager.addPass(tile::createTileInferLayouts());
  manager.addPass(tile::createTileKeepInShared());
  manager.addPass(tile::createTileSplitReductions());
}

void headrace::populateChannelPipeline(OpPassManager &manager) {
  manager.addPass(createConvertTileToPipe());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(pipe::createPipeCreateTensorMaps());
  manager.addPass(pipe::createPipeShareChannels());
  manager.addPass(pipe::createPipeChooseDepth());
}

void headrace::populateSchedulePipeline(OpPassManager &manager) {
  manager.addPass(pipe::createPipeThreadCursors());
  manager.addPass(pipe::createPipeScheduleStages());
  manager.addPass(pipe::createPipePeelStages());
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
  manager.addPass(createSimplifyScalars());
  manager.addPass(createCSEPass());
  manager.addPass(createLoopInvariantCodeMotionPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertScalarsToLLVM());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

void headrace::populateSourceLinePipeline(OpPassManager &manager) {
  manager.addPass(LLVM::createDIScopeForLLVMFuncOpPass({LLVM::DIEmissionKind::DebugDirectivesOnly}));
}
