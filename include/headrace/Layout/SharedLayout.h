// The layout of a tile in shared memory: panels of swizzled rows, as TMA writes and wgmma and
// tcgen05 read them.
//
// The contiguous dimension of the tile (`major`) is cut into *panels* of `swizzle` bytes. A panel
// holds all rows, one after the other, `swizzle` bytes each; the panels follow each other. Within
// this dense order the 16-byte chunks of a row are permuted by an XOR of address bits (PTX
// ISA 5.5.7), so that eight rows of one column of chunks lie in different banks:
//
//   swizzle  address bits                 pattern repeats every   what it is called
//   128      bits 6:4 ^= bits 9:7         1024 bytes              128B swizzle
//   64       bits 5:4 ^= bits 8:7         512 bytes               64B swizzle
//   32       bit  4   ^= bit  7           256 bytes               32B swizzle
//   16       none                         -                       no swizzle: panels of one chunk
//   0        none                         -                       dense row-major, a single panel
//
// A bf16 tile [64, 128], major 1, swizzle 128: two panels of 64 rows of 128 bytes. Element (5, 83)
// lies in panel 1, row 5, byte 38 of the row; the dense offset 8192 + 5 * 128 + 38 has bits 9:7 =
// 5, so chunk 2 goes to 2 ^ 5 = 7: offset 8192 + 640 + 118.
//
// The XOR is on absolute addresses: a base must be a multiple of alignment() for offset() to be
// what TMA does.
#ifndef HEADRACE_LAYOUT_SHAREDLAYOUT_H
#define HEADRACE_LAYOUT_SHAREDLAYOUT_H

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

/// Where each element of a tile lies in shared memory; see the top of the file.
class SharedLayout {
public:
  /// Requires: extents >= 1; swizzle in {0, 16, 32, 64, 128}; a swizzle other than 0 divides the
  /// bytes of the contiguous dimension; the tile is a whole number of bytes (and so is each of its
  /// rows).
  SharedLayout(std::vector<int64_t> shape, int64_t elementBits, int64_t major, int64_t swizzle);

  const std::vector<int64_t> &shape() const { return extents; }
  int64_t rank() const { return static_cast<int64_t>(extents.size()); }
  int64_t elementBits() const { return bits; }
  /// The contiguous dimension.
  int64_t major() const { return majorDim; }
  /// Bytes of a panel's row: 16 (no XOR), 32, 64, 128; 0 for plain row-major.
  int64_t swizzle() const { return swizzleBytes; }

  /// The exact size.
  int64_t bytes() const;
  /// What the base must be a multiple of: the period of the pattern, 1024, 512, 256; 128 (as TMA
  /// asks) without one.
  int64_t alignment() const;
  /// bytes() rounded up to alignment(): the pitch of the slots of a ring.
  int64_t slotPitch() const;

  int64_t panels() const;
  /// Bytes from one panel to the next.
  int64_t panelBytes() const;
  /// Bytes from one row of a panel to the next.
  int64_t rowBytes() const;
  /// The extent of the dimension that is not contiguous (the product of all such); 1 for rank 1.
  int64_t rows() const;
  /// Elements of one row of a panel.
  int64_t panelElements() const;
  /// True if every panel starts at a multiple of alignment(), as descriptors with base offset 0
  /// need. TMA asks only that panelBytes() is a multiple of 128.
  bool panelsAligned() const;

  /// The byte offset of an element from the base, swizzled. Requires: 0 <= coordinate[d] <
  /// shape[d]. Ensures: distinct elements of whole bytes get disjoint bytes, all within [0,
  /// bytes()).
  int64_t offset(const std::vector<int64_t> &coordinate) const;
  /// The same before the exclusive or: where a TMA box that starts at this element goes. The element itself may be
  /// swizzled away from there.
  int64_t denseOffset(const std::vector<int64_t> &coordinate) const;

  /// The largest of 128, 64, 32, 16 that divides the bytes of the contiguous dimension; at most 16
  /// for rank 1, where there are no rows to spread; 0 if not even 16 does.
  static int64_t widestSwizzle(const std::vector<int64_t> &shape, int64_t elementBits, int64_t major);

  bool operator==(const SharedLayout &other) const;
  bool operator!=(const SharedLayout &other) const { return !(*this == other); }
  /// For example `[64, 128] x 16 bits, major 1, swizzle 128`.
  std::string toString() const;

private:
  std::vector<int64_t> extents;
  int64_t bits;
  int64_t majorDim;
  int64_t swizzleBytes;
};

} // namespace headrace

#endif // HEADRACE_LAYOUT_SHAREDLAYOUT_H
