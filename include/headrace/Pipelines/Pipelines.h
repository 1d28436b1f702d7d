// The compiler's stages as named pass pipelines: what headrace-opt, headrace-compile and Python run.
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace headrace {

/// Tile dialect: plan, place, infer layouts.
void populateLayoutPipeline(mlir::OpPassManager &manager);
/// To the pipe dialect: channels with their depths, loops still whole.
void populateChannelPipeline(mlir::OpPassManager &manager);
/// Within the pipe dialect: schedules, roles, memory, fences; verified.
void populateSchedulePipeline(mlir::OpPassManager &manager);
/// To the NVVM and LLVM dialects.
void populateNvvmPipeline(mlir::OpPassManager &manager);
/// Scopes that make source lines come out as `.loc` in PTX, by which profilers and the simulator name them.
void populateSourceLinePipeline(mlir::OpPassManager &manager);

/// Dialects that programs are written in and become.
void registerHeadraceDialects(mlir::DialectRegistry &registry);
/// Our passes and the upstream ones the pipelines use, and the pipelines by name.
void registerHeadracePasses();

} // namespace headrace
