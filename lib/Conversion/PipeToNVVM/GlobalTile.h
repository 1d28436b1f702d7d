// A register tile's place in a global array: addresses and bounds of each register.
//
// The coordinate of a register is offset + thread part + constant. The thread's address is computed
// once, in 64 bits; along a dimension of constant stride a register's constant becomes an
// immediate, along others each distinct constant costs one multiplication. Offsets may be negative
// or past the end, so bounds are compared unsigned, in 32 bits: an extent is below 2^31, and a
// coordinate outside wraps to something larger.
#pragma once

#include "Transfer.h"

#include <map>

namespace headrace::lowering {

class GlobalTile {
public:
  /// The tile of type `tileType` at `offsets` (one value each) of an array. `vector`: bytes that
  /// one access may move, which promises that the address of each vector is a multiple. `valid`: the
  /// extents from which on elements are padding, as if outside of the array; multiples of the vector
  /// along its dimension. Emits an error on `op` for tiles that do not fit.
  static mlir::FailureOr<GlobalTile> create(OpBuilder &builder, Operation *op, Type tileType,
                                            mlir::MemRefType arrayType, ValueRange array,
                                            llvm::ArrayRef<ValueRange> offsets, std::optional<int64_t> vector,
                                            std::optional<llvm::ArrayRef<int64_t>> valid = std::nullopt);

  const TileLayout &getLayout() const { return layout; }
  /// Converted element type.
  Type element() const { return elementType; }
  int64_t elementBytes() const { return elementType.getIntOrFloatBitWidth() / 8; }
  int64_t numRegisters() const { return layout.numRegisters(); }
  /// Consecutive registers that one access moves.
  int64_t vectorElements() const { return vector; }
  int64_t vectorBytes() const { return vector * elementBytes(); }

  /// Restricts all accesses to threads where `condition` (null: all) holds.
  void onlyIf(Value condition) { enabled = condition; }

  /// A register and an immediate whose sum is the address of register `reg` of the tile.
  struct Address {
    Value base;
    int64_t offset;
  };
  Address addressOf(OpBuilder &builder, Location loc, int64_t reg);

  /// i1: the whole vector that starts at register `first` is in the array.
  Value isInside(OpBuilder &builder, Location loc, int64_t first);
  /// i1: some vectors may straddle the edge of the array. Null if none can.
  Value hasTail(OpBuilder &builder, Location loc);
  /// i1: the element is in the array, but its vector is not.
  Value isInTail(OpBuilder &builder, Location loc, int64_t reg);

private:
  GlobalTile(TileLayout layout, Type elementType) : layout(std::move(layout)), elementType(elementType) {}

  /// What is known of one dimension.
  struct Dim {
    Value coordinate;                ///< i32: offset + thread part
    Value size;                      ///< i32: extent
    Value limit;                     ///< i32: a vector is inside if it starts below; size where vectors do not go along
    std::optional<int64_t> stride;   ///< bytes, if constant
    Value strideBytes;               ///< i64, if not
    std::map<int64_t, Value> inside; ///< by constant: coordinate + constant < limit
    std::map<int64_t, Value> insideSize; ///< by constant: coordinate + constant < size
  };
  Value isBelow(OpBuilder &builder, Location loc, const Dim &dim, int64_t constant, Value bound);
  Value conjunction(OpBuilder &builder, Location loc, const std::vector<int64_t> &constant, bool whole);

  TileLayout layout;
  Type elementType;
  int64_t vector = 1;
  int64_t along = -1; ///< the dimension of vectors, if any has several elements
  bool straddles = false;
  Value threadAddress; ///< pointer
  Value enabled;
  std::vector<Dim> dims;
  std::map<std::vector<int64_t>, Value> bases; ///< by constants along dimensions of dynamic stride
};

} // namespace headrace::lowering
