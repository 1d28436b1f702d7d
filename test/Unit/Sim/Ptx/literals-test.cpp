// Numbers in operands: every base, and the edges of the 64-bit range.
#include "Parsing.h"

#include <cstring>

using namespace headrace::sim::ptx;

namespace {

Operand immediate(const std::string &text) { return parsedInstruction("mov.b64 %rd0, " + text + ";").operands[1]; }

uint64_t integer(const std::string &text) {
  Operand operand = immediate(text);
  EXPECT_EQ(operand.kind, Operand::Kind::Integer) << text;
  return operand.bits;
}

std::string inBase(uint64_t value, unsigned base) {
  std::string digits;
  for (; value || digits.empty(); value /= base)
    digits.insert(digits.begin(), "0123456789abcdef"[value % base]);
  return digits;
}

uint64_t bitsOf(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

TEST(Literals, IntegersInEveryBase) {
  for (uint64_t value = 0; value < 300; ++value) {
    for (std::string suffix : {"", "U"}) {
      EXPECT_EQ(integer(inBase(value, 10) + suffix), value);
      EXPECT_EQ(integer("0" + inBase(value, 8) + suffix), value);
      EXPECT_EQ(integer("0x" + inBase(value, 16) + suffix), value);
      EXPECT_EQ(integer("0b" + inBase(value, 2) + suffix), value);
    }
    EXPECT_EQ(integer("-" + inBase(value, 10)), 0 - value);
  }
}

TEST(Literals, IntegersAtTheEdge) {
  EXPECT_EQ(integer("18446744073709551615"), ~uint64_t(0));
  EXPECT_EQ(integer("0xFFFFFFFFFFFFFFFF"), ~uint64_t(0));
  EXPECT_EQ(integer("-9223372036854775808"), uint64_t(1) << 63);
  EXPECT_EQ(integer("- 5"), ~uint64_t(4));
  EXPECT_EQ(integer("WARP_SZ"), 32u);
}

TEST(Literals, ExactFloats) {
  Operand single = immediate("0f3F800000");
  EXPECT_EQ(single.kind, Operand::Kind::Float);
  EXPECT_EQ(single.width, 32);
  EXPECT_EQ(single.bits, 0x3F800000u);
  Operand wide = immediate("0Dbff0000000000000");
  EXPECT_EQ(wide.width, 64);
  EXPECT_EQ(wide.bits, bitsOf(-1.0));
}

TEST(Literals, DecimalFloatsAreDoubles) {
  for (auto [text, value] :
       {std::pair("1.5", 1.5), {"-2.25", -2.25}, {"5.", 5.0}, {"1e3", 1000.0}, {"2.5E-1", 0.25}, {"1.0e+2", 100.0}}) {
    Operand operand = immediate(text);
    EXPECT_EQ(operand.kind, Operand::Kind::Float) << text;
    EXPECT_EQ(operand.width, 64) << text;
    EXPECT_EQ(operand.bits, bitsOf(value)) << text;
  }
}

TEST(Literals, MalformedOnesAreRefused) {
  for (const char *text : {"08", "0x", "0b2", "0b", "12abc", "0f3F80", "0f3F8000000", "0d3FF0", "1.5.2", "1e", "1e+",
                           "18446744073709551616", "0x10000000000000000", "1e999", "0xG", "5UU"})
    EXPECT_NE(errorOf(kernelWith("mov.b64 %rd0, " + std::string(text) + ";")).find("6:"), std::string::npos) << text;
  EXPECT_EQ(errorOf(kernelWith("mov.b64 %rd0, -9223372036854775809;")),
            "6:16: expected at most 9223372036854775808 behind '-', got '9223372036854775809'");
}

} // namespace
