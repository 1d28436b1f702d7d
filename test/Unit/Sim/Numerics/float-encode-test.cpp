// Rounding: every number of a format, and the points between every two of them, in every rounding.
#include "headrace/Sim/Numerics/Float.h"

#include "gtest/gtest.h"

#include <cfenv>
#include <cmath>
#include <random>

using namespace headrace::sim;

namespace {

constexpr Rounding kRoundings[] = {Rounding::NearestEven, Rounding::NearestAway, Rounding::Zero, Rounding::Down,
                                   Rounding::Up};

/// The value of a magnitude of any format of up to 19 bits.
double valueOf(uint64_t magnitude, const FloatFormat &format) {
  const int exponent = static_cast<int>(magnitude >> format.fractionBits);
  const auto fraction = static_cast<double>(magnitude & format.fractionMask());
  const double whole = exponent ? fraction + std::ldexp(1.0, format.fractionBits) : fraction;
  return std::ldexp(whole, std::max(exponent, 1) - format.bias() - format.fractionBits);
}

/// What rounding gives for a point a quarter, half or three quarters of the way from `low` to the next magnitude.
uint64_t rounded(uint64_t low, int quarters, bool negative, Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return quarters == 2 ? low + (low & 1) : low + (quarters > 2);
  case Rounding::NearestAway:
    return low + (quarters >= 2);
  case Rounding::Zero:
    return low;
  case Rounding::Down:
    return low + negative;
  default:
    return low + !negative;
  }
}

class EveryFormat : public testing::TestWithParam<FloatFormat> {};

TEST_P(EveryFormat, KeepsItsOwnNumbers) {
  const FloatFormat &format = GetParam();
  for (uint64_t magnitude = 0; magnitude <= format.largest(); ++magnitude) {
    const double value = valueOf(magnitude, format);
    for (Rounding rounding : kRoundings) {
      ASSERT_EQ(encodeFloat(value, format, rounding), magnitude);
      ASSERT_EQ(encodeFloat(-value, format, rounding), magnitude | format.signBit());
    }
  }
}

TEST_P(EveryFormat, RoundsBetweenItsNumbers) {
  const FloatFormat &format = GetParam();
  for (uint64_t magnitude = 0; magnitude < format.largest(); ++magnitude) {
    const double low = valueOf(magnitude, format), high = valueOf(magnitude + 1, format);
    for (int quarters = 1; quarters < 4; ++quarters) {
      const double value = low + (high - low) * quarters / 4;
      for (Rounding rounding : kRoundings) {
        ASSERT_EQ(encodeFloat(value, format, rounding), rounded(magnitude, quarters, false, rounding))
            << magnitude << " + " << quarters << "/4";
        ASSERT_EQ(encodeFloat(-value, format, rounding),
                  rounded(magnitude, quarters, true, rounding) | format.signBit());
      }
    }
  }
}

TEST_P(EveryFormat, SeesTheFaintestTraceOfMore) {
  const FloatFormat &format = GetParam();
  for (uint64_t magnitude : {format.fractionMask(), uint64_t(1), uint64_t(2)}) {
    const double low = valueOf(magnitude, format), high = valueOf(magnitude + 1, format);
    const double middle = low + (high - low) / 2;
    EXPECT_EQ(encodeFloat(std::nextafter(middle, high), format), magnitude + 1);
    EXPECT_EQ(encodeFloat(std::nextafter(middle, low), format), magnitude);
    EXPECT_EQ(encodeFloat(std::nextafter(low, high), format, Rounding::Up), magnitude + 1);
    EXPECT_EQ(encodeFloat(std::nextafter(high, low), format, Rounding::Down), magnitude);
  }
  EXPECT_EQ(encodeFloat(0x1p-1074, format, Rounding::Up), 1u);
  EXPECT_EQ(encodeFloat(-0x1p-1074, format, Rounding::Down), 1u | format.signBit());
  EXPECT_EQ(encodeFloat(0x1p-1074, format, Rounding::NearestAway), 0u);
}

TEST_P(EveryFormat, OverflowsAsItsRoundingSays) {
  const FloatFormat &format = GetParam();
  const bool hasInfinity = format.specials == FloatFormat::Specials::Ieee;
  const uint64_t over = hasInfinity                                         ? format.infinity()
                        : format.specials == FloatFormat::Specials::NanOnly ? format.nan()
                                                                            : format.largest();
  const double largest = valueOf(format.largest(), format);
  const double step = largest - valueOf(format.largest() - 1, format);
  EXPECT_EQ(encodeFloat(largest + step / 4, format), format.largest());
  // At half a step the even neighbour is the one above, but for e2m1 and its like, and e4m3, whose largest is even.
  const uint64_t atHalf = format.largest() & 1 ? over : format.largest();
  EXPECT_EQ(encodeFloat(largest + step / 2, format), atHalf);
  EXPECT_EQ(encodeFloat(largest + step, format), over);
  EXPECT_EQ(encodeFloat(INFINITY, format), over);
  EXPECT_EQ(encodeFloat(-INFINITY, format), over | format.signBit());
  EXPECT_EQ(encodeFloat(1e300, format, Rounding::Zero), format.largest());
  EXPECT_EQ(encodeFloat(1e300, format, Rounding::Down), format.largest());
  EXPECT_EQ(encodeFloat(1e300, format, Rounding::Up), over);
  EXPECT_EQ(encodeFloat(-1e300, format, Rounding::Up), format.largest() | format.signBit());
  for (Rounding rounding : kRoundings)
    for (double value : {largest + step, 1e300, double(INFINITY)}) {
      EXPECT_EQ(encodeFloat(value, format, rounding, Overflow::Largest), format.largest());
      EXPECT_EQ(encodeFloat(-value, format, rounding, Overflow::Largest), format.largest() | format.signBit());
    }
}

