// ldmatrix, stmatrix and movmatrix: every byte of every row is in one register of one lane.
#include "headrace/Sim/Matrix/MatrixRows.h"

#include "gtest/gtest.h"

#include <vector>

using namespace headrace::sim;

namespace {

TEST(MatrixRows, EveryByteOnce) {
  for (MatrixMove move : {MatrixMove::Rows16, MatrixMove::Transposed16, MatrixMove::Rows8, MatrixMove::Transposed8,
                          MatrixMove::StoredColumns8}) {
    const int matrices = move == MatrixMove::Transposed8 ? 2 : 4;
    std::vector<int> counts(32 * 16);
    for (int reg = 0; reg < matrices * registersOf(move); ++reg)
      for (int lane = 0; lane < 32; ++lane)
        for (int byte = 0; byte < 4; ++byte) {
          RowByte place = placeOfByte(move, reg, byte, lane);
          ASSERT_TRUE(place.row >= 0 && place.row < matrices * rowsOf(move) && place.byte >= 0 && place.byte < 16);
          ++counts[place.row * 16 + place.byte];
        }
    for (int count : counts)
      EXPECT_EQ(count, 1);
  }
}

TEST(MatrixRows, AreWhereTheIsaSays) {
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane >> 2, q = lane & 3;
    for (int byte = 0; byte < 4; ++byte) {
      RowByte place = placeOfByte(MatrixMove::Rows16, 2, byte, lane);
      EXPECT_EQ(place.row, 16 + g); // elements 2q and 2q + 1 of row g
      EXPECT_EQ(place.byte, 4 * q + byte);
      place = placeOfByte(MatrixMove::Transposed16, 1, byte, lane);
      EXPECT_EQ(place.row, 8 + 2 * q + byte / 2); // element g of rows 2q and 2q + 1
      EXPECT_EQ(place.byte, 2 * g + byte % 2);
      place = placeOfByte(MatrixMove::Transposed8, 3, byte, lane);
      EXPECT_EQ(place.row, 16 + 4 * q + byte);
      EXPECT_EQ(place.byte, g + 8);
    }
    // A C fragment c0 c1 c2 c3 as bytes: c2, of row g + 8 and column 2q, goes to byte g + 8 of row 2q.
    EXPECT_EQ(placeOfByte(MatrixMove::StoredColumns8, 0, 2, lane).row, 2 * q);
    EXPECT_EQ(placeOfByte(MatrixMove::StoredColumns8, 0, 2, lane).byte, g + 8);
  }
}

TEST(MatrixRows, ExpandsSmallElements) {
  for (RowFormat format : {RowFormat::Bits4, RowFormat::Bits6}) {
    const int bits = bytesOf(format) / 2;
    for (int element = 0; element < 16; ++element)
      for (int value = 1; value < 1 << bits; ++value) {
        MatrixRow packed = {};
        for (int bit = 0; bit < bits; ++bit)
          if (value >> bit & 1)
            packed[(element * bits + bit) / 8] |= 1 << (element * bits + bit) % 8;
        MatrixRow row = expandRow(format, packed);
        for (int i = 0; i < 16; ++i)
          ASSERT_EQ(row[i], i == element ? value : 0);
      }
  }
}

TEST(MatrixRows, IgnoresPadding) {
  MatrixRow packed;
  packed.fill(0xFF);
  for (RowFormat format : {RowFormat::Bits4, RowFormat::Bits6}) {
    MatrixRow data = {};
    std::fill_n(data.begin(), bytesOf(format), 0xFF);
    EXPECT_EQ(expandRow(format, packed), expandRow(format, data));
  }
  EXPECT_EQ(expandRow(RowFormat::Bytes, packed), packed);
}

TEST(MatrixRows, TransposesInRegisters) {
  // Element (r, c) is 8r + c.
  auto wordsOf = [](auto element) {
    std::array<uint32_t, 32> words;
    for (int lane = 0; lane < 32; ++lane)
      words[lane] = element(lane / 4, 2 * (lane % 4)) | element(lane / 4, 2 * (lane % 4) + 1) << 16;
    return words;
  };
  std::array<uint32_t, 32> words = wordsOf([](uint32_t r, uint32_t c) { return 8 * r + c; });
  std::array<uint32_t, 32> expected = wordsOf([](uint32_t r, uint32_t c) { return 8 * c + r; });
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(transposedWord(words, lane), expected[lane]);
}

} // namespace
