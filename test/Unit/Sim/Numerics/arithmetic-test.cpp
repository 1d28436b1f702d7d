// One rounding: 16-bit results against exact sums in 128-bit fixed point, directed roundings against their definition.
#include "headrace/Sim/Numerics/Arithmetic.h"

#include "gtest/gtest.h"

#include <random>
#include <vector>

using namespace headrace::sim;

namespace {

__extension__ using Wide = __int128;

/// Halves that show special behaviour: zeros, subnormal numbers, powers of two, their neighbours, the largest.
std::vector<uint16_t> interestingHalves() {
  std::vector<uint16_t> result;
  for (uint16_t magnitude : {0x0000, 0x0001, 0x0002, 0x03FF, 0x0400, 0x0401, 0x0555, 0x1234, 0x2E66, 0x3800, 0x3BFF,
                             0x3C00, 0x3C01, 0x4248, 0x6400, 0x7800, 0x7BFF}) {
    result.push_back(magnitude);
    result.push_back(magnitude | 0x8000);
  }
  return result;
}

/// A finite half in units of 2^-24, the smallest half.
Wide inUnits(uint16_t bits) { return static_cast<Wide>(double(halfToFloat(bits)) * 0x1p24); }

/// Whether `result` is `exact`, in units of 2^-48, rounded to the nearest half, ties to even.
bool isNearest(Half result, Wide exact) {
  const uint16_t magnitude = result.bits & 0x7FFF;
  if (exact < 0 || (exact == 0 && (result.bits & 0x8000)))
    exact = -exact;
  const Wide largest = inUnits(0x7BFF) << 24, step = Wide(1) << (24 + 24 + 5);
  if (magnitude == 0x7C00)
    return exact >= largest + step / 2;
  const Wide value = inUnits(magnitude) << 24;
  const Wide above = magnitude == 0x7BFF ? largest + step : inUnits(magnitude + 1) << 24;
  const Wide below = magnitude == 0 ? -above : inUnits(magnitude - 1) << 24;
  const bool even = (magnitude & 1) == 0;
  const Wide toAbove = (value + above) - 2 * exact, toBelow = 2 * exact - (value + below);
  return (toAbove > 0 || (toAbove == 0 && even)) && (toBelow > 0 || (toBelow == 0 && even));
}

bool isFinite(uint16_t half) { return (half & 0x7C00) != 0x7C00; }

TEST(Arithmetic, HalfSumsAndProductsRoundOnce) {
  for (uint16_t b : interestingHalves())
    for (uint32_t a = 0; a < 0x10000; ++a) {
      if (!isFinite(static_cast<uint16_t>(a)))
        continue;
      const Half x{static_cast<uint16_t>(a)}, y{b};
      const Wide p = inUnits(x.bits), q = inUnits(y.bits);
      ASSERT_TRUE(isNearest(compute<Add>(FloatMode(), x, y), (p + q) << 24)) << a << " + " << b;
      ASSERT_TRUE(isNearest(compute<Sub>(FloatMode(), x, y), (p - q) << 24)) << a << " - " << b;
      ASSERT_TRUE(isNearest(compute<Mul>(FloatMode(), x, y), p * q)) << a << " * " << b;
    }
}

TEST(Arithmetic, HalfFmaRoundsOnce) {
  const std::vector<uint16_t> halves = interestingHalves();
  std::mt19937 random(3);
  auto check = [](uint16_t a, uint16_t b, uint16_t c) {
    if (!isFinite(a) || !isFinite(b) || !isFinite(c))
      return true;
    const Wide exact = inUnits(a) * inUnits(b) + (inUnits(c) << 24);
    return isNearest(compute<Fma>(FloatMode(), Half{a}, Half{b}, Half{c}), exact);
  };
  for (uint16_t a : halves)
    for (uint16_t b : halves)
      for (uint16_t c : halves)
        ASSERT_TRUE(check(a, b, c)) << a << " * " << b << " + " << c;
  for (int i = 0; i < 1000000; ++i) {
    const auto a = static_cast<uint16_t>(random()), b = static_cast<uint16_t>(random());
    // An addend about the size of the product, or far below its last place.
    const auto c = static_cast<uint16_t>(random());
    ASSERT_TRUE(check(a, b, c)) << a << " * " << b << " + " << c;
  }
}

TEST(Arithmetic, BfloatFmaSeesWhatDoubleCannotHold) {
  // 1 + 2^-8 lies between two bf16 numbers; 2^-120 more, far beyond a double's last place, decides.
  const Bfloat x{0x3F81}, one{0x3F80}, tiny{floatToBfloat(0x1p-120)}, half{floatToBfloat(0x1p-8)};
  const Bfloat minusTiny{static_cast<uint16_t>(tiny.bits | 0x8000)};
  ASSERT_EQ(compute<Add>(FloatMode(), one, half).bits, 0x3F80); // a tie, to even
  ASSERT_EQ(compute<Add>(FloatMode(), x, half).bits, 0x3F82);   // a tie, to even
  // (2^-60)^2 = 2^-120 added to a tie from a product: 1 * (1 + 2^-8) cannot be written, so 2^-4 * 2^-4 + 1.
  const Bfloat sixteenth{floatToBfloat(0x1p-4)};
  ASSERT_EQ(compute<Fma>(FloatMode(), sixteenth, sixteenth, one).bits, 0x3F80);
  ASSERT_EQ(compute<Fma>(FloatMode(), sixteenth, sixteenth, x).bits, 0x3F82);
  // c decides: (1 + 2^-7) * (1 + 2^-1) = 1.5 + 1.5 * 2^-7, a tie of its last place, plus or minus 2^-120.
  const Bfloat threeHalves{0x3FC0};
  ASSERT_EQ(compute<Mul>(FloatMode(), x, threeHalves).bits, 0x3FC2);
  ASSERT_EQ(compute<Fma>(FloatMode(), x, threeHalves, tiny).bits, 0x3FC2);
  ASSERT_EQ(compute<Fma>(FloatMode(), x, threeHalves, minusTiny).bits, 0x3FC1);
}

TEST(Arithmetic, SumsToOddKeepATrace) {
  EXPECT_EQ(addToOdd(1, 2), 3);
  EXPECT_EQ(addToOdd(1, 0x1p-100), 1 + 0x1p-52);
  EXPECT_EQ(addToOdd(1, -0x1p-100), 1 - 0x1p-53);
  EXPECT_EQ(addToOdd(-1, 0x1p-100), -(1 - 0x1p-53));
  EXPECT_EQ(addToOdd(1 + 0x1p-52, 0x1p-100), 1 + 0x1p-52);
  EXPECT_EQ(addToOdd(INFINITY, 1), INFINITY);
  EXPECT_TRUE(std::isnan(addToOdd(INFINITY, -INFINITY)));
  EXPECT_TRUE(std::signbit(addToOdd(-0.0, -0.0)));
  EXPECT_FALSE(std::signbit(addToOdd(1, -1)));
}

FloatMode withRounding(Rounding rounding) {
  FloatMode mode;
  mode.rounding = rounding;
  return mode;
}

TEST(Arithmetic, DirectedProductsEncloseTheExactOne) {
  std::mt19937 random(4);
  for (int i = 0; i < 100000; ++i) {
    const float a = floatOfBits((random() & 0x807FFFFF) | (100 + random() % 50) << 23);
    const float b = floatOfBits((random() & 0x807FFFFF) | (100 + random() % 50) << 23);
    const double exact = double(a) * b;
    const float down = compute<Mul>(withRounding(Rounding::Down), a, b);
    const float up = compute<Mul>(withRounding(Rounding::Up), a, b);
    const float inward = compute<Mul>(withRounding(Rounding::Zero), a, b);
    ASSERT_LE(down, exact);
    ASSERT_GE(up, exact);
    ASSERT_EQ(inward, exact > 0 ? down : up);
    ASSERT_EQ(up, down == exact ? down : std::nextafter(down, INFINITY));
  }
}

TEST(Arithmetic, DirectedRoundingsOfEveryOperation) {
  const FloatMode down = withRounding(Rounding::Down), up = withRounding(Rounding::Up);
  EXPECT_EQ(compute<Add>(down, 1.0f, 0x1p-40f), 1.0f);
  EXPECT_EQ(compute<Add>(up, 1.0f, 0x1p-40f), 1.0f + 0x1p-23f);
  EXPECT_EQ(compute<Sub>(down, 1.0f, 0x1p-40f), 1.0f - 0x1p-24f);
  EXPECT_EQ(compute<Fma>(up, 1.0f, 1.0f, 0x1p-149f), 1.0f + 0x1p-23f);
  EXPECT_EQ(compute<Div>(down, 1.0f, 3.0f), 0x1.555554p-2f);
  EXPECT_EQ(compute<Div>(up, 1.0f, 3.0f), 0x1.555556p-2f);
  EXPECT_EQ(compute<Reciprocal>(down, 3.0f), 0x1.555554p-2f);
  EXPECT_EQ(compute<Sqrt>(down, 2.0f), 0x1.6a09e6p0f);
  EXPECT_EQ(compute<Sqrt>(up, 2.0f), 0x1.6a09e8p0f);
  EXPECT_EQ(compute<Div>(up, 1.0, 3.0), 0x1.5555555555556p-2);
  EXPECT_EQ(compute<Fma>(down, 1.0, 1.0, -0x1p-1074), 1 - 0x1p-53);
  EXPECT_EQ(compute<Add>(up, 0x1.fffffep127f, 0x1.fffffep127f), INFINITY);
  EXPECT_EQ(compute<Add>(down, 0x1.fffffep127f, 0x1.fffffep127f), 0x1.fffffep127f);
  EXPECT_EQ(1.0f / 3, 0x1.555556p-2f) << "the host's rounding must be left as it was";
}

TEST(Arithmetic, ModifiersOfFloats) {
  FloatMode flush, saturate, relu;
  flush.flush = saturate.saturate = relu.relu = true;
  EXPECT_EQ(compute<Add>(FloatMode(), 0x1p-127f, 0x1p-149f), 0x1p-127f + 0x1p-149f);
  EXPECT_EQ(compute<Add>(flush, 1.0f, -0x1p-127f), 1.0f);
  EXPECT_EQ(bitsOfFloat(compute<Mul>(flush, -0x1p-126f, 0.5f)), 0x80000000);
  EXPECT_EQ(compute<Mul>(flush, 0x1p-127f, 0x1p100f), 0);
  EXPECT_EQ(compute<Add>(saturate, 0.75f, 0.75f), 1.0f);
  EXPECT_EQ(bitsOfFloat(compute<Add>(saturate, -1.0f, 0.0f)), 0u);
  EXPECT_EQ(bitsOfFloat(compute<Add>(saturate, NAN, 0.0f)), 0u);
  EXPECT_EQ(bitsOfFloat(compute<Add>(FloatMode(), NAN, 0.0f)), 0x7FFFFFFFu);
  EXPECT_EQ(bitsOfFloat(compute<Sub>(FloatMode(), INFINITY, INFINITY)), 0x7FFFFFFFu);
  EXPECT_EQ(bitsOfFloat(compute<Fma>(relu, -1.0f, 1.0f, 0.0f)), 0u);
}

TEST(Arithmetic, ModifiersOfHalves) {
  FloatMode flush, saturate, relu;
  flush.flush = saturate.saturate = relu.relu = true;
  const Half one{0x3C00}, minus{0xBC00}, subnormal{0x0200}, nan{0x7E01}, largest{0x7BFF};
  EXPECT_EQ(compute<Add>(FloatMode(), subnormal, subnormal).bits, 0x0400);
  EXPECT_EQ(compute<Add>(flush, subnormal, subnormal).bits, 0);
  EXPECT_EQ(compute<Mul>(flush, Half{0x8400}, Half{0x3800}).bits, 0x8000);
  EXPECT_EQ(compute<Add>(saturate, one, one).bits, 0x3C00);
  EXPECT_EQ(compute<Add>(saturate, nan, one).bits, 0);
  EXPECT_EQ(compute<Add>(FloatMode(), nan, one).bits, 0x7FFF);
  EXPECT_EQ(compute<Add>(FloatMode(), largest, largest).bits, 0x7C00);
  EXPECT_EQ(compute<Fma>(relu, one, minus, Half{0}).bits, 0);
  EXPECT_EQ(compute<Fma>(relu, nan, minus, Half{0}).bits, 0x7FFF);
}

template <typename T> void expectMinMax() {
  auto of = [](double value) {
    if constexpr (std::is_same_v<T, Half>)
      return Half{floatToHalf(value)};
    else if constexpr (std::is_same_v<T, Bfloat>)
      return Bfloat{floatToBfloat(value)};
    else
      return static_cast<T>(value);
  };
  const double nan = std::nan("");
  auto value = [&](MinMaxMode mode, bool isMax, double a, double b) {
    return double(toFloat(minMax(mode, isMax, of(a), of(b))));
  };
  MinMaxMode plain, nans, signs;
  nans.nan = true;
  signs.absolute = signs.xorSign = true;
  EXPECT_EQ(value(plain, true, 1, 2), 2);
  EXPECT_EQ(value(plain, false, 1, 2), 1);
  for (auto [a, b] : {std::pair(0.0, -0.0), std::pair(-0.0, 0.0)}) {
    EXPECT_FALSE(std::signbit(value(plain, true, a, b)));
    EXPECT_TRUE(std::signbit(value(plain, false, a, b)));
  }
  EXPECT_EQ(value(plain, true, nan, -3), -3);
  EXPECT_EQ(value(plain, false, 4, nan), 4);
  EXPECT_TRUE(std::isnan(value(plain, true, nan, nan)));
  EXPECT_TRUE(std::isnan(value(nans, true, nan, 1)));
  EXPECT_TRUE(std::isnan(value(nans, false, 1, nan)));
  EXPECT_EQ(value(signs, true, -3, 2), -3);
  EXPECT_EQ(value(signs, false, -3, -2), 2);
  EXPECT_EQ(value(plain, true, -INFINITY, INFINITY), INFINITY);
}

TEST(Arithmetic, MinimumAndMaximum) {
  expectMinMax<float>();
  expectMinMax<double>();
  expectMinMax<Half>();
  expectMinMax<Bfloat>();
  EXPECT_EQ(bitsOfFloat(minMax(MinMaxMode(), true, NAN, NAN)), 0x7FFFFFFFu);
  EXPECT_EQ(minMax(MinMaxMode(), true, 1.0f, 5.0f, 3.0f), 5.0f);
  EXPECT_EQ(minMax(MinMaxMode(), false, 4.0f, NAN, 3.0f), 3.0f);
}

TEST(Arithmetic, RelationsAreExclusive) {
  EXPECT_EQ(relationOf(1, 2), Less);
  EXPECT_EQ(relationOf(-1, 1), Less);
  EXPECT_EQ(relationOf(~0u, 1u), Greater);
  EXPECT_EQ(relationOf(0.0f, -0.0f), Equal);
  EXPECT_EQ(relationOf(NAN, 1.0f), Unordered);
  EXPECT_EQ(relationOf(NAN, NAN), Unordered);
  EXPECT_EQ(relationOf(double(INFINITY), 1.0), Greater);
}

} // namespace
