// Boxes of tensors against a formula for one element at a time, on all points.
#include "headrace/Sim/Copies/TensorBox.h"

#include "gtest/gtest.h"

#include <cstring>
#include <map>
#include <set>

using namespace headrace::sim;

namespace {

/// The patterns of PTX ISA 5.5.7, as its tables have them: the unit found at place `column` of line `row`.
int unitInTable(int swizzle, int row, int column) {
  static const int k32[2][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}};
  static const int k64[4][8] = {
      {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4}};
  static const int k128[8][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5},
                                 {3, 2, 1, 0, 7, 6, 5, 4}, {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
                                 {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
  if (swizzle == 32)
    return k32[row % 2][column];
  if (swizzle == 64)
    return k64[row % 4][column];
  return swizzle == 128 ? k128[row % 8][column] : column;
}

TEST(Swizzle, FollowsTheTablesOfTheIsa) {
  for (int swizzle : {0, 32, 64, 128})
    for (uint32_t place = 0; place < 4096; ++place) {
      int row = static_cast<int>(place / 128), column = static_cast<int>(place % 128 / 16);
      uint32_t from = place / 128 * 128 + static_cast<uint32_t>(unitInTable(swizzle, row, column)) * 16 + place % 16;
      EXPECT_EQ(swizzled(from, swizzle), place);
      EXPECT_EQ(swizzled(place, swizzle), from);
    }
}

/// An array of small extents; strides leave gaps between rows.
TensorMap smallMap(ElementType type, std::vector<uint64_t> sizes, std::vector<uint32_t> box) {
  TensorMap map;
  map.name = "A";
  map.type = type;
  map.address = 0x10000;
  map.sizes = sizes;
  uint64_t stride = (sizes[0] * static_cast<uint64_t>(map.elementBytes()) + 15) / 16 * 16 + 16;
  for (size_t i = 1; i < sizes.size(); ++i) {
    map.strides.push_back(stride);
    stride *= sizes[i] + 1;
  }
  map.box = box;
  map.elementStrides.assign(sizes.size(), 1);
  return map;
}

/// The device address of each element of the dense box, 0 for those outside, one at a time.
std::vector<uint64_t> addressesOf(const TensorBox &box) {
  const TensorMap &map = *box.map;
  std::vector<uint64_t> result;
  int64_t elements = box.bytes() / map.elementBytes();
  for (int64_t n = 0; n < elements; ++n) {
    uint64_t address = map.address;
    bool inside = true;
    int64_t rest = n;
    for (size_t i = 0; i < map.sizes.size(); ++i) {
      int64_t extent = box.fourRows && i == 1 ? 4 : map.boxExtent(i);
      int64_t at = box.fourRows && i == 1 ? box.start[static_cast<size_t>(1 + rest % extent)]
                                          : box.start[i] + rest % extent * map.step(i);
      rest /= extent;
      inside &= at >= 0 && at < static_cast<int64_t>(map.sizes[i]);
      address += static_cast<uint64_t>(at) * (i ? map.strides[i - 1] : static_cast<uint64_t>(map.elementBytes()));
    }
    result.push_back(inside ? address : 0);
  }
  return result;
}

/// Requires that the rows tell the same as addressesOf.
void checkRows(const TensorBox &box) {
  ASSERT_EQ(box.malformed(), "");
  int64_t size = box.map->elementBytes();
  std::vector<uint64_t> expected = addressesOf(box), found(expected.size(), 0);
  std::vector<BoxRow> rows = box.rows();
  ASSERT_EQ(static_cast<int64_t>(rows.size()) * box.rowBytes(), box.bytes());
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].start, static_cast<int64_t>(i) * box.rowBytes());
    ASSERT_LE(rows[i].before + rows[i].inside, box.rowBytes());
    for (int64_t at = 0; at < rows[i].inside; at += size)
      found[static_cast<size_t>((rows[i].start + rows[i].before + at) / size)] =
          rows[i].global + static_cast<uint64_t>(at);
  }
  ASSERT_EQ(found, expected);
}

TEST(TensorBox, RowsOfOneDimension) {
  for (uint64_t size : {1, 5, 8, 19})
    for (uint32_t extent : {8, 16, 24}) {
      TensorMap map = smallMap(ElementType::F16, {size}, {extent});
      for (int64_t start = -32; start <= 32; ++start)
        checkRows({&map, {start}, false});
    }
}

