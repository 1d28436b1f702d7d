// Boxes of TMA: they cover every tile exactly, where the shared layout has its elements; whenever a legal cut exists one
// is found; and tiles without one are told why.
#include "headrace/Layout/TmaBoxes.h"

#include "gtest/gtest.h"

using namespace headrace;

namespace {

/// Calls `check` for tiles of these rows (0: rank 1) and columns, with every element width, either dimension contiguous
/// and every swizzle that divides the row.
template <typename Check>
void forAllLayouts(const std::vector<int64_t> &rows, const std::vector<int64_t> &columns, Check check) {
  for (int64_t bits : {8, 16, 32, 64})
    for (int64_t swizzle : {0, 16, 32, 64, 128})
      for (int64_t r : rows)
        for (int64_t c : columns) {
          if (swizzle && c * bits % (8 * swizzle))
            continue;
          if (r == 0) {
            check(SharedLayout({c}, bits, 0, swizzle));
            continue;
          }
          check(SharedLayout({r, c}, bits, 1, swizzle));
          check(SharedLayout({c, r}, bits, 0, swizzle));
        }
}

std::vector<int64_t> range(int64_t first, int64_t last) {
  std::vector<int64_t> result;
  for (int64_t i = first; i <= last; ++i)
    result.push_back(i);
  return result;
}

/// The coordinate of an element `column` along the contiguous dimension.
std::vector<int64_t> coordinate(const SharedLayout &tile, int64_t column, int64_t row) {
  if (tile.rank() == 1)
    return {column};
  return tile.major() == 1 ? std::vector<int64_t>{row, column} : std::vector<int64_t>{column, row};
}

/// How often each element is written by boxes that the hardware puts down: dense from a box's start, then the exclusive
/// or of absolute address bits. Fails where an element does not land at its place.
std::vector<int> countWrites(const SharedLayout &tile, const TmaBoxes &cut) {
  int64_t bytes = tile.elementBits() / 8, inner = cut.extents[0], outer = tile.rank() == 2 ? cut.extents[1] : 1;
  std::vector<int> count(static_cast<size_t>(tile.bytes() / bytes), 0);
  for (const TmaBox &box : cut.boxes)
    for (int64_t row = 0; row < outer; ++row)
      for (int64_t column = 0; column < inner; ++column) {
        int64_t address = box.sharedOffset + (row * inner + column) * bytes;
        address ^= address >> 3 & (cut.swizzle ? cut.swizzle - 16 : 0);
        int64_t firstRow = tile.rank() == 2 ? box.start[1] : 0;
        EXPECT_EQ(address, tile.offset(coordinate(tile, box.start[0] + column, firstRow + row))) << tile.toString();
        ++count[static_cast<size_t>(address / bytes)];
      }
  return count;
}

TEST(TmaBoxes, EveryElementOnceInItsPlace) {
  int64_t cuts = 0;
  forAllLayouts({0, 1, 2, 3, 4, 8, 12, 16, 24, 40}, range(1, 160), [&](const SharedLayout &tile) {
    std::string why;
    std::optional<TmaBoxes> cut = cutIntoTmaBoxes(tile, why);
    ASSERT_EQ(cut.has_value(), why.empty()) << tile.toString();
    if (!cut)
      return;
    ++cuts;
    std::vector<int> count = countWrites(tile, *cut);
    ASSERT_EQ(count, std::vector<int>(count.size(), 1)) << tile.toString();
  });
  EXPECT_GT(cuts, 1000);
}

/// The rules of cuTensorMapEncodeTiled for a cut into boxes of these extents, one by one.
bool isLegal(const SharedLayout &tile, int64_t inner, int64_t outer) {
  int64_t bytes = tile.elementBits() / 8, columns = tile.shape()[static_cast<size_t>(tile.major())];
  if (tile.bytes() >= 1 << 20) // what one mbarrier counts
    return false;
  if (columns % inner || tile.rows() % outer || inner > 256 || outer > 256 || inner * bytes % 16)
    return false;
  // Rows of a box follow each other without a gap, and a swizzled row is as wide as its pattern.
  if (outer > 1 && inner * bytes != tile.rowBytes())
    return false;
  if (tile.swizzle() > 16 && inner * bytes != tile.swizzle())
    return false;
  for (int64_t column = 0; column < columns; column += inner)
    for (int64_t row = 0; row < tile.rows(); row += outer)
      if (tile.denseOffset(coordinate(tile, column, row)) % 128)
        return false;
  return true;
}

/// Parts are not too small to be worth it: the whole, a panel, or 32 at least; of a dense row, each row by itself.
bool isWorthIt(const SharedLayout &tile, int64_t inner, int64_t outer) {
  bool whole = inner == tile.shape()[static_cast<size_t>(tile.major())];
  bool panel = inner * tile.elementBits() / 8 == tile.rowBytes() && (tile.rows() > 1 || tile.swizzle() > 16);
  bool rowByRow = outer == 1 && tile.swizzle() == 0 && tile.shape()[static_cast<size_t>(tile.major())] > 256;
  return (whole || panel || inner >= 32) && (outer == tile.rows() || outer >= 32 || rowByRow);
}

TEST(TmaBoxes, LegalCutIsFoundIfThereIsOne) {
  std::vector<int64_t> few = {1, 2, 4, 5, 7, 8, 16, 24, 32, 37, 48, 64, 96, 128, 192, 255, 256, 257, 264, 320, 512};
  auto check = [](const SharedLayout &tile) {
    bool exists = false;
    int64_t columns = tile.shape()[static_cast<size_t>(tile.major())];
    for (int64_t inner = 1; inner <= 256; ++inner)
      for (int64_t outer = 1; columns % inner == 0 && outer <= 256; ++outer)
        exists |= isWorthIt(tile, inner, outer) && isLegal(tile, inner, outer);
    std::string why;
    std::optional<TmaBoxes> cut = cutIntoTmaBoxes(tile, why);
    ASSERT_EQ(cut.has_value(), exists) << tile.toString() << ": " << why;
    if (cut)
      ASSERT_TRUE(isLegal(tile, cut->extents[0], tile.rank() == 2 ? cut->extents[1] : 1)) << tile.toString();
  };
  forAllLayouts(few, few, check);
  forAllLayouts(range(257, 700), {8, 16, 32, 64}, check);
  forAllLayouts({0}, range(1, 1200), check);
}

TEST(TmaBoxes, PageExample) {
  std::string why;
  std::optional<TmaBoxes> cut = cutIntoTmaBoxes(SharedLayout({320, 128}, 16, 1, 128), why);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->extents, (std::vector<int64_t>{64, 160}));
  EXPECT_EQ(cut->swizzle, 128);
  ASSERT_EQ(cut->boxes.size(), 4u);
  EXPECT_EQ(cut->boxes[1].start, (std::vector<int64_t>{0, 160}));
  EXPECT_EQ(cut->boxes[1].sharedOffset, 20480);
  EXPECT_EQ(cut->boxes[2].start, (std::vector<int64_t>{64, 0}));
  EXPECT_EQ(cut->boxes[2].sharedOffset, 40960);
  EXPECT_EQ(cut->boxes[3].sharedOffset, 61440);
}

