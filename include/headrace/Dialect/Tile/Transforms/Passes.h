// Passes on the tile dialect.
#pragma once

#include "headrace/Dialect/Tile/IR/Tile.h"
#include "mlir/Pass/Pass.h"

namespace headrace::tile {
#define GEN_PASS_DECL
#include "headrace/Dialect/Tile/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "headrace/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace headrace::tile
