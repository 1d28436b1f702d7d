// Numbers to integers and back, clamping, and packed elements.
#include "headrace/Sim/Numerics/Convert.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace headrace::sim;

namespace {

int64_t toS32(double value, Rounding rounding = Rounding::Zero) {
  return static_cast<int32_t>(floatToInteger(value, rounding, 32, true, false));
}

TEST(Convert, RoundsToIntegersInEveryDirection) {
  struct {
    double value;
    int64_t nearest, zero, down, up;
  } const rows[] = {{0.5, 0, 0, 0, 1},      {1.5, 2, 1, 1, 2},
                    {2.5, 2, 2, 2, 3},      {-0.5, 0, 0, -1, 0},
                    {-1.5, -2, -1, -2, -1}, {-2.25, -2, -2, -3, -2},
                    {3, 3, 3, 3, 3},        {2147483646.5, 2147483646, 2147483646, 2147483646, 2147483647}};
  for (const auto &row : rows) {
    EXPECT_EQ(toS32(row.value, Rounding::NearestEven), row.nearest) << row.value;
    EXPECT_EQ(toS32(row.value, Rounding::Zero), row.zero) << row.value;
    EXPECT_EQ(toS32(row.value, Rounding::Down), row.down) << row.value;
    EXPECT_EQ(toS32(row.value, Rounding::Up), row.up) << row.value;
  }
}

TEST(Convert, ClampsToTheRange) {
  for (int bits : {8, 16, 32, 64}) {
    const uint64_t all = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
    for (double large : {std::ldexp(1.0, bits), 1e300, double(INFINITY)}) {
      EXPECT_EQ(floatToInteger(large, Rounding::Zero, bits, false, false), all);
      EXPECT_EQ(floatToInteger(-large, Rounding::Zero, bits, false, false), 0u);
      EXPECT_EQ(floatToInteger(large, Rounding::Zero, bits, true, false), all >> 1);
      EXPECT_EQ(floatToInteger(-large, Rounding::Zero, bits, true, false), (all >> 1) + 1);
    }
    EXPECT_EQ(floatToInteger(std::ldexp(1.0, bits - 1), Rounding::Zero, bits, true, false), all >> 1);
    EXPECT_EQ(floatToInteger(-std::ldexp(1.0, bits - 1), Rounding::Zero, bits, true, false), (all >> 1) + 1);
    EXPECT_EQ(floatToInteger(std::ldexp(1.0, bits - 1), Rounding::Zero, bits, false, false), (all >> 1) + 1);
    EXPECT_EQ(floatToInteger(-0.75, Rounding::Down, bits, false, false), 0u);
    EXPECT_EQ(floatToInteger(-1, Rounding::Down, bits, true, false), all);
  }
}

TEST(Convert, NanDependsOnTheTypes) {
  EXPECT_EQ(floatToInteger(NAN, Rounding::Zero, 32, true, false), 0u);
  EXPECT_EQ(floatToInteger(NAN, Rounding::Zero, 8, false, false), 0u);
  EXPECT_EQ(floatToInteger(NAN, Rounding::Zero, 32, true, true), 0x80000000u);
  EXPECT_EQ(floatToInteger(NAN, Rounding::Zero, 16, false, true), 0x8000u);
  EXPECT_EQ(floatToInteger(NAN, Rounding::Zero, 64, true, false), uint64_t(1) << 63);
}

TEST(Convert, IntegersBecomeNumbers) {
  EXPECT_EQ(integerToFloat(5, false, kF32, Rounding::NearestEven), bitsOfFloat(5));
  EXPECT_EQ(integerToFloat(static_cast<uint64_t>(-5), true, kF32, Rounding::NearestEven), bitsOfFloat(-5));
  EXPECT_EQ(integerToFloat(~uint64_t(0), false, kF64, Rounding::Zero), bitsOfDouble(0x1.fffffffffffffp63));
  EXPECT_EQ(integerToFloat(uint64_t(1) << 63, true, kF64, Rounding::Zero), bitsOfDouble(-0x1p63));
  EXPECT_EQ(integerToFloat(65520, false, kF16, Rounding::NearestEven), 0x7C00u);
  EXPECT_EQ(integerToFloat(65519, false, kF16, Rounding::NearestEven), 0x7BFFu);
  EXPECT_EQ(integerToFloat(257, false, kBf16, Rounding::Up), 0x4381u);
}

TEST(Convert, ClampsBetweenIntegerTypes) {
  auto clamp = [](int64_t value, int bits, bool isSigned) {
    return static_cast<int64_t>(integerClamped(static_cast<uint64_t>(value), true, bits, isSigned));
  };
  EXPECT_EQ(clamp(300, 8, false), 255);
  EXPECT_EQ(clamp(-1, 8, false), 0);
  EXPECT_EQ(clamp(127, 8, true), 127);
  EXPECT_EQ(clamp(128, 8, true), 127);
  EXPECT_EQ(clamp(-128, 8, true), -128);
  EXPECT_EQ(clamp(-129, 8, true), -128);
  EXPECT_EQ(clamp(INT64_MIN, 32, true), INT32_MIN);
  EXPECT_EQ(integerClamped(~uint64_t(0), false, 64, true), static_cast<uint64_t>(INT64_MAX));
  EXPECT_EQ(integerClamped(~uint64_t(0), false, 32, false), 0xFFFFFFFFu);
}

TEST(Convert, PackedElementsSurviveARoundTrip) {
  for (const char *name : {"f16x2", "bf16x2", "e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2", "ue8m0x2"}) {
    std::optional<PackedElement> element = packedElement(name);
    ASSERT_TRUE(element) << name;
    const uint32_t patterns = element->isPowerOfTwo ? 256 : static_cast<uint32_t>(element->format.signBit() * 2);
    for (uint32_t bits = 0; bits < patterns; ++bits) {
      const float value = element->decode(bits);
      if (!std::isnan(value)) {
        ASSERT_EQ(element->encode(value, Rounding::Zero, Overflow::Infinity, false), bits) << name;
      }
    }
  }
  EXPECT_FALSE(packedElement("e4m3"));
  EXPECT_FALSE(packedElement("e4m3x4"));
}

TEST(Convert, ReluClampsNegativeElements) {
  const PackedElement e4m3 = *packedElement("e4m3x2"), e2m1 = *packedElement("e2m1x2");
  EXPECT_EQ(e4m3.encode(-3, Rounding::NearestEven, Overflow::Largest, true), 0u);
  EXPECT_EQ(e4m3.encode(-0.0f, Rounding::NearestEven, Overflow::Largest, true), 0u);
  EXPECT_EQ(e4m3.encode(NAN, Rounding::NearestEven, Overflow::Largest, true), 0x7Fu);
  EXPECT_EQ(e4m3.encode(INFINITY, Rounding::NearestEven, Overflow::Largest, true), 0x7Eu);
  EXPECT_EQ(e2m1.encode(NAN, Rounding::NearestEven, Overflow::Largest, false), 7u);
  EXPECT_EQ(e2m1.encode(-100, Rounding::NearestEven, Overflow::Largest, false), 15u);
}

} // namespace
