// Addresses of a tile's elements in a slot: one register for each of a few variants, and
// immediates.
//
// A thread accesses elements at `place + constant`. The place depends on the thread (and perhaps on
// a loop), the constant only on the register. SharedLayout.h gives offset(c) = dense(c) ^ (dense(c)
// >> 3 & chunkBits). With T = dense(place) and D = dense(constant), if T and D have no bit in
// common within the period of the pattern, then
//
//   offset(place + constant) = (offset(place) ^ variant) + rest
//   variant = (D ^ D >> 3) & chunkBits      rest = D & ~chunkBits
//
// Example: bf16, swizzle 128 (chunkBits 0x70). 32 columns and 16 rows further, D = 16 * 128 + 64:
// variant 64, rest 2048. So there are at most eight variants, each one XOR away from slot +
// offset(place), and `rest` is an immediate. The XOR may follow the addition of the slot, which is
// a multiple of the period.
#pragma once

#include "Transfer.h"

#include <map>

namespace headrace::lowering {

/// Byte offset of an element without the swizzle.
int64_t denseOffset(const SharedLayout &layout, const std::vector<int64_t> &coordinate);

/// Addresses at constant distances from one place of a slot.
class SlotAddresses {
public:
  /// `slot`: address of the slot (i32). `place`: run-time coordinate (i32). `placeBits`: the OR of
  /// denseOffset over all values that the place takes.
  SlotAddresses(OpBuilder &builder, Location loc, const SharedLayout &layout, Value slot, ValueRange place,
                int64_t placeBits);

  /// A register (i32) and an immediate whose sum is the address.
  struct Address {
    Value base;
    int64_t offset;
  };
  Address at(OpBuilder &builder, Location loc, const std::vector<int64_t> &constant);

  /// The largest power of two, at most 16, that divides the address at `constant` in every thread.
  int64_t alignmentAt(const std::vector<int64_t> &constant) const;
  const SharedLayout &getLayout() const { return layout; }

private:
  SharedLayout layout;
  Value slot;
  llvm::SmallVector<Value> place;
  int64_t placeBits;
  std::map<int64_t, Value> variants; ///< slot + offset(place), XORed with the key
};

/// Elements that one access moves: their positions in a list of constants, in the order of memory.
struct SlotVector {
  int64_t bytes;
  llvm::SmallVector<int64_t> elements;
};

/// Distributes elements at the given constants over as few accesses as alignment and contiguity
/// allow.
std::vector<SlotVector> vectorize(const SlotAddresses &addresses, llvm::ArrayRef<std::vector<int64_t>> constants);

/// Loads the elements at `constants`, as registers of the converted type `element`.
llvm::SmallVector<Value> loadElements(OpBuilder &builder, Location loc, SlotAddresses &addresses,
                                      llvm::ArrayRef<std::vector<int64_t>> constants, Type element);

/// Stores `values` (of the converted type) at `constants` where `predicate` (null: everywhere)
/// holds.
void storeElements(OpBuilder &builder, Location loc, SlotAddresses &addresses,
                   llvm::ArrayRef<std::vector<int64_t>> constants, ValueRange values, Value predicate);

/// placeBits of a layout's threads: the place is its threadOffset.
int64_t threadPlaceBits(const TileLayout &layout, const SharedLayout &shared);

} // namespace headrace::lowering