TEST(TensorBox, RowsOfTwoDimensions) {
  for (uint64_t size : {3, 9})
    for (uint32_t step : {1, 2, 3}) {
      TensorMap map = smallMap(ElementType::F32, {size, 5}, {8, 4});
      map.elementStrides = {3, step};
      for (int64_t x = -10; x <= 10; ++x)
        for (int64_t y = -6; y <= 6; ++y)
          checkRows({&map, {x, y}, false});
    }
}

TEST(TensorBox, RowsOfThreeToFiveDimensions) {
  TensorMap three = smallMap(ElementType::U8, {20, 3, 2}, {16, 2, 3});
  TensorMap five = smallMap(ElementType::F64, {3, 2, 1, 2, 2}, {2, 3, 2, 2, 1});
  five.elementStrides = {1, 2, 1, 1, 1};
  for (int64_t x = -17; x <= 21; x += 2)
    for (int64_t y = -3; y <= 3; ++y)
      for (int64_t z = -3; z <= 3; ++z) {
        checkRows({&three, {x, y, z}, false});
        checkRows({&five, {x % 4, y, z, y - z, 1 - z}, false});
      }
}

TEST(TensorBox, FourRowsGoAnywhere) {
  TensorMap map = smallMap(ElementType::BF16, {12, 5}, {8, 1});
  for (int64_t column = -8; column <= 16; column += 4)
    for (int64_t row = -1; row <= 5; ++row)
      checkRows({&map, {column, row, 0, 4 - row, 7}, true});
}

TEST(TensorBox, FillsWithZerosOrNan) {
  TensorMap map = smallMap(ElementType::F32, {4}, {4});
  EXPECT_EQ((TensorBox{&map, {0}, false}).filled(), std::vector<uint8_t>(16, 0));
  map.nanFill = true;
  std::vector<uint8_t> nan = {0xFF, 0xFF, 0xFF, 0x7F};
  std::vector<uint8_t> filled = TensorBox{&map, {0}, false}.filled();
  for (size_t i = 0; i < filled.size(); ++i)
    EXPECT_EQ(filled[i], nan[i % 4]);
}

/// Offset in shared memory, before the swizzle, of a byte of a dense box.
uint32_t padded(int64_t offset, uint32_t rowBytes, int swizzle) {
  auto at = static_cast<uint32_t>(offset);
  return swizzle ? at / rowBytes * static_cast<uint32_t>(swizzle) + at % rowBytes : at;
}

/// Where each byte of a dense box goes, by swizzleBox if it is closed and piece by piece.
TEST(TensorBox, ImagesAreSwizzledByteByByte) {
  for (int swizzle : {0, 32, 64, 128})
    for (uint32_t rowBytes : {16u, 32u, 64u, 128u})
      for (uint32_t rows : {1u, 3u, 8u, 13u})
        for (uint32_t address = 0; address < 2048; address += 128) {
          if (swizzle && rowBytes > static_cast<uint32_t>(swizzle))
            continue;
          TensorMap map = smallMap(ElementType::U8, {256, 64}, {rowBytes, rows});
          map.swizzle = swizzle;
          TensorBox box{&map, {0, 0}, false};
          std::map<uint32_t, int64_t> pieces;
          box.forEachPiece(address, 0, box.bytes(), [&](uint32_t to, int64_t offset, int64_t bytes) {
            for (int64_t i = 0; i < bytes; ++i)
              pieces[to + static_cast<uint32_t>(i)] = offset + i;
          });
          ASSERT_EQ(static_cast<int64_t>(pieces.size()), box.bytes());
          for (auto [to, offset] : pieces)
            ASSERT_EQ(to, swizzled(address + padded(offset, rowBytes, swizzle), swizzle));
          ASSERT_EQ(box.isClosed(address), swizzle == 0 || rowBytes == static_cast<uint32_t>(swizzle));
          if (!box.isClosed(address))
            continue;
          std::vector<uint8_t> dense(static_cast<size_t>(box.bytes())), image(dense.size()), back(dense.size());
          for (size_t i = 0; i < dense.size(); ++i)
            dense[i] = static_cast<uint8_t>(i * 37 + i / 256);
          swizzleBox(address, swizzle, dense.data(), image.data(), box.bytes());
          for (auto [to, offset] : pieces)
            ASSERT_EQ(image[to - address], dense[static_cast<size_t>(offset)]);
          swizzleBox(address, swizzle, image.data(), back.data(), box.bytes());
          ASSERT_EQ(back, dense);
        }
}

