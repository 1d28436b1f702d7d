// Registration of dialects, passes and named pipelines.
#include "headrace/Conversion/Passes.h"
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "headrace/Dialect/Tile/Transforms/Passes.h"
#include "headrace/Pipelines/Pipelines.h"
#include "headrace/Target/PtxEmitter.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void headrace::registerHeadraceDialects(DialectRegistry &registry) {
  registry.insert<tile::TileDialect, pipe::PipeDialect, arith::ArithDialect, cf::ControlFlowDialect, DLTIDialect,
                  func::FuncDialect, gpu::GPUDialect, index::IndexDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect,
                  vector::VectorDialect>();
  registerPtxTranslations(registry);
}

void headrace::registerHeadracePasses() {
  tile::registerHeadraceTilePasses();
  pipe::registerHeadracePipePasses();
  registerHeadraceConversionPasses();
  registerTransformsPasses();
  registerSCFToControlFlowPass();
  registerReconcileUnrealizedCastsPass();
  PassPipelineRegistration<>("headrace-to-layout", "Plan, place and lay out the tiles of kernels",
                             populateLayoutPipeline);
  PassPipelineRegistration<>("headrace-to-channels", "From laid-out tiles to channels and their depths",
                             populateChannelPipeline);
  PassPipelineRegistration<>("headrace-schedule", "Schedules, roles, memory and fences of channels",
                             populateSchedulePipeline);
  PassPipelineRegistration<>("headrace-to-pipe", "From laid-out tiles to scheduled channels and roles",
                             [](OpPassManager &manager) {
                               populateChannelPipeline(manager);
                               populateSchedulePipeline(manager);
                             });
  PassPipelineRegistration<>("headrace-to-nvvm", "From channels and roles to the NVVM and LLVM dialects",
                             populateNvvmPipeline);
}
