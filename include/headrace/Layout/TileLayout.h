// Tile layouts: where the elements of a tile live in the registers of a block's threads. The page
// to read first.
//
// A linear layout (LinearLayout.h) only knows powers of two. Tiles have 24 columns, and blocks
// three groups of warps. A TileLayout is therefore a linear layout, the *atom* (mostly what one
// instruction holds), repeated in two ways:
//
//   repeat  the same threads hold the atom again, in further registers: repeat[d] times along
//           dimension d
//   groups  other warps hold the next part of the tile: a Group{count, dim} cuts dimension `dim`
//           into `count` contiguous parts; dim = -1 gives every group of warps the same elements
//           (they are *replicated*)
//
// How the indices are put together, with R and W the registers and warps of the atom:
//
//   register = repetition * R + atom register   (repetition: row-major, last dimension fastest)
//   warp     = group * W + atom warp            (group: row-major, last group fastest)
//
//   coordinate = atom(atom register, lane, atom warp)
//                + atom.shape * repetition + (atom.shape * repeat) * group
//
// Worked table: a 64 x 24 accumulator of mma.sync m16n8 (atom [16, 8], R = 4, W = 1) over two
// groups of one warp along the rows. Each group has 32 x 24 elements, so repeat = [2, 3]; 6 atoms
// of 4 registers are 24 registers per thread.
//
//   warp  register  = repetition  atom  lane 0    lane 5    what happens
//   0     0           0 (0, 0)    0     (0, 0)    (1, 2)    c0 of the first atom
//   0     1           0 (0, 0)    1     (0, 1)    (1, 3)    c1: next column
//   0     2           0 (0, 0)    2     (8, 0)    (9, 2)    c2: eight rows lower
//   0     4           1 (0, 1)    0     (0, 8)    (1, 10)   next atom along the columns
//   0     12          3 (1, 0)    0     (16, 0)   (17, 2)   columns are done: next rows
//   0     23          5 (1, 2)    3     (24, 17)  (25, 19)  the last register
//   1     0           0 (0, 0)    0     (32, 0)   (33, 2)   second group: 32 rows lower
//
// Slicing away the columns, as a row reduction does, leaves [64] with registers (0, 8, 16, 24)
// plus g + 32 * warp; the lanes of a quad then hold the same four elements, as their bases became
// zero: replicatedLaneBits() = {0, 1}.
#ifndef HEADRACE_LAYOUT_TILELAYOUT_H
#define HEADRACE_LAYOUT_TILELAYOUT_H

#include "headrace/Layout/LinearLayout.h"

#include <optional>

namespace headrace {

/// Cuts dimension `dim` into `count` contiguous parts, one per group of warps; dim = -1: replicated
/// over the groups.
struct Group {
  int64_t count;
  int64_t dim;
};
bool operator==(const Group &lhs, const Group &rhs);
bool operator!=(const Group &lhs, const Group &rhs);

/// A linear layout times plain repetition in registers and over groups of warps; see the top of the
/// file.
class TileLayout {
public:
  /// Requires: atom.isSplit(); one entry >= 1 of `repeat` for each dimension; counts >= 1; -1 <=
  /// dim < rank.
  TileLayout(LinearLayout atom, std::vector<Group> groups, std::vector<int64_t> repeat);

  const LinearLayout &atom() const { return atomLayout; }
  const std::vector<Group> &groups() const { return warpGroups; }
  const std::vector<int64_t> &repeat() const { return repetition; }

  /// The extents of the whole tile.
  std::vector<int64_t> shape() const;
  int64_t rank() const { return atomLayout.rank(); }
  /// Registers (elements) held by each thread.
  int64_t numRegisters() const;
  int64_t numWarps() const;

  /// The element that register `reg` of a thread holds. Requires: reg < numRegisters(), lane < 32,
  /// warp < numWarps().
  std::vector<int64_t> coordinate(int64_t reg, int64_t lane, int64_t warp) const;

  /// The split on which code generation rests: what is known when compiling, and what is computed
  /// once per thread. Ensures: coordinate(reg, lane, warp) == registerOffset(reg) +
  /// threadOffset(lane, warp).
  std::vector<int64_t> registerOffset(int64_t reg) const;
  std::vector<int64_t> threadOffset(int64_t lane, int64_t warp) const;

