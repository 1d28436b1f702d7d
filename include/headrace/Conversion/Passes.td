// Conversions between the levels.
#ifndef HEADRACE_CONVERSION_PASSES
#define HEADRACE_CONVERSION_PASSES
include "mlir/Pass/PassBase.td"

def ConvertTileToPipe : Pass<"convert-tile-to-pipe", "::mlir::ModuleOp"> {
  let summary = "Make a channel for every tile that crosses from a producer to a consumer";
  let description = [{
    Turns kernels into functions of the pipe dialect: loads into shared memory become copies into acquired slots of
    channels, dots become matmuls of the family chosen by `tile-plan`, accumulators in tensor memory and staging
    buffers of TMA stores become channels too. Assumes that `tile-infer-layouts` gave every tile a layout. Cursors are
    left to `pipe-thread-cursors`, depths to `pipe-choose-depth`.

    Example: test/Examples/convert-tile-to-pipe.mlir
  }];
  let dependentDialects = ["::headrace::pipe::PipeDialect", "::mlir::scf::SCFDialect", "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvertPipeToNVVM : Pass<"convert-pipe-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Lower the pipe dialect to the NVVM and LLVM dialects, inline PTX and scf";
  let description = [{
    Register tiles become one scalar for each register of a thread, slots become addresses, protocol steps become the
    barriers of the channel's `sync`, copies and matmuls the instructions that the plan chose. Reads the target from the
    module's `tile.target`. Assumes that `pipe-allocate-memory` placed every channel. Leaves scf, arith and math on
    scalars to upstream conversions.

    Example: test/Examples/convert-pipe-to-nvvm.mlir
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def SimplifyScalars : Pass<"simplify-scalars", "::mlir::ModuleOp"> {
  let summary = "Canonicalise all but scf, whose patterns take the square of the values that a loop carries";
  let description = [{
    Upstream's folds and patterns, for kernels whose tiles have become scalars.

    Example: test/Examples/simplify-scalars.mlir
  }];
}

def ConvertScalarsToLLVM : Pass<"convert-scalars-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lower arith, math, vector, index, cf and NVVM's inline PTX to the LLVM dialect, all at once";
  let description = [{
    Upstream's patterns; an index has 32 bits. Leaves casts between index and i32 to `reconcile-unrealized-casts`.

    Example: test/Examples/convert-scalars-to-llvm.mlir
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif
