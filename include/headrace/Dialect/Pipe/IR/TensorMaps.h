// Tensor maps: what TMA is told of an array and of the box that one instruction moves. The passes
// that choose TMA, the lowering that issues it and the launch record that has the map encoded all
// ask here.
//
// A tile moves in boxes that are dense in shared memory (cuTensorMapEncodeTiled; PTX ISA 5.5.3):
//
//   shared layout        inner extent of the box                     swizzle of the map
//   128, 64, 32          one panel                                   the same
//   16                   one panel: 16 bytes                         none
//   0, or rank 1         the whole row; of a row of more than 256    none
//                        elements a part that divides it
//
// The outer extent is all rows, or, of more than 256, the most (at least 32) that divide them. Thus
// every box is whole and all are equal, and the bytes that arrive are those of the tile, whatever
// lies outside the array.
#pragma once

#include "headrace/Dialect/Pipe/IR/Pipe.h"
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

/// One box of a tile: the element it starts at, innermost dimension first, and that element's byte
/// offset in the slot.
struct TensorBox {
  llvm::SmallVector<int64_t> start;
  int64_t sharedOffset;
};

/// The boxes of a tile, panel by panel. Requires: whyNotTma(array, buffer) is empty.
llvm::SmallVector<TensorBox> tensorBoxes(mlir::MemRefType array, BufferType buffer);

} // namespace headrace::pipe
