// Passes on the tile dialect, in the order in which they run.
#ifndef HEADRACE_TILE_PASSES
#define HEADRACE_TILE_PASSES
include "mlir/Pass/PassBase.td"

def TilePlan : Pass<"tile-plan", "::mlir::ModuleOp"> {
  let summary = "Choose matmul atoms, warps, copy mechanisms and specialization for the target";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let description = [{
    For every dot the fastest family whose rules its types, extents and orientation obey (`atom`); for every load that
    feeds a dot or sits in a pipelined loop, and every store, how it moves (`mechanism`); for the kernel the number of
    compute warps (`warps`) and whether copies get warps of their own (`specialize`). What was asked for and is not
    possible is an error; what could be faster is a remark that says why it is not. Reads the target from the module's
    `tile.target`. Leaves depths to `pipe-choose-depth`.

    Before that it makes loads fit for it: fills other than zero become selects, loads under conditions of a pipelined
    loop's trip are made in every trip, and extents with few factors of two are padded (`valid` on what is stored).

    Example: test/Examples/tile-plan.mlir
  }];
}

def TilePlaceTiles : Pass<"tile-place-tiles", "::mlir::ModuleOp"> {
  let summary = "Decide which tiles live in shared and tensor memory";
  let description = [{
    Loads that the plan moves asynchronously, and operands that a matmul reads from shared memory, get a `#tile.shared`
    layout; accumulators of tcgen05 a `#tile.tmem` layout. Where such a tile meets a computation in registers, a
    `tile.convert_layout` marks the crossing; the conversion to channels makes it a channel. A tcgen05 accumulator that
    is not carried from zero by one loop is rewritten as a sum of a fresh product and registers.

    Example: test/Examples/tile-place-tiles.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def TileInferLayouts : Pass<"tile-infer-layouts", "::mlir::ModuleOp"> {
  let summary = "Give every tile in registers a layout";
  let description = [{
    Values tied by element-wise ops and by loops share one layout. Accumulators and register operands of matmuls fix
    theirs; broadcast and expand_dims derive the layout of their source; what remains gets a coalesced blocked layout.
    Where two fixed layouts meet, a `tile.convert_layout` is inserted.

    Example: test/Examples/tile-infer-layouts.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileKeepInShared : Pass<"tile-keep-in-shared", "::mlir::ModuleOp"> {
  let summary = "Keep tiles that a loop reads and does not change in shared memory where registers are too few";
  let description = [{
    Where the tiles that are alive in a loop take more registers than a thread has, loads before the loop that only
    the loop reads move to a slot: the loop reads it in every trip, right before the tile is used, instead of holding it
    in registers that ptxas would have to spill. The largest go first, as long as shared memory has room.

    Example: test/Examples/tile-keep-in-shared.mlir
  }];
}

def TileSplitReductions : Pass<"tile-split-reductions", "::mlir::ModuleOp"> {
  let summary = "Make two of a reduction over several warps";
  let description = [{
    Each warp reduces its part of the axis (`parts`); a `tile.convert_layout` brings the parts to each thread that needs the
    result, which reduces them. So no lowering knows of more than a warp.

    Example: test/Examples/tile-split-reductions.mlir
  }];
}

#endif
