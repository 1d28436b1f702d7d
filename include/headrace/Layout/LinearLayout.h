// Linear layouts over GF(2): which element of a tile sits in which register of which lane of which
// warp.
//
// Reference: "Linear Layouts" (arXiv 2505.23819). TileLayout.h, the textbook page, builds on this
// file and adds the repetition that extents which are no powers of two need.
#ifndef HEADRACE_LAYOUT_LINEARLAYOUT_H
#define HEADRACE_LAYOUT_LINEARLAYOUT_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

/// The hardware index that a bit belongs to. The order is that of significance in "lowest place":
/// Register is lowest.
enum class InDim { Register, Lane, Warp };
inline constexpr int kNumInDims = 3;

/// One place in the hardware.
struct Place {
  int64_t reg = 0;
  int64_t lane = 0;
  int64_t warp = 0;
};
bool operator==(const Place &lhs, const Place &rhs);
bool operator!=(const Place &lhs, const Place &rhs);

/// A map from element coordinates back to the lowest place that holds the element; made by
/// LinearLayout::invert.
class InverseLayout {
public:
  /// The place of the element with the smallest warp, then lane, then register.
  /// Requires: 0 <= element[d] < shape[d]. Ensures: layout.apply(place) == element.
  Place apply(const std::vector<int64_t> &element) const;

private:
  friend class LinearLayout;
  std::vector<int64_t> shape;
  std::array<int64_t, kNumInDims> numBits = {};
  /// For each bit of the row-major element number, the input bits whose XOR is that bit alone.
  std::vector<uint64_t> inputsOfBit;
};

/// A linear map over GF(2) from the bits of (register, lane, warp) to the coordinates of a tile.
///
/// It is given by what each input bit contributes, its *basis*; the coordinates of a place are the
/// XOR of the bases of its set bits. A zero basis means that the bit does not matter: the element
/// is held twice (*replicated*). The accumulator of mma.sync m16n8 (PTX ISA 9.7.14.5) in this form,
/// a tile of shape [16, 8]:
///
///     register  [0, 1] [8, 0]                        c0, c1 are neighbours; c2 is 8 rows lower
///     lane      [0, 2] [0, 4] [1, 0] [2, 0] [4, 0]   lane = 4 * row + column / 2
///     warp      (none)
///
///     register 3 of lane 9 = 0b01001:  [0, 1] ^ [8, 0] ^ [0, 2] ^ [2, 0] = row 10, column 3
class LinearLayout {
public:
  using Basis = std::vector<int64_t>;
  using Bases = std::vector<Basis>;

  /// A layout of a tile of extents `shape`; basis i of a list belongs to bit i of that index.
  /// Requires: extents are powers of two; each basis has one entry per extent, 0 or a power of two
  /// below the extent.
  LinearLayout(std::vector<int64_t> shape, Bases registers, Bases lanes, Bases warps);

  int64_t rank() const { return static_cast<int64_t>(outShape.size()); }
  const std::vector<int64_t> &shape() const { return outShape; }
  const Bases &bases(InDim dim) const { return inBases[static_cast<size_t>(dim)]; }
  int64_t numBits(InDim dim) const { return static_cast<int64_t>(bases(dim).size()); }
  /// The number of registers, lanes or warps, 2^numBits.
  int64_t size(InDim dim) const { return int64_t(1) << numBits(dim); }

  /// The element held at a place. Requires: each index is in [0, size).
  std::vector<int64_t> apply(int64_t reg, int64_t lane, int64_t warp) const;

  /// The product: `high` repeated at the grain of *this. The bits of *this stay the low ones of
  /// each index, and the bases of `high` are scaled by shape(). Requires: equal ranks. Ensures: the
  /// shape is the product of the shapes; (a * b) * c == a * (b * c); and (a * b)(x + a.size * y) ==
  /// a(x) + a.shape * b(y), index by index.
  LinearLayout operator*(const LinearLayout &high) const;

  /// The layout of the transposed tile: dimension i of the result is dimension perm[i] of *this.
  /// Requires: perm is a permutation of 0..rank-1.
  LinearLayout transpose(const std::vector<int64_t> &perm) const;

  /// The layout of the tile without dimension `dim`. Register bases that are zero then are removed
  /// (one register suffices for what were several elements); lane and warp bases stay, as zeros:
  /// those threads are replicas.
  LinearLayout slice(int64_t dim) const;

  /// The map back. Requires: isSurjective().
  InverseLayout invert() const;

  /// True if every element is held somewhere.
  bool isSurjective() const;
  /// True if no element is held twice.
  bool isInjective() const;
  /// True if no bit of a coordinate comes both from the register and from the thread; then, for
  /// every place, apply(reg, lane, warp) == apply(reg, 0, 0) + apply(0, lane, warp) with ordinary
  /// addition.
  bool isSplit() const;

  bool operator==(const LinearLayout &other) const;
  bool operator!=(const LinearLayout &other) const { return !(*this == other); }

  /// For example `[16, 8] register [0, 1] [8, 0] lane [0, 2] [0, 4] [1, 0] [2, 0] [4, 0] warp`.
  std::string toString() const;

private:
  std::vector<int64_t> outShape;
  std::array<Bases, kNumInDims> inBases;
};

/// Prints `[a, b, c]`, as all layouts print lists.
std::string printList(const std::vector<int64_t> &list);

/// Steps of row-major numbering: the coordinates of item `index` of a grid, last dimension fastest.
/// Requires: 0 <= index < product of extents. Ensures: the inverse of rowMajorIndex.
std::vector<int64_t> rowMajorCoordinate(int64_t index, const std::vector<int64_t> &extents);
/// The number of the item at `coordinate` of a grid, last dimension fastest.
int64_t rowMajorIndex(const std::vector<int64_t> &coordinate, const std::vector<int64_t> &extents);
/// The product of all extents; 1 for none.
int64_t productOf(const std::vector<int64_t> &extents);

} // namespace headrace

#endif // HEADRACE_LAYOUT_LINEARLAYOUT_H