TEST(TensorBox, PiecesOfAPartAreThoseOfTheWhole) {
  TensorMap map = smallMap(ElementType::U8, {64, 8}, {64, 8});
  map.swizzle = 64;
  TensorBox box{&map, {0, 0}, false};
  for (int64_t first = 0; first < 130; ++first)
    for (int64_t last = first; last < 130; ++last) {
      int64_t next = first;
      box.forEachPiece(384, first, last, [&](uint32_t to, int64_t offset, int64_t bytes) {
        ASSERT_EQ(offset, next);
        ASSERT_EQ(offset / 16, (offset + bytes - 1) / 16);
        ASSERT_EQ(to, swizzled(384 + static_cast<uint32_t>(offset), 64));
        next += bytes;
      });
      ASSERT_EQ(next, last);
    }
}

TEST(TensorBox, StartsAtWholeUnits) {
  TensorMap map = smallMap(ElementType::F16, {64, 8}, {8, 2});
  for (int64_t x = -20; x <= 20; ++x)
    EXPECT_EQ((TensorBox{&map, {x, 0}, false}).whyNotStart(false).empty(), x % 8 == 0);
  EXPECT_EQ((TensorBox{&map, {3, 0}, false}).whyNotStart(false),
            "expected a box of 'A' that starts at a multiple of 16 bytes along dimension 0, got element 3 of 2 bytes");
}

TEST(TensorBox, StoresStartAtZeroOrAbove) {
  TensorMap map = smallMap(ElementType::F16, {64, 8}, {8, 2});
  EXPECT_EQ((TensorBox{&map, {0, -1}, false}).whyNotStart(true),
            "expected coordinates of at least 0 in a store to 'A', got -1");
  EXPECT_EQ((TensorBox{&map, {0, -1}, false}).whyNotStart(false), "");
  EXPECT_EQ((TensorBox{&map, {640, 80}, false}).whyNotStart(true), "");
}

TEST(TensorBox, IsMalformedWithoutItsDimensions) {
  TensorMap map = smallMap(ElementType::F16, {64, 8}, {8, 2});
  EXPECT_EQ((TensorBox{&map, {0}, false}).malformed(), "tensor map of 'A': expected a copy of 2 dimensions, got 1");
  EXPECT_EQ((TensorBox{&map, {0, 0, 0, 0, 0}, true}).malformed(),
            "tensor map of 'A': expected 2 dimensions and boxes of one row (PTX ISA 5.5.3.4), got 2 dimensions and "
            "boxes of 2 rows");
  map.address = 8;
  EXPECT_EQ((TensorBox{&map, {0, 0}, false}).malformed(),
            "tensor map of 'A': expected an address that is a multiple of 16 bytes, got 0x8");
}

TEST(TensorBox, NarrowRowsArePaddedToTheSwizzle) {
  TensorMap map = smallMap(ElementType::U8, {64, 8}, {32, 5});
  map.swizzle = 128;
  TensorBox box{&map, {0, 0}, false};
  EXPECT_EQ(box.bytes(), 160);
  EXPECT_EQ(box.sharedBytes(), 640);
  std::vector<uint32_t> units;
  box.forEachPiece(0, 0, box.bytes(), [&](uint32_t to, int64_t, int64_t) { units.push_back(to); });
  // Where a GPU of compute capability 9.0 puts them.
  EXPECT_EQ(units, (std::vector<uint32_t>{0, 16, 144, 128, 288, 304, 432, 416, 576, 592}));
}

TEST(TensorBox, RowsWithoutASwizzleArePacked) {
  TensorMap map = smallMap(ElementType::U8, {64, 8}, {32, 5});
  EXPECT_EQ((TensorBox{&map, {0, 0}, false}).pitch(), 32);
  EXPECT_EQ((TensorBox{&map, {0, 0}, false}).sharedBytes(), 160);
}

} // namespace
