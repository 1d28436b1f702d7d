// How many registers the tiles of a loop take, and how many there are. An estimate: ptxas has the last word.
#pragma once

#include "headrace/Dialect/Tile/IR/Tile.h"
#include "headrace/Target/TargetInfo.h"

namespace headrace::tile {

/// 32-bit registers of each thread that hold `tile`; 0 if it has no layout in registers, or can be made anew for an
/// instruction or so an element (constants, splats, iota).
int64_t countWords(mlir::Value tile);

/// Tiles in registers that are made before `loop` and read in it; one that is broadcast or renamed counts once.
llvm::SmallVector<mlir::Value> getTilesFromOutside(ForOp loop);

/// Registers of each thread for all tiles that are alive at once in `loop`, at the place where that is most.
int64_t countLiveWords(ForOp loop);

/// Registers of each thread that tiles may take: its share of the processor's, less what addresses and counters take.
int64_t countRegisters(KernelOp kernel, const TargetInfo &target);

} // namespace headrace::tile
