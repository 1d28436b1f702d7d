// Tensor maps: what TMA is told of an array and of the box that one instruction moves. The pass that
// numbers them, the lowering that issues the copies and the launch record that has the maps encoded
// all ask here; how a tile is cut into boxes is in TmaBoxes.h.
#pragma once

#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "headrace/Layout/TmaBoxes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>

namespace headrace::pipe {

/// One entry of the kernel's `pipe.tensor_maps`, and of `tensor_maps` in the launch record.
struct TensorMapInfo {
  int64_t arg = 0;                 ///< argument of the kernel that is the array
  llvm::SmallVector<int64_t> dims; ///< dimensions of the array, innermost first
  llvm::SmallVector<int64_t> box;  ///< elements, innermost first
  int64_t swizzle = 0;             ///< bytes, 0 for none
  std::string dtype;               ///< "bf16", "u8", "tf32", ...: the names of the launch record

  /// {arg = 0 : i64, box = array<i64: 64, 128>, dims = array<i64: 1, 0>, dtype = "bf16", swizzle =
  /// 128 : i64}
  mlir::DictionaryAttr toAttr(mlir::MLIRContext *context) const;
  /// The entry that `attribute` spells out; nullopt if it is none.
  static std::optional<TensorMapInfo> fromAttr(mlir::Attribute attribute);
  bool operator==(const TensorMapInfo &other) const;
  bool operator!=(const TensorMapInfo &other) const { return !(*this == other); }
};

/// Why TMA cannot move tiles of `array` into or out of `buffer`, as "expected X, got Y"; empty if
/// it can. What is only known when the kernel is launched (a dynamic stride, the address) is taken
/// to be fine: the launch record's contract has it.
std::string whyNotTma(mlir::MemRefType array, BufferType buffer);

/// The map for argument `arg` of type `array` and tiles like `buffer`. `tf32`: the float32 elements
/// feed tf32 matmuls. Requires: whyNotTma(array, buffer) is empty.
TensorMapInfo tensorMapFor(int64_t arg, mlir::MemRefType array, BufferType buffer, bool tf32);

/// Enters the map in the kernel's list, unless an equal one is there, and returns its number.
unsigned addTensorMap(mlir::func::FuncOp kernel, const TensorMapInfo &info);

/// The boxes of a tile. Requires: TMA can move it.
TmaBoxes tensorBoxes(BufferType buffer);

} // namespace headrace::pipe
