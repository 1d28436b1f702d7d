// Every pattern of every format decodes to the number that the definition of the format gives.
#include "headrace/Sim/Numerics/Float.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace headrace::sim;

namespace {

/// The definition, word for word: sign, exponent, fraction.
double valueOf(uint32_t bits, int exponentBits, int fractionBits) {
  const int bias = (1 << (exponentBits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> fractionBits) & ((1 << exponentBits) - 1);
  const double fraction = std::ldexp(bits & ((1u << fractionBits) - 1), -fractionBits);
  const double magnitude = exponent ? std::ldexp(1 + fraction, exponent - bias) : std::ldexp(fraction, 1 - bias);
  return bits >> (exponentBits + fractionBits) & 1 ? -magnitude : magnitude;
}

/// Equal, and of one sign.
void expectSame(double actual, double expected, uint32_t bits) {
  EXPECT_EQ(actual, expected) << bits;
  EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << bits;
}

TEST(FloatDecode, HalvesAreTheirDefinition) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float actual = halfToFloat(static_cast<uint16_t>(bits));
    const float general = decodeFloat(bits, kF16);
    EXPECT_TRUE(std::isnan(general) ? std::isnan(actual) : bitsOfFloat(general) == bitsOfFloat(actual)) << bits;
    if ((bits & 0x7C00) != 0x7C00)
      expectSame(actual, valueOf(bits, 5, 10), bits);
    else if (bits & 0x3FF)
      EXPECT_TRUE(std::isnan(actual)) << bits;
    else
      expectSame(actual, bits & 0x8000 ? -INFINITY : INFINITY, bits);
  }
}

TEST(FloatDecode, BfloatsAreTheirDefinition) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float actual = bfloatToFloat(static_cast<uint16_t>(bits));
    if ((bits & 0x7F80) != 0x7F80)
      expectSame(actual, valueOf(bits, 8, 7), bits);
    else
      EXPECT_EQ(std::isnan(actual), (bits & 0x7F) != 0) << bits;
  }
}

TEST(FloatDecode, Tf32DropsThirteenBits) {
  EXPECT_EQ(tf32ToFloat(0x3F801FFF), 1.0f);
  EXPECT_EQ(tf32ToFloat(0x3F802000), 1.0f + 0x1p-10f);
  EXPECT_EQ(tf32ToFloat(0xBFFFFFFF), -(2.0f - 0x1p-10f));
}

TEST(FloatDecode, EightBitFormatsAreTheirDefinition) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    const auto byte = static_cast<uint8_t>(bits);
    if ((bits & 0x7F) == 0x7F)
      EXPECT_TRUE(std::isnan(e4m3ToFloat(byte)) && std::isnan(ue4m3ToFloat(byte)));
    else
      expectSame(e4m3ToFloat(byte), valueOf(bits, 4, 3), bits);
    if ((bits & 0x7C) != 0x7C)
      expectSame(e5m2ToFloat(byte), valueOf(bits, 5, 2), bits);
    else if (bits & 3)
      EXPECT_TRUE(std::isnan(e5m2ToFloat(byte)));
    else
      expectSame(e5m2ToFloat(byte), bits & 0x80 ? -INFINITY : INFINITY, bits);
    if ((bits & 0x7F) != 0x7F)
      expectSame(ue4m3ToFloat(byte), valueOf(bits & 0x7F, 4, 3), bits);
    if (bits == 255)
      EXPECT_TRUE(std::isnan(ue8m0ToFloat(byte)));
    else
      expectSame(ue8m0ToFloat(byte), std::ldexp(1.0, static_cast<int>(bits) - 127), bits);
  }
}

TEST(FloatDecode, NarrowFormatsIgnoreHigherBits) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    const auto byte = static_cast<uint8_t>(bits);
    expectSame(e2m3ToFloat(byte), valueOf(bits & 0x3F, 2, 3), bits);
    expectSame(e3m2ToFloat(byte), valueOf(bits & 0x3F, 3, 2), bits);
    expectSame(e2m1ToFloat(byte), valueOf(bits & 0xF, 2, 1), bits);
  }
  EXPECT_EQ(e2m1ToFloat(7), 6.0f);
  EXPECT_EQ(e2m3ToFloat(0x1F), 7.5f);
  EXPECT_EQ(e3m2ToFloat(0x1F), 28.0f);
  EXPECT_EQ(e4m3ToFloat(0x7E), 448.0f);
  EXPECT_EQ(e5m2ToFloat(0x7B), 57344.0f);
}

TEST(FloatDecode, FlushingKeepsTheSign) {
  EXPECT_EQ(bitsOfFloat(flushed(0x1p-127f)), 0u);
  EXPECT_EQ(bitsOfFloat(flushed(-0x1p-149f)), 0x80000000u);
  EXPECT_EQ(flushed(0x1p-126f), 0x1p-126f);
  EXPECT_EQ(flushed(-INFINITY), -INFINITY);
}

} // namespace