TEST_P(EveryFormat, HasOneNan) {
  const FloatFormat &format = GetParam();
  const uint64_t nan = format.specials == FloatFormat::Specials::None ? format.largest() : format.signBit() - 1;
  for (double value : {std::nan(""), -std::nan("1")}) {
    EXPECT_EQ(encodeFloat(value, format), nan);
    EXPECT_EQ(encodeFloat(value, format, Rounding::Zero, Overflow::Largest), nan);
  }
}

INSTANTIATE_TEST_SUITE_P(FloatEncode, EveryFormat,
                         testing::Values(kF16, kBf16, kTf32, kE5m2, kE4m3, kE3m2, kE2m3, kE2m1));

/// value rounded to To by the host under a rounding mode.
template <typename To, typename From> To byHost(From value, int mode) {
  volatile From from = value;
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile To result = static_cast<To>(from);
  std::fesetround(before);
  return result;
}

constexpr std::pair<Rounding, int> kHostModes[] = {{Rounding::NearestEven, FE_TONEAREST},
                                                   {Rounding::Zero, FE_TOWARDZERO},
                                                   {Rounding::Down, FE_DOWNWARD},
                                                   {Rounding::Up, FE_UPWARD}};

TEST(FloatEncode, FloatsFromDoublesAreTheHosts) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    // All exponents around those of float, so that many results are subnormal or overflow.
    const double value = doubleOfBits((random() & 0x800FFFFFFFFFFFFF) | (1023 - 160 + random() % 300) << 52);
    for (auto [rounding, mode] : kHostModes)
      ASSERT_EQ(encodeFloat(value, kF32, rounding), bitsOfFloat(byHost<float>(value, mode))) << value;
  }
}

TEST(FloatEncode, NumbersFromIntegersAreTheHosts) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; ++i) {
    const auto value = static_cast<int64_t>(random()) >> random() % 64;
    const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    for (auto [rounding, mode] : kHostModes) {
      ASSERT_EQ(encodeExact(value < 0, magnitude, 0, kF32, rounding), bitsOfFloat(byHost<float>(value, mode)));
      ASSERT_EQ(encodeExact(value < 0, magnitude, 0, kF64, rounding), bitsOfDouble(byHost<double>(value, mode)));
    }
  }
}

TEST(FloatEncode, Tf32KeepsItsLowBitsZero) {
  EXPECT_EQ(floatToTf32(1 + 0x1p-11, Rounding::NearestAway), 0x3F802000u);
  EXPECT_EQ(floatToTf32(1 + 0x1p-11, Rounding::NearestEven), 0x3F800000u);
  EXPECT_EQ(floatToTf32(std::nan(""), Rounding::NearestAway), 0x7FFFFFFFu);
  EXPECT_EQ(floatToTf32(0x1.fffffep127, Rounding::NearestAway), 0x7F800000u);
  EXPECT_EQ(floatToTf32(0x1.fffffep127, Rounding::NearestAway, Overflow::Largest), 0x7F7FE000u);
}

TEST(FloatEncode, PowersOfTwoRoundTheMagnitude) {
  for (int exponent = -127; exponent <= 127; ++exponent) {
    const float power = std::ldexp(1.0f, exponent);
    const auto code = static_cast<uint8_t>(exponent + 127);
    for (float value : {power, -power})
      for (Rounding rounding : {Rounding::Zero, Rounding::Up})
        EXPECT_EQ(floatToUe8m0(value, rounding, Overflow::Largest), code);
    const float above = std::nextafter(power, INFINITY);
    EXPECT_EQ(floatToUe8m0(above, Rounding::Zero, Overflow::Largest), code);
    EXPECT_EQ(floatToUe8m0(above, Rounding::Up, Overflow::Largest), std::min(code + 1, 254));
  }
  EXPECT_EQ(floatToUe8m0(0x1.8p127f, Rounding::Up, Overflow::Infinity), 255);
  EXPECT_EQ(floatToUe8m0(0, Rounding::Up, Overflow::Largest), 0);
  EXPECT_EQ(floatToUe8m0(0x1p-149f, Rounding::Up, Overflow::Largest), 0);
  EXPECT_EQ(floatToUe8m0(INFINITY, Rounding::Zero, Overflow::Largest), 254);
  EXPECT_EQ(floatToUe8m0(INFINITY, Rounding::Zero, Overflow::Infinity), 255);
  EXPECT_EQ(floatToUe8m0(-NAN, Rounding::Up, Overflow::Largest), 255);
}

} // namespace
