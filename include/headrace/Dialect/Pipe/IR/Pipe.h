// The pipe dialect: channels, asynchronous copies and matmuls, roles.
#pragma once

#include "headrace/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/RegionKindInterface.h"

#include "headrace/Dialect/Pipe/IR/PipeDialect.h.inc"
#include "headrace/Dialect/Pipe/IR/PipeEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "headrace/Dialect/Pipe/IR/PipeAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "headrace/Dialect/Pipe/IR/PipeTypes.h.inc"
#define GET_OP_CLASSES
#include "headrace/Dialect/Pipe/IR/PipeOps.h.inc"

namespace headrace::pipe {

/// Marks a func.func as a kernel.
inline constexpr llvm::StringLiteral kKernelAttr = "pipe.kernel";
/// On a kernel: warps of the whole program (i64).
inline constexpr llvm::StringLiteral kWarpsAttr = "pipe.warps";
/// On a kernel: bytes of dynamic shared memory (i64), set by pipe-allocate-memory.
inline constexpr llvm::StringLiteral kSharedBytesAttr = "pipe.shared_bytes";
/// On a kernel: array of dictionaries, one for each tensor map; see TensorMaps.h.
inline constexpr llvm::StringLiteral kTensorMapsAttr = "pipe.tensor_maps";
/// On a loop: what the user asked of its pipeline (#tile.pipeline).
inline constexpr llvm::StringLiteral kPipelineAttr = "pipe.pipeline";
/// On an op of a loop: its stage (i64) and its place in the new body (i64).
inline constexpr llvm::StringLiteral kStageAttr = "pipe.stage";
inline constexpr llvm::StringLiteral kOrderAttr = "pipe.order";

/// The warps that execute an op: its role's, or the whole kernel's outside roles.
struct RoleInfo {
  llvm::StringRef name; ///< "kernel" outside roles
  int64_t index;        ///< region of pipe.roles, -1 outside
  int64_t firstWarp, warps;
  int64_t active; ///< warps that have work
};
RoleInfo getRole(mlir::Operation *op);

/// The channel an op of the protocol (or a copy) belongs to; null for other ops.
CreateChannelOp getChannelOf(mlir::Operation *op);

/// Whether the kernel writes the array: see tile::isWritten.
bool isWritten(mlir::Value array);

/// Whether the op only reads global memory, and only inside of arrays: any role may do it for itself, at any time that the
/// memory is not written.
bool isGlobalRead(mlir::Operation *op);

/// Whether what stands in `scope` (a kernel) multiplies by wgmma. ptxas takes wgmma one by one in a kernel that calls
/// functions, wherever the call is (C7510): a failed assert then stops such a kernel without a message.
bool usesWgmma(mlir::Operation *scope);

} // namespace headrace::pipe
