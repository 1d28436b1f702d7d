// Shared layouts against the swizzle patterns of the PTX ISA, and their sizes.
#include "headrace/Layout/SharedLayout.h"

#include "gtest/gtest.h"

using namespace headrace;

namespace {

using Coordinate = std::vector<int64_t>;

/// The XOR that TMA applies to an address (PTX ISA 5.5.7), bit by bit as the tables have it.
int64_t tmaSwizzle(int64_t address, int64_t swizzle) {
  int64_t bit7 = address >> 7 & 1, bit8 = address >> 8 & 1, bit9 = address >> 9 & 1;
  if (swizzle == 128)
    return address ^ (bit7 << 4) ^ (bit8 << 5) ^ (bit9 << 6);
  if (swizzle == 64)
    return address ^ (bit7 << 4) ^ (bit8 << 5);
  if (swizzle == 32)
    return address ^ (bit7 << 4);
  return address;
}

TEST(SharedLayout, PanelsAreTmaBoxes) {
  // Panel p is a box with rows of `swizzle` bytes, written at p * panelBytes from an aligned base.
  for (int64_t bits : {8, 16, 32, 64})
    for (int64_t swizzle : {16, 32, 64, 128})
      for (int64_t rows : {1, 3, 8, 24, 64}) {
        int64_t perPanel = swizzle * 8 / bits;
        SharedLayout layout({rows, 3 * perPanel}, bits, 1, swizzle);
        EXPECT_EQ(layout.panels(), 3);
        EXPECT_EQ(layout.panelElements(), perPanel);
        EXPECT_EQ(layout.panelBytes(), rows * swizzle);
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < 3 * perPanel; ++c) {
            int64_t box = c / perPanel * layout.panelBytes();
            int64_t address = box + r * swizzle + c % perPanel * bits / 8;
            ASSERT_EQ(layout.offset({r, c}), tmaSwizzle(address, swizzle));
          }
      }
}

TEST(SharedLayout, Rows128FollowTheClosedForm) {
  SharedLayout layout({40, 64}, 16, 1, 128);
  for (int64_t r = 0; r < 40; ++r)
    for (int64_t c = 0; c < 64; ++c)
      EXPECT_EQ(layout.offset({r, c}), r * 128 + ((2 * c) ^ ((r & 7) << 4)));
}

TEST(SharedLayout, PageExample) {
  SharedLayout layout({64, 128}, 16, 1, 128);
  EXPECT_EQ(layout.offset({5, 83}), 8192 + 640 + 118);
  EXPECT_EQ(layout.toString(), "[64, 128] x 16 bits, major 1, swizzle 128");
}

TEST(SharedLayout, MajorZeroIsTheTransposedTile) {
  SharedLayout layout({128, 48}, 16, 0, 128), transposed({48, 128}, 16, 1, 128);
  EXPECT_EQ(layout.rows(), 48);
  EXPECT_EQ(layout.panels(), 2);
  for (int64_t m = 0; m < 128; ++m)
    for (int64_t k = 0; k < 48; ++k)
      EXPECT_EQ(layout.offset({m, k}), transposed.offset({k, m}));
}

TEST(SharedLayout, IsABijectionOntoItsBytes) {
  for (int64_t bits : {8, 16, 32})
    for (int64_t rows : {1, 3, 24, 40})
      for (int64_t cols : {1, 8, 24, 40, 48, 64, 80, 96, 112, 160, 176, 192, 208, 229}) {
        int64_t widest = SharedLayout::widestSwizzle({rows, cols}, bits, 1);
        for (int64_t swizzle : {0, 16, 32, 64, 128}) {
          if (swizzle > widest)
            continue;
          SharedLayout layout({rows, cols}, bits, 1, swizzle);
          std::vector<int> uses(static_cast<size_t>(rows * cols), 0);
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < cols; ++c) {
              int64_t offset = layout.offset({r, c});
              ASSERT_TRUE(offset >= 0 && offset < layout.bytes() && offset % (bits / 8) == 0);
              ++uses[static_cast<size_t>(offset / (bits / 8))];
            }
          EXPECT_EQ(uses, std::vector<int>(uses.size(), 1)) << layout.toString();
        }
      }
}

TEST(SharedLayout, WidestSwizzle) {
  EXPECT_EQ(SharedLayout::widestSwizzle({128, 64}, 16, 1), 128);
  EXPECT_EQ(SharedLayout::widestSwizzle({128, 96}, 16, 1), 64);
  EXPECT_EQ(SharedLayout::widestSwizzle({128, 48}, 16, 1), 32);
  EXPECT_EQ(SharedLayout::widestSwizzle({128, 40}, 16, 1), 16);
  EXPECT_EQ(SharedLayout::widestSwizzle({128, 40}, 16, 0), 128);
  EXPECT_EQ(SharedLayout::widestSwizzle({128, 229}, 16, 1), 0);
  EXPECT_EQ(SharedLayout::widestSwizzle({128}, 16, 0), 16);
  EXPECT_EQ(SharedLayout::widestSwizzle({229}, 32, 0), 0);
  EXPECT_EQ(SharedLayout::widestSwizzle({1}, 32, 0), 0);
}

TEST(SharedLayout, SizesAndAlignment) {
  for (auto [swizzle, alignment] :
       std::vector<std::pair<int64_t, int64_t>>{{128, 1024}, {64, 512}, {32, 256}, {16, 128}, {0, 128}}) {
    SharedLayout layout({24, 64}, 16, 1, swizzle);
    EXPECT_EQ(layout.bytes(), 3072);
    EXPECT_EQ(layout.alignment(), alignment);
    EXPECT_EQ(layout.slotPitch() % alignment, 0);
  }
  EXPECT_EQ(SharedLayout({12, 64}, 16, 1, 128).slotPitch(), 2048);
  EXPECT_TRUE(SharedLayout({12, 64}, 16, 1, 128).panelsAligned());
  EXPECT_FALSE(SharedLayout({12, 128}, 16, 1, 128).panelsAligned());
  EXPECT_TRUE(SharedLayout({16, 128}, 16, 1, 128).panelsAligned());
}

TEST(SharedLayout, PlainRowsAreOnePanel) {
  SharedLayout layout({3, 229}, 16, 1, 0);
  EXPECT_EQ(layout.panels(), 1);
  EXPECT_EQ(layout.panelElements(), 229);
  EXPECT_EQ(layout.panelBytes(), layout.bytes());
  EXPECT_EQ(layout.offset({2, 7}), 2 * 458 + 14);
  SharedLayout vector({5}, 32, 0, 0);
  EXPECT_EQ(vector.rows(), 1);
  EXPECT_EQ(vector.bytes(), 20);
  EXPECT_EQ(vector.offset({4}), 16);
}

TEST(SharedLayout, SubByteElementsShareBytes) {
  SharedLayout layout({8, 64}, 4, 1, 32);
  EXPECT_EQ(layout.bytes(), 256);
  EXPECT_EQ(layout.offset({1, 5}), 34);
  EXPECT_EQ(layout.offset({4, 0}), 128 + 16);
}

TEST(SharedLayout, MoreThanTwoDimensions) {
  SharedLayout layout({2, 8, 64}, 16, 2, 128), flat({16, 64}, 16, 1, 128);
  EXPECT_EQ(layout.rows(), 16);
  EXPECT_EQ(layout.offset({1, 3, 9}), flat.offset({11, 9}));
}

} // namespace
