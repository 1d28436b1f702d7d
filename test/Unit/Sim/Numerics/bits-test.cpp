// Bit operations against the loops in which the ISA defines them.
#include "headrace/Sim/Numerics/Bits.h"

#include "gtest/gtest.h"

#include <random>

using namespace headrace::sim;

namespace {

const uint64_t kWords[] = {0,          1,          0x80000000,         0xFFFFFFFF,         0x5A5A1234,       0x7FFFFFFF,
                           0xF0F0F0F0, 0x00010000, 0x123456789ABCDEF0, 0xFFFFFFFFFFFFFFFF, uint64_t(1) << 63};

uint64_t bfeByDefinition(uint64_t a, uint32_t b, uint32_t c, int bits, bool isSigned) {
  const uint32_t msb = static_cast<uint32_t>(bits) - 1, pos = b & 0xFF, len = c & 0xFF;
  const uint64_t sign = !isSigned || len == 0 ? 0 : a >> std::min(pos + len - 1, msb) & 1;
  uint64_t d = 0;
  for (uint32_t i = 0; i <= msb; ++i)
    d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
  return d;
}

uint64_t bfiByDefinition(uint64_t a, uint64_t b, uint32_t c, uint32_t d, int bits) {
  const uint32_t msb = static_cast<uint32_t>(bits) - 1, pos = c & 0xFF, len = d & 0xFF;
  uint64_t f = b;
  for (uint32_t i = 0; i < len && pos + i <= msb; ++i)
    f = (f & ~(uint64_t(1) << (pos + i))) | (a >> i & 1) << (pos + i);
  return f;
}

TEST(Bits, FieldsAreThoseOfTheDefinition) {
  for (int bits : {32, 64})
    for (uint64_t word : kWords) {
      word &= lowMask(bits);
      for (uint32_t position : {0, 1, 5, 31, 32, 40, 63, 64, 255, 256})
        for (uint32_t length : {0, 1, 8, 31, 32, 33, 63, 64, 200, 257}) {
          for (bool isSigned : {false, true})
            ASSERT_EQ(extractField(word, position, length, bits, isSigned),
                      bfeByDefinition(word, position, length, bits, isSigned))
                << std::hex << word << " " << position << " " << length;
          ASSERT_EQ(insertField(word, 0x5555AAAA5555AAAA & lowMask(bits), position, length, bits),
                    bfiByDefinition(word, 0x5555AAAA5555AAAA & lowMask(bits), position, length, bits));
        }
    }
}

TEST(Bits, FindsTheHighestBitThatIsNoSign) {
  EXPECT_EQ(findHighest(0, 32, false, false), 0xFFFFFFFFu);
  EXPECT_EQ(findHighest(0xFFFFFFFF, 32, true, false), 0xFFFFFFFFu);
  EXPECT_EQ(findHighest(0xFFFFFFFF, 32, true, true), 0xFFFFFFFFu);
  EXPECT_EQ(findHighest(0xFFFFFFFF, 32, false, false), 31u);
  EXPECT_EQ(findHighest(0xFFFFFF7F, 32, true, false), 7u);
  EXPECT_EQ(findHighest(0x100, 32, true, true), 23u);
  EXPECT_EQ(findHighest(uint64_t(1) << 40, 64, true, false), 40u);
  EXPECT_EQ(findHighest(~(uint64_t(1) << 40), 64, true, true), 23u);
}

TEST(Bits, FindsTheNthSetBit) {
  // The examples of PTX ISA 9.7.1.17.
  EXPECT_EQ(findNthSet(0xAAAAAAAA, 3, 1), 3u);
  EXPECT_EQ(findNthSet(0xAAAAAAAA, 3, -1), 3u);
  EXPECT_EQ(findNthSet(0xAAAAAAAA, 2, 1), 3u);
  EXPECT_EQ(findNthSet(0xAAAAAAAA, 2, -1), 1u);
  EXPECT_EQ(findNthSet(0xAAAAAAAA, 3, 0), 3u);
  EXPECT_EQ(findNthSet(0xAAAAAAAA, 2, 0), 0xFFFFFFFFu);
  EXPECT_EQ(findNthSet(0xAAAAAAAA, 0, 16), 31u);
  EXPECT_EQ(findNthSet(0xAAAAAAAA, 0, 17), 0xFFFFFFFFu);
  EXPECT_EQ(findNthSet(1, 31, INT32_MIN), 0xFFFFFFFFu);
}

TEST(Bits, ReversesAndExtends) {
  EXPECT_EQ(reversed(uint32_t(1)), 0x80000000u);
  EXPECT_EQ(reversed(uint32_t(0x12345678)), 0x1E6A2C48u);
  EXPECT_EQ(reversed(uint64_t(1)), uint64_t(1) << 63);
  EXPECT_EQ(signExtended(0x80, 8), 0xFFFFFFFFFFFFFF80);
  EXPECT_EQ(signExtended(0x17F, 8), 0x7Fu);
  EXPECT_EQ(extendField(0xFFFFFF80, 8, true, false), 0xFFFFFF80u);
  EXPECT_EQ(extendField(0x17F, 8, true, false), 0x7Fu);
  EXPECT_EQ(extendField(0xFFFFFF80, 8, false, false), 0x80u);
  EXPECT_EQ(extendField(5, 0, true, false), 0u);
  EXPECT_EQ(extendField(0xDEADBEEF, 32, true, false), 0xDEADBEEFu);
  EXPECT_EQ(extendField(0xDEADBEEF, 36, false, true), 0xFu);
  EXPECT_EQ(extendField(0xFFFFFFFF, 32, false, true), 0u);
}

uint32_t bmskByDefinition(uint32_t a, uint32_t b, bool clamps) {
  const uint32_t a1 = a & 31, b1 = b & 31, sum = a1 + b1;
  uint32_t mask0 = ~0u << a1, mask1 = sum < 32 ? ~0u << sum : 0;
  bool overflows = sum >= 32;
  if (clamps && a >= 32) {
    overflows = true;
    mask0 = 0;
  }
  overflows |= clamps && b >= 32;
  if (overflows)
    mask1 = 0;
  else if (b1 == 0)
    mask1 = ~0u;
  return mask0 & ~mask1;
}

TEST(Bits, MasksAreThoseOfTheDefinition) {
  for (uint32_t a = 0; a < 70; ++a)
    for (uint32_t b = 0; b < 70; ++b) {
      EXPECT_EQ(maskField(a, b, false), bmskByDefinition(a, b, true)) << a << " " << b;
      EXPECT_EQ(maskField(a, b, true), bmskByDefinition(a, b, false)) << a << " " << b;
    }
}

TEST(Bits, ShiftsBeyondTheWidth) {
  EXPECT_EQ(shiftedLeft(1, 63), uint64_t(1) << 63);
  EXPECT_EQ(shiftedLeft(1, 64), 0u);
  EXPECT_EQ(shiftedRight(~uint64_t(0), 0xFFFFFFFF), 0u);
  EXPECT_EQ(shiftedRightSigned(-5, 70), -1);
  EXPECT_EQ(shiftedRightSigned(-8, 1), -4);
  EXPECT_EQ(funnelLeft(0x80000000, 1, 1), 3u);
  EXPECT_EQ(funnelLeft(0xDEADBEEF, 1, 32), 0xDEADBEEFu);
  EXPECT_EQ(funnelLeft(0xDEADBEEF, 1, 0), 1u);
  EXPECT_EQ(funnelRight(0, 3, 1), 0x80000000u);
  EXPECT_EQ(funnelRight(7, 0xCAFE, 32), 0xCAFEu);
}

TEST(Bits, LooksUpAllTables) {
  std::mt19937 random(6);
  for (int table = 0; table < 256; ++table) {
    const auto a = static_cast<uint32_t>(random()), b = static_cast<uint32_t>(random()),
               c = static_cast<uint32_t>(random());
    uint32_t expected = 0;
    for (int i = 0; i < 32; ++i) {
      const uint32_t row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
      expected |= (static_cast<uint32_t>(table) >> row & 1) << i;
    }
    EXPECT_EQ(lookUp3(a, b, c, static_cast<uint8_t>(table)), expected) << table;
  }
  EXPECT_EQ(lookUp3(0xF0, 0xCC, 0xAA, 0x80), 0xF0u & 0xCC & 0xAA);
}

TEST(Bits, PermutesBytes) {
  const uint32_t a = 0x83828180, b = 0x07060504;
  EXPECT_EQ(permuteBytes(a, b, 0x3210), a);
  EXPECT_EQ(permuteBytes(a, b, 0x7654), b);
  EXPECT_EQ(permuteBytes(a, b, 0x0123), 0x80818283u);
  EXPECT_EQ(permuteBytes(a, b, 0xFB38), 0x00FF83FFu); // signs of bytes 7 and 3, byte 3, the sign of byte 0
  EXPECT_EQ(permuteBytes(a, b, permuteSelector(PermuteMode::Forward4, 1)), 0x04838281u);
  EXPECT_EQ(permuteBytes(a, b, permuteSelector(PermuteMode::Backward4, 0)), 0x05060780u);
  EXPECT_EQ(permuteBytes(a, b, permuteSelector(PermuteMode::Replicate8, 2)), 0x82828282u);
  EXPECT_EQ(permuteBytes(a, b, permuteSelector(PermuteMode::EdgeLeft, 1)), 0x83828181u);
  EXPECT_EQ(permuteBytes(a, b, permuteSelector(PermuteMode::EdgeRight, 2)), 0x82828180u);
  EXPECT_EQ(permuteBytes(a, b, permuteSelector(PermuteMode::Replicate16, 3)), 0x83828382u);
}

} // namespace
