// The tile dialect: whole-tile values, kernels, the loop with its pipeline annotation.
#pragma once

#include "headrace/Layout/SharedLayout.h"
#include "headrace/Layout/TileLayout.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "headrace/Dialect/Tile/IR/TileDialect.h.inc"
#include "headrace/Dialect/Tile/IR/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "headrace/Dialect/Tile/IR/TileAttrs.h.inc"
#define GET_OP_CLASSES
#include "headrace/Dialect/Tile/IR/TileOps.h.inc"

namespace headrace::tile {

/// Name of the module attribute that holds the target ("sm_90a").
inline constexpr llvm::StringLiteral kTargetAttr = "tile.target";
/// Name of the argument attribute that promises an alignment in bytes.
inline constexpr llvm::StringLiteral kAlignAttr = "tile.align";

/// Whether some op of the kernel writes the array: its reads then stay in order with the writes, and are neither
/// prefetched nor left to another role. Arrays that are different arguments are taken not to overlap.
bool isWritten(mlir::Value array);

/// The type of a tile with the encoding `layout`.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, mlir::Attribute layout);

/// The dimension of an array whose stride is the constant 1, or -1.
int64_t contiguousDim(mlir::MemRefType array);

/// The same counted in the dimensions of a tile of rank `tileRank`, which are the array's last: -1 if it is none of them.
int64_t contiguousTileDim(mlir::MemRefType array, int64_t tileRank);

} // namespace headrace::tile
