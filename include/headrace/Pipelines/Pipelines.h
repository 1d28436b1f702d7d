// The compiler's stages as named pass pipelines: what headrace-opt, headrace-compile and Python run.
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace headrace {

/// Levels at which compilation can stop, in order.
enum class Stage { Tile, Layout, Pipe, Nvvm };

/// Tile dialect: plan, place, infer layouts.
void populateLayoutPipeline(mlir::OpPassManager &manager);
/// To the pipe dialect: channels, schedules, roles, memory, fences; verified.
void populatePipePipeline(mlir::OpPassManager &manager);
/// To the NVVM and LLVM dialects.
void populateNvvmPipeline(mlir::OpPassManager &manager);

/// Everything up to `stage`.
void populateUpTo(Stage stage, mlir::OpPassManager &manager);

/// Dialects that programs are written in and become.
void registerHeadraceDialects(mlir::DialectRegistry &registry);
/// Our passes and the upstream ones the pipelines use, and the pipelines by name.
void registerHeadracePasses();

} // namespace headrace
