// The arithmetic of tcgen05.mma against a triple loop, and the elements that it is fed.
#include "headrace/Sim/TensorMemory/MatrixProduct.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace headrace::sim;

namespace {

std::vector<double> randomMatrix(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> small(-64, 64);
  std::vector<double> result(count);
  for (double &value : result)
    value = small(random) / 8.0;
  return result;
}

TEST(MatrixProduct, PartOfARow) {
  constexpr int kN = 48, kDepth = 16;
  std::vector<double> a = randomMatrix(kDepth, 1), b = randomMatrix(kN * kDepth, 2);
  ColumnPanels panels(b, kN, kDepth);
  double sums[16] = {};
  sums[0] = 5;
  accumulateRow(a.data(), panels, kDepth, 16, 16, {}, sums);
  for (int n = 0; n < 16; ++n) {
    double expected = n == 0 ? 5 : 0;
    for (int k = 0; k < kDepth; ++k)
      expected += a[k] * b[(16 + n) * kDepth + k];
    EXPECT_EQ(sums[n], expected) << n;
  }
}

TEST(MatrixProduct, BlockScales) {
  constexpr int kN = 16, kDepth = 64;
  for (int scales : {1, 2, 4}) {
    std::vector<double> a = randomMatrix(kDepth, 3), b = randomMatrix(kN * kDepth, 4);
    std::vector<double> scaleA = randomMatrix(scales, 5), scaleB = randomMatrix(kN * scales, 6);
    double sums[kN] = {};
    accumulateRow(a.data(), ColumnPanels(b, kN, kDepth), kDepth, 0, kN, {scales, scaleA.data(), scaleB.data()}, sums);
    for (int n = 0; n < kN; ++n) {
      double expected = 0;
      for (int k = 0; k < kDepth; ++k) {
        int s = k / (kDepth / scales);
        expected += a[k] * scaleA[s] * b[n * kDepth + k] * scaleB[n * scales + s];
      }
      EXPECT_DOUBLE_EQ(sums[n], expected) << n;
    }
  }
}

TEST(MatrixProduct, AccumulatorWords) {
  EXPECT_EQ(accumulatorWord(AccumulatorType::F32, 1 + 0x1p-24, false), 0x3F800000u);
  EXPECT_EQ(accumulatorWord(AccumulatorType::F32, std::nan(""), false), 0x7FFFFFFFu);
  EXPECT_EQ(accumulatorWord(AccumulatorType::F16, 1.5, false), 0x3E00u);
  EXPECT_EQ(accumulatorValue(AccumulatorType::F16, 0xFFFF3E00), 1.5); // the high half does not count
  EXPECT_EQ(accumulatorWord(AccumulatorType::S32, -3, false), 0xFFFFFFFDu);
  EXPECT_EQ(accumulatorWord(AccumulatorType::S32, 2147483648.0, false), 0x80000000u);
  EXPECT_EQ(accumulatorWord(AccumulatorType::S32, 2147483648.0, true), 0x7FFFFFFFu);
  EXPECT_EQ(accumulatorValue(AccumulatorType::S32, 0xFFFFFFFD), -3);
}

TEST(Elements, Dense) {
  const uint16_t halves[] = {0x3C00, 0xC000, 0x3800, 0};
  double values[4];
  unpack(MatrixElement::F16, ElementPlacing::Dense, reinterpret_cast<const uint8_t *>(halves), 4, values);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], -2);
  EXPECT_EQ(values[2], 0.5);
  const int8_t bytes[32] = {-1, 127, -128};
  double integers[32];
  unpack(MatrixElement::S8, ElementPlacing::Dense, reinterpret_cast<const uint8_t *>(bytes), 32, integers);
  EXPECT_EQ(integers[0], -1);
  EXPECT_EQ(integers[2], -128);
}

TEST(Elements, PackedFp4HasTheFirstInTheLowHalf) {
  uint8_t bytes[32] = {0x21};
  double values[64];
  unpack(MatrixElement::E2m1, ElementPlacing::Dense, bytes, 64, values);
  EXPECT_EQ(values[0], 0.5);
  EXPECT_EQ(values[1], 1);
}

TEST(Elements, SlotsHavePadding) {
  uint8_t bytes[32];
  std::memset(bytes, 0xFF, sizeof bytes);
  for (int slot = 0; slot < 2; ++slot)
    for (int i = 0; i < 8; ++i)
      bytes[16 * slot + i] = 0x32; // 1, 1.5
  double values[32];
  unpack(MatrixElement::E2m1, ElementPlacing::Slots, bytes, 32, values);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(values[i], i % 2 ? 1.5 : 1) << i;
}

TEST(Elements, SixBitSlots) {
  uint8_t bytes[32] = {};
  for (int slot = 0; slot < 2; ++slot)
    for (int i = 0; i < 16; ++i) // the pattern i at bits 6 i
      for (int bit = 0; bit < 6; ++bit)
        if (i >> bit & 1)
          bytes[16 * slot + (6 * i + bit) / 8] |= 1 << (6 * i + bit) % 8;
  double values[32];
  unpack(MatrixElement::E2m3, ElementPlacing::Slots, bytes, 32, values);
  for (int i = 0; i < 32; ++i) // e2m3 below 2: eighths
    EXPECT_EQ(values[i], i % 16 / 8.0) << i;
}

} // namespace
