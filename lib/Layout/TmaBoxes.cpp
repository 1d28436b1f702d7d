// The cut of a tile into boxes: first the extents of all of them, then whether they are legal, then where each lies.
#include "headrace/Layout/TmaBoxes.h"

#include <cassert>

namespace headrace {

// Limits of cuTensorMapEncodeTiled and of PTX ISA 5.5 and 9.7.9.27.1.
static constexpr int64_t kMaxExtent = 256;                // elements along each dimension
static constexpr int64_t kInnerBytes = 16;                // the inner extent is a multiple of this
static constexpr int64_t kSharedAlignment = 128;          // of a box in shared memory
static constexpr int64_t kMaxTransaction = (1 << 20) - 1; // bytes an mbarrier counts
/// Ours: more and smaller boxes would cost more than another way to copy.
static constexpr int64_t kMinPart = 32;

/// The largest divisor of `extent`, from kMinPart to kMaxExtent, whose multiples by `bytes` keep the alignment of a box;
/// if the whole extent fits, that: then nothing follows that must be aligned. 0 if none.
static int64_t cutExtent(int64_t extent, int64_t bytes) {
  if (extent <= kMaxExtent)
    return extent;
  for (int64_t part = kMaxExtent; part >= kMinPart; --part)
    if (extent % part == 0 && part * bytes % kSharedAlignment == 0)
      return part;
  return 0;
}

/// True if rows are not cut into panels: dense ones, and a single row, whose panels of 16 bytes follow each other
/// without a gap.
static bool hasWholeRows(const SharedLayout &tile) {
  return tile.swizzle() == 0 || (tile.rows() == 1 && tile.swizzle() == 16);
}

namespace {
/// Extents along the contiguous dimension and along the rows; 0 where none is legal.
struct Extents {
  int64_t columns, rows;
};
} // namespace

static Extents cutExtents(const SharedLayout &tile) {
  Extents box;
  int64_t columns = tile.shape()[static_cast<size_t>(tile.major())];
  box.columns = hasWholeRows(tile) ? cutExtent(columns, tile.elementBits() / 8) : tile.panelElements();
  box.rows = cutExtent(tile.rows(), tile.rowBytes());
  // A part of a dense row cannot be followed by the next row: each row in boxes of its own.
  if (hasWholeRows(tile) && tile.rows() > 1 && box.columns != columns) {
    bool aligned = tile.rowBytes() % kSharedAlignment == 0;
    box = aligned ? Extents{box.columns, 1} : Extents{0, box.rows};
  }
  return box;
}

/// What is wrong with boxes of these extents; empty if nothing is.
static std::string whyNotExtents(const SharedLayout &tile, const Extents &box) {
  auto number = [](int64_t value) { return std::to_string(value); };
  int64_t columns = tile.shape()[static_cast<size_t>(tile.major())], elementBytes = tile.elementBits() / 8;
  std::string alignment = number(kSharedAlignment) + " bytes", most = number(kMaxExtent);
  if (columns * elementBytes % kInnerBytes)
    return "expected rows of a multiple of " + number(kInnerBytes) + " bytes, got " + number(columns * elementBytes) +
           " bytes";
  if (!box.columns && tile.rows() == 1)
    return "expected at most " + most + " elements, or a number of them that splits into equal boxes at multiples of " +
           alignment + ", got " + number(columns) + " elements of " + number(elementBytes) + " bytes";
  if (!box.columns)
    return "expected rows of at most " + most + " elements, or a swizzle, got " + number(columns) +
           " elements without one";
  if (!box.rows)
    return "expected at most " + most + " rows, or a number of rows that splits into equal boxes at multiples of " +
           alignment + ", got " + number(tile.rows()) + " rows of " + number(tile.rowBytes()) + " bytes";
  if (!hasWholeRows(tile) && tile.panels() > 1 && tile.panelBytes() % kSharedAlignment)
    return "expected panels of a multiple of " + alignment + " of shared memory, got " + number(tile.rows()) +
           " rows of " + number(tile.rowBytes()) + " bytes";
  if (tile.bytes() > kMaxTransaction)
    return "expected a tile of less than 2^20 bytes, got " + number(tile.bytes());
  return "";
}

/// The boxes of these extents, panel by panel.
static std::vector<TmaBox> placeBoxes(const SharedLayout &tile, const Extents &box) {
  auto major = static_cast<size_t>(tile.major());
  std::vector<TmaBox> boxes;
  for (int64_t column = 0; column < tile.shape()[major]; column += box.columns)
    for (int64_t row = 0; row < tile.rows(); row += box.rows) {
      std::vector<int64_t> start{column}, coordinate(static_cast<size_t>(tile.rank()));
      coordinate[major] = column;
      if (tile.rank() == 2) {
        start.push_back(row);
        coordinate[1 - major] = row;
      }
      boxes.push_back({std::move(start), tile.denseOffset(coordinate)});
    }
  return boxes;
}

std::optional<TmaBoxes> cutIntoTmaBoxes(const SharedLayout &tile, std::string &why) {
  assert((tile.rank() == 1 || tile.rank() == 2) && tile.elementBits() % 8 == 0 && "a tile that tensor maps know");
  Extents box = cutExtents(tile);
  why = whyNotExtents(tile, box);
  if (!why.empty())
    return std::nullopt;
  TmaBoxes result;
  result.extents = {box.columns};
  if (tile.rank() == 2)
    result.extents.push_back(box.rows);
  result.swizzle = tile.swizzle() > 16 ? tile.swizzle() : 0;
  result.boxes = placeBoxes(tile, box);
  return result;
}

} // namespace headrace
