// Products against plain loops, and the rounding of accumulators.
#include "headrace/Sim/Matrix/BlockProduct.h"
#include "headrace/Sim/Numerics/Float.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace headrace::sim;

namespace {

void fill(BlockProduct &product, int seed) {
  std::mt19937 random(seed);
  for (double &value : product.a)
    value = static_cast<int>(random() % 41) - 20;
  for (double &value : product.b)
    value = static_cast<int>(random() % 41) - 20;
}

TEST(BlockProduct, EveryPlaceOnce) {
  BlockProduct product(16, 24, 5);
  std::vector<int> counts(product.b.size());
  for (int k = 0; k < 5; ++k)
    for (int n = 0; n < 24; ++n)
      ++counts[product.placeOfB(k, n)];
  for (int count : counts)
    EXPECT_EQ(count, 1);
}

TEST(BlockProduct, MultipliesAllShapes) {
  for (int rows : {2, 8, 16, 64})
    for (int columns : {8, 16, 24, 256})
      for (int depth : {1, 4, 16, 32}) {
        BlockProduct product(rows, columns, depth);
        fill(product, rows + columns + depth);
        product.multiply();
        for (int m = 0; m < rows; ++m)
          for (int n = 0; n < columns; ++n) {
            double sum = 0;
            for (int k = 0; k < depth; ++k)
              sum += product.a[product.placeOfA(m, k)] * product.b[product.placeOfB(k, n)];
            ASSERT_EQ(product.sums[product.placeOfSum(m, n)], sum);
          }
      }
}

TEST(BlockProduct, FusedRoundsEachProductOnce) {
  BlockProduct product(8, 8, 2);
  product.a[product.placeOfA(3, 0)] = 1 + 0x1p-52;
  product.b[product.placeOfB(0, 5)] = 1 - 0x1p-52;
  product.a[product.placeOfA(3, 1)] = 1;
  product.b[product.placeOfB(1, 5)] = 0.25;
  product.sums[product.placeOfSum(3, 5)] = -1;
  product.multiplyFused();
  // The first fma is exact, which a rounded product would not be: (1 + e)(1 - e) - 1 = -e^2.
  EXPECT_EQ(product.sums[product.placeOfSum(3, 5)], 0.25 - 0x1p-104);
  EXPECT_EQ(product.sums[product.placeOfSum(0, 0)], 0);
}

uint32_t addFloat(float before, double sum) { return accumulated(MmaAccumulator::F32, bitsOfFloat(before), sum); }

TEST(Accumulated, FloatRoundsOnceToNearestEven) {
  EXPECT_EQ(addFloat(1, 2), bitsOfFloat(3));
  EXPECT_EQ(addFloat(1, 0x1p-24), bitsOfFloat(1));                      // a tie
  EXPECT_EQ(addFloat(1, 0x1p-24 + 0x1p-40), bitsOfFloat(1 + 0x1p-23f)); // more than half
  EXPECT_EQ(addFloat(1 + 0x1p-23f, 0x1p-24), bitsOfFloat(1 + 0x1p-22f));
  EXPECT_EQ(addFloat(3e38f, 3e38), bitsOfFloat(INFINITY));
  EXPECT_EQ(addFloat(0x1p-149f, 0x1p-149), bitsOfFloat(0x1p-148f));
}

TEST(Accumulated, NanIsCanonical) {
  EXPECT_EQ(addFloat(-INFINITY, INFINITY), 0x7FFFFFFFu);
  EXPECT_EQ(addFloat(1, -NAN), 0x7FFFFFFFu);
  EXPECT_EQ(accumulated(MmaAccumulator::F16, 0x7C00, -INFINITY), 0x7FFFu);
}

TEST(Accumulated, HalfRoundsOnce) {
  // 2049 is a tie between 2048 and 2050; a bit more is not. Through float it would be a tie, too.
  EXPECT_EQ(accumulated(MmaAccumulator::F16, 0x6800, 1), 0x6800u);
  EXPECT_EQ(accumulated(MmaAccumulator::F16, 0x6800, 1 + 0x1p-30), 0x6801u);
  EXPECT_EQ(accumulated(MmaAccumulator::F16, 0xFFFF0000 | 0x3C00, 1), 0x4000u); // only the low half counts
  EXPECT_EQ(accumulated(MmaAccumulator::F16, 0, 65520), 0x7C00u);
}

TEST(Accumulated, IntegersWrapOrSaturate) {
  EXPECT_EQ(accumulated(MmaAccumulator::S32, 0x7FFFFFFF, 2), 0x80000001u);
  EXPECT_EQ(accumulated(MmaAccumulator::S32Saturated, 0x7FFFFFFF, 2), 0x7FFFFFFFu);
  EXPECT_EQ(accumulated(MmaAccumulator::S32, 0x80000000, -1), 0x7FFFFFFFu);
  EXPECT_EQ(accumulated(MmaAccumulator::S32Saturated, 0x80000000, -1), 0x80000000u);
  EXPECT_EQ(accumulated(MmaAccumulator::S32Saturated, 5, -7), static_cast<uint32_t>(-2));
}

} // namespace
