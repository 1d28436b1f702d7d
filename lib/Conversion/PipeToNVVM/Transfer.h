// How contiguous elements become the operands of one vector ld or st (PTX ISA 9.7.9.8, 9.7.9.11),
// in any memory.
#pragma once

#include "Lowering.h"

namespace headrace::lowering {

/// Bytes of the widest vector access (PTX ISA 5.4.2).
inline constexpr int64_t kMaxVectorBytes = 16;

/// One access of 1, 2, 4, 8 or 16 contiguous bytes.
struct Transfer {
  /// Of `bytes` bytes of elements of the converted type `element`. Requires: a power of two of at
  /// most 16 bytes, a whole number of elements.
  Transfer(int64_t bytes, Type element);

  std::string suffix;            ///< ".v4.b32": what follows the state space and cache operators
  llvm::SmallVector<Type> types; ///< of the registers: i16, i32 or i64
  Type element;
  int64_t count; ///< elements

  /// The registers as a PTX operand whose first is $first: "{$0, $1}", or "$0" for one.
  std::string list(int64_t first) const;
  llvm::SmallVector<Value> pack(OpBuilder &builder, Location loc, ValueRange elements) const;
  llvm::SmallVector<Value> unpack(OpBuilder &builder, Location loc, ValueRange registers) const;
};

/// Whether tiles of this element type can be accessed: whole bytes, at most 8.
bool isTransferable(Type element);

/// "{$3, $4}" for `count` operands from $first.
std::string operandList(int64_t first, int64_t count);

/// The part of a constant displacement that no instruction takes: to be added to the address.
int64_t beyondImmediate(int64_t offset);

/// "[$3+128]" with `offset` as immediate.
std::string addressOperand(int64_t operand, int64_t offset);

} // namespace headrace::lowering
