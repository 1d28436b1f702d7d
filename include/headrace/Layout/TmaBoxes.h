// How a tile in shared memory is cut into the boxes that one TMA instruction each moves. The plan that chooses TMA, the
// tensor maps and the lowering that issues the copies all ask here.
//
// A box is dense in shared memory and starts at a multiple of 128 bytes (cuTensorMapEncodeTiled; PTX ISA 5.5.3):
//
//   shared layout        inner extent of the box                     swizzle of the map
//   128, 64, 32          one panel                                   the same
//   16                   one panel: 16 bytes                         none
//   0, or 16 and one row the whole row; of more than 256 elements a   none
//                        part that divides it
//
// The outer extent is all rows, or, of more than 256, the most (at least 32) that divide them; one row where the inner
// extent is a part of a dense one. Thus every box is whole
// and all are equal, and the bytes that arrive are those of the tile, whatever lies outside the array.
//
// A bf16 tile [320, 128], major 1, swizzle 128: four boxes of 160 rows of 64 elements, at bytes 0, 20480 (row 160),
// 40960 (column 64, the second panel) and 61440.
#ifndef HEADRACE_LAYOUT_TMABOXES_H
#define HEADRACE_LAYOUT_TMABOXES_H

#include "headrace/Layout/SharedLayout.h"

#include <optional>

namespace headrace {

/// One box of a tile.
struct TmaBox {
  std::vector<int64_t> start; ///< the element it starts at, innermost dimension first
  int64_t sharedOffset;       ///< bytes from the slot's start to where it goes
};

/// All boxes of a tile.
struct TmaBoxes {
  std::vector<int64_t> extents; ///< elements of each box, innermost dimension first
  int64_t swizzle;              ///< of the tensor map: 128, 64, 32, or 0 for none
  std::vector<TmaBox> boxes;    ///< panel by panel
};

/// The boxes of a tile; nullopt if no cut is legal, and `why` is then "expected X, got Y". Requires: rank 1 or 2,
/// elements of 1, 2, 4 or 8 bytes. Ensures: distinct boxes are disjoint and together they are the tile.
std::optional<TmaBoxes> cutIntoTmaBoxes(const SharedLayout &tile, std::string &why);

} // namespace headrace

#endif // HEADRACE_LAYOUT_TMABOXES_H