  /// Drops dimension `dim`: its repetition and its register bits vanish, groups on it become
  /// replicated (-1), later dimensions move down by one.
  TileLayout slice(int64_t dim) const;
  /// For each register of *this, the register of slice(dim) that holds the same coordinates but for
  /// `dim`: where a reduction along `dim` accumulates, and where a broadcast along it reads.
  std::vector<int64_t> sliceRegisters(int64_t dim) const;
  /// Inserts a dimension of extent 1 before dimension `dim`. Requires: 0 <= dim <= rank().
  /// Ensures: expand(dim).slice(dim) == *this when no register base of the atom is zero.
  TileLayout expand(int64_t dim) const;
  /// Dimension `dim` replaced by one of extent `count`, all of it in each thread's registers; what
  /// was spread along it is replicated. Ensures: gather(dim, n).slice(dim) == slice(dim).
  TileLayout gather(int64_t dim, int64_t count) const;
  /// In how many parts warps share dimension `dim`; 1 if each warp has all of it.
  int64_t partsAlong(int64_t dim) const;
  /// Dimension `dim` replaced by one of extent partsAlong(dim), an element for each part: where a
  /// reduction along it stands when each warp has reduced its own.
  TileLayout reduceWithinWarps(int64_t dim) const;
  /// The layout of the transposed tile: dimension i of the result is dimension perm[i] of *this.
  /// Registers keep their elements except that repetitions are renumbered row-major; see renaming.
  TileLayout transpose(const std::vector<int64_t> &perm) const;

  /// A last dimension of extent 2 more: each thread holds both elements of it, in neighbouring registers. Ensures:
  /// pair().slice(rank()) == *this when no register base of the atom is zero.
  TileLayout pair() const;
  /// True if each thread holds all elements along dimension `dim`.
  bool isWithinThreads(int64_t dim) const;
  /// The same elements in the same threads, numbered in row-major order, as a tile of other extents. nullopt if they are
  /// no such layout (a repetition below bits of the atom). Requires: as many elements. Ensures: renaming(*this, result);
  /// never nullopt where only extents of 1 come and go, or where dimensions are only split inside the atom.
  std::optional<TileLayout> reshape(const std::vector<int64_t> &shape) const;

  /// Equality of the description (atom, groups, repeat). Two descriptions may still be the same
  /// map: see renaming.
  bool operator==(const TileLayout &other) const;
  bool operator!=(const TileLayout &other) const { return !(*this == other); }
  /// For example `[64, 24] = {<atom>} x repeat [2, 3] x groups [2 on 0]`.
  std::string toString() const;

  /// For each register of `to`, the register of `from` that holds the same element in the same
  /// thread, for all threads; of tiles of other extents, the element of the same row-major number.
  /// nullopt if an element must come from another thread, or if numbers of elements or of warps
  /// differ.
  static std::optional<std::vector<int64_t>> renaming(const TileLayout &from, const TileLayout &to);

  /// The largest power of two n such that, in every thread, each run of n registers that starts at
  /// a multiple of n holds n elements consecutive along `dim` that start at a multiple of n.
  int64_t contiguous(int64_t dim) const;

  /// Bits of the lane, and of the atom's warp, that do not change the element. For stores, only the
  /// threads whose replicated bits are all zero need to write.
  std::vector<int> replicatedLaneBits() const;
  std::vector<int> replicatedWarpBits() const;
  /// True if some group of warps holds the same elements as another.
  bool replicatesGroups() const;
  /// True for the one thread, among those that hold the same elements, that writes: its replicated
  /// bits and its coordinates in replicated groups are zero.
  bool isWriter(int64_t lane, int64_t warp) const;

private:
  /// Dimension `dim` as two: the finer one, of extent `fine`, after it. nullopt if `fine` ends inside of a factor.
  std::optional<TileLayout> splitDim(int64_t dim, int64_t fine) const;
  /// Dimension `dim` and the next, the finer one, as one.
  std::optional<TileLayout> mergeDims(int64_t dim) const;
  /// Repetitions and groups of dimension `dim` as bits of the atom, as far as they are powers of two and the warps'
  /// numbers stay.
  TileLayout foldIntoAtom(int64_t dim) const;
  /// Coordinates of a group of warps in the grid that `groups` spans.
  std::vector<int64_t> groupCoordinate(int64_t group) const;

  LinearLayout atomLayout;
  std::vector<Group> warpGroups;
  std::vector<int64_t> repetition;
};

} // namespace headrace

#endif // HEADRACE_LAYOUT_TILELAYOUT_H
