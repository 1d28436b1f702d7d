// What an op of the pipe level costs on the units of a multiprocessor: for schedules and for the report.
#pragma once

#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "headrace/Target/UnitModel.h"

namespace headrace::pipe {

/// Cycles that one execution by all warps of its role keeps each unit busy. Of an op with regions: nothing but what
/// it does itself.
UnitCycles costOf(mlir::Operation *op, const UnitModel &model);

/// The same with what the op's regions do; of branches, the one that does least: what is rare, such as the mask of the last
/// trip, is not what binds.
UnitCycles costWithRegions(mlir::Operation *op, const UnitModel &model);

/// Cycles from the start of an op to its result, beyond those of its units.
double latencyOf(mlir::Operation *op, const UnitModel &model);

/// Whether the op only names registers that it is given: it costs none.
bool isView(mlir::Operation *op);

/// 32-bit registers that a tile takes in each thread; 0 for what is no tile in registers. An accumulator in flight has
/// those of its tile.
int64_t registersOf(mlir::Type type);

} // namespace headrace::pipe
