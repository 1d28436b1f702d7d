// Where a box of a tensor lies: row by row in global memory, dense and then swizzled in shared memory.
//
// A row is the box's extent along dimension 0. In the dense box rows follow one another without a gap, those of dimension
// 1 first (PTX ISA 5.5.3):
//
//   elements outside the array       before          after
//   a row, global memory          . . . . [x x x x x x x] . .        `global` is the address of the first x
//   a row, dense box              f f f f  x x x x x x x  f f        f: the fill
//
// The swizzle (PTX ISA 5.5.7) then exchanges the 16-byte units of each line of 128 bytes. Which ones depends on the number
// of the line, counted from address 0 of shared memory and not from the start of the box:
//
//   swizzle    new unit              repeats after
//   32         unit ^ line % 2       256 bytes
//   64         unit ^ line % 4       512
//   128        unit ^ line % 8       1024
//
// Done twice it changes nothing, so that one function serves loads and stores.
//
// Rows narrower than the swizzle are padded to its width before that, in shared memory; the padding is neither read nor
// written, and the bytes that a copy completes are those of the dense box (measured on compute capability 9.0). Row r,
// 32 bytes wide, under a swizzle of 128:
//
//   dense box        r * 32
//   shared memory    r * 128, its units exchanged
#ifndef HEADRACE_SIM_COPIES_TENSORBOX_H
#define HEADRACE_SIM_COPIES_TENSORBOX_H

#include "headrace/Sim/Copies/TensorMap.h"

#include <algorithm>

namespace headrace::sim {

/// Bytes that a swizzle keeps together, and that TMA writes to global memory as a whole.
inline constexpr int64_t kCopyUnit = 16;

/// Where a swizzle puts the byte at `address`. Requires: swizzle is 0, 32, 64 or 128.
constexpr uint32_t swizzled(uint32_t address, int swizzle) {
  uint32_t mask = swizzle ? static_cast<uint32_t>(swizzle) / 16 - 1 : 0;
  return address ^ (address >> 7 & mask) << 4;
}

/// One row of a box; all in bytes.
struct BoxRow {
  int64_t start = 0;   // where the row starts in the dense box
  int64_t before = 0;  // of the row in front of the array
  int64_t inside = 0;  // of the row inside the array, after `before`
  uint64_t global = 0; // device address of what is inside
};

/// A box of a tensor. Requires of all members but `malformed`: malformed() is empty.
struct TensorBox {
  const TensorMap *map = nullptr;
  /// Coordinates of the first element, innermost first. Of tile::gather4 and tile::scatter4 the column and four rows.
  std::vector<int64_t> start;
  bool fourRows = false;

  /// Why there is no such box: a map that nobody could encode, a wrong number of dimensions; or "".
  std::string malformed() const;
  /// What the ISA forbids about where it starts, or "".
  std::string whyNotStart(bool isStore) const;
  int64_t rowBytes() const { return map->boxExtent(0) * map->elementBytes(); }
  int64_t bytes() const { return fourRows ? 4 * rowBytes() : map->boxBytes(); }
  /// From row to row in shared memory.
  int64_t pitch() const { return map->swizzle ? map->swizzle : rowBytes(); }
  /// Bytes of shared memory from its first to its last, padding between rows included.
  int64_t sharedBytes() const { return bytes() / rowBytes() * pitch(); }
  /// In the order of the dense box.
  std::vector<BoxRow> rows() const;

  /// The dense box with what elements outside the array read as.
  std::vector<uint8_t> filled() const;
  /// Whether swizzling at `address` exchanges bytes of the box only among themselves.
  bool isClosed(uint32_t address) const {
    return map->swizzle == 0 || (rowBytes() == map->swizzle && address % static_cast<uint32_t>(map->swizzle) == 0);
  }
  /// Calls `move(shared address, offset, bytes)` for the pieces that bytes [first, last) of the dense box at `address` are
  /// swizzled in.
  template <typename Move> void forEachPiece(uint32_t address, int64_t first, int64_t last, Move move) const;
};

/// Swizzles a dense box at `address` into its image in shared memory, or back. Requires: it is closed.
void swizzleBox(uint32_t address, int swizzle, const uint8_t *from, uint8_t *to, int64_t bytes);

template <typename Move> void TensorBox::forEachPiece(uint32_t address, int64_t first, int64_t last, Move move) const {
  if (map->swizzle == 0 && first < last)
    return move(address + static_cast<uint32_t>(first), first, last - first);
  while (first < last) {
    int64_t end = std::min(last, first / kCopyUnit * kCopyUnit + kCopyUnit);
    int64_t padded = first / rowBytes() * pitch() + first % rowBytes();
    move(swizzled(address + static_cast<uint32_t>(padded), map->swizzle), first, end - first);
    first = end;
  }
}

} // namespace headrace::sim

#endif