TEST(TmaBoxes, StartsAmidThePattern) {
  // Row 148 is row 4 of its pattern; the box goes to the row's start, element (148, 0) to the chunk beside it.
  SharedLayout tile({592, 16}, 16, 1, 32);
  std::string why;
  std::optional<TmaBoxes> cut = cutIntoTmaBoxes(tile, why);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->boxes[1].sharedOffset, 148 * 32);
  EXPECT_EQ(tile.offset({148, 0}), 148 * 32 + 16);
}

TEST(TmaBoxes, SaysWhyNot) {
  auto why = [](std::vector<int64_t> shape, int64_t bits, int64_t major, int64_t swizzle) {
    std::string text;
    cutIntoTmaBoxes(SharedLayout(std::move(shape), bits, major, swizzle), text);
    return text;
  };
  EXPECT_EQ(why({8, 4}, 16, 1, 0), "expected rows of a multiple of 16 bytes, got 8 bytes");
  EXPECT_EQ(why({8, 520}, 16, 1, 0),
            "expected rows of at most 256 elements, or a swizzle, got 520 elements without one");
  EXPECT_EQ(why({1000}, 16, 0, 16), "expected at most 256 elements, or a number of them that splits into equal boxes "
                                    "at multiples of 128 bytes, got 1000 elements of 2 bytes");
  EXPECT_EQ(why({2056, 8}, 32, 1, 32), "expected at most 256 rows, or a number of rows that splits into equal boxes at "
                                       "multiples of 128 bytes, got 2056 rows of 32 bytes");
  EXPECT_EQ(why({3, 32}, 16, 1, 32),
            "expected panels of a multiple of 128 bytes of shared memory, got 3 rows of 32 bytes");
  EXPECT_EQ(why({4096, 256}, 8, 1, 128), "expected a tile of less than 2^20 bytes, got 1048576");
}

} // namespace
