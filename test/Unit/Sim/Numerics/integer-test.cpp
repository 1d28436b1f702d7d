// Integer arithmetic at the ends of its ranges, and against wider integers on all pairs of 16 bits of interest.
#include "headrace/Sim/Numerics/Integer.h"

#include "gtest/gtest.h"

#include <climits>

using namespace headrace::sim;

namespace {

template <typename T>
const T kEnds[] = {0,
                   1,
                   2,
                   7,
                   std::numeric_limits<T>::max(),
                   std::numeric_limits<T>::max() - 1,
                   std::numeric_limits<T>::min(),
                   T(std::numeric_limits<T>::min() + 1),
                   T(-1),
                   T(-2),
                   T(0x5A)};

template <typename T> class IntegerOf : public testing::Test {};
using AllTypes = testing::Types<int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(IntegerOf, AllTypes);

TYPED_TEST(IntegerOf, AgreesWithWiderIntegers) {
  using T = TypeParam;
  using W = Wider<T>;
  for (T a : kEnds<T>)
    for (T b : kEnds<T>) {
      EXPECT_EQ(addWrapped(a, b), static_cast<T>(W(a) + W(b)));
      EXPECT_EQ(subWrapped(a, b), static_cast<T>(W(a) - W(b)));
      EXPECT_EQ(mulLow(a, b), static_cast<T>(W(a) * W(b)));
      EXPECT_EQ(mulHigh(a, b), static_cast<T>((W(a) * W(b)) >> (8 * sizeof(T))));
      const W difference = a < b ? W(b) - W(a) : W(a) - W(b);
      EXPECT_EQ(sumOfDifference(a, b, T(3)), static_cast<T>(3 + difference));
      if (b != 0) {
        EXPECT_EQ(quotient(a, b), static_cast<T>(W(a) / W(b)));
        EXPECT_EQ(remainderOf(a, b), static_cast<T>(W(a) % W(b)));
      }
    }
}

TYPED_TEST(IntegerOf, CarriesAsItsDoubleWidthSays) {
  using T = std::make_unsigned_t<TypeParam>;
  using W = Wider<T>;
  for (T a : kEnds<T>)
    for (T b : kEnds<T>)
      for (bool carry : {false, true}) {
        const W sum = W(a) + W(b) + W(carry);
        EXPECT_EQ(addWithCarry(a, b, carry).value, static_cast<T>(sum));
        EXPECT_EQ(addWithCarry(a, b, carry).carry, (sum >> (8 * sizeof(T))) != 0);
        EXPECT_EQ(subWithBorrow(a, b, carry).value, static_cast<T>(W(a) - W(b) - W(carry)));
        EXPECT_EQ(subWithBorrow(a, b, carry).carry, W(a) < W(b) + W(carry));
      }
}

TYPED_TEST(IntegerOf, DividesByZeroWithoutHarm) {
  using T = TypeParam;
  EXPECT_EQ(quotient(T(5), T(0)), static_cast<T>(-1));
  EXPECT_EQ(remainderOf(T(5), T(0)), T(5));
}

TEST(Integer, TheLowestNumberIsItsOwnNegative) {
  EXPECT_EQ(absolute(INT32_MIN), INT32_MIN);
  EXPECT_EQ(negated(INT64_MIN), INT64_MIN);
  EXPECT_EQ(absolute(int16_t(-5)), 5);
  EXPECT_EQ(quotient(INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(remainderOf(INT64_MIN, int64_t(-1)), 0);
}

TEST(Integer, SaturatesAtTheEnds) {
  EXPECT_EQ(addSaturated(INT32_MAX, 1), INT32_MAX);
  EXPECT_EQ(addSaturated(INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(addSaturated(5, -7), -2);
  EXPECT_EQ(subSaturated(INT32_MIN, 1), INT32_MIN);
  EXPECT_EQ(subSaturated(0, INT32_MIN), INT32_MAX);
  EXPECT_EQ((clampTo<uint8_t>(-4)), 0);
  EXPECT_EQ((clampTo<uint8_t>(400)), 255);
  EXPECT_EQ((clampTo<int8_t>(int64_t(-400))), -128);
  EXPECT_EQ((clampTo<uint64_t>(int32_t(7))), 7u);
}

TEST(Integer, MultipliesTheLowTwentyFourBits) {
  EXPECT_EQ(mul24(0xFF000003u, 0x01000002u), 6u);
  EXPECT_EQ(mul24(0x00FFFFFF, 2), -2);
  EXPECT_EQ(mul24(0xFFFFFFu, 0xFFFFFFu), uint64_t(0xFFFFFF) * 0xFFFFFF);
  EXPECT_EQ(mulWide(uint32_t(0xFFFFFFFF), uint32_t(0xFFFFFFFF)), uint64_t(0xFFFFFFFE00000001));
  EXPECT_EQ(mulWide(INT32_MIN, INT32_MIN), int64_t(1) << 62);
  EXPECT_EQ(mulWide(int16_t(-3), int16_t(7)), -21);
}

TEST(Integer, DotProductsExtendTheirFields) {
  EXPECT_EQ(dot4(0x01020304, 0x05060708, 100, false, false), 100u + 5 + 12 + 21 + 32);
  EXPECT_EQ(static_cast<int32_t>(dot4(0xFFFFFFFF, 0x01010101, 0, true, false)), -4);
  EXPECT_EQ(dot4(0xFFFFFFFF, 0x01010101, 0, false, true), 4u * 255);
  EXPECT_EQ(static_cast<int32_t>(dot4(0x80808080, 0x80808080, 1, true, true)), 4 * 128 * 128 + 1);
  EXPECT_EQ(dot2(0x00020003, 0x04050607, 10, false, false, false), 10u + 3 * 7 + 2 * 6);
  EXPECT_EQ(dot2(0x00020003, 0x04050607, 10, false, false, true), 10u + 3 * 5 + 2 * 4);
  EXPECT_EQ(static_cast<int32_t>(dot2(0xFFFF0001, 0x0000FF02, 0, true, true, false)), 2 + 1);
}

TEST(Integer, CountsAroundALimit) {
  EXPECT_EQ(incremented(3, 5), 4u);
  EXPECT_EQ(incremented(5, 5), 0u);
  EXPECT_EQ(incremented(9, 5), 0u);
  EXPECT_EQ(decremented(3, 5), 2u);
  EXPECT_EQ(decremented(0, 5), 5u);
  EXPECT_EQ(decremented(6, 5), 5u);
}

} // namespace
