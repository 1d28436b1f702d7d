// Elements in words: values of all patterns, in all packings.
#include "headrace/Sim/Matrix/MatrixElements.h"
#include "headrace/Sim/Numerics/Float.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <vector>

using namespace headrace::sim;

namespace {

/// Expects that element `i` of a word with `pattern` there, and ones elsewhere, is `value`.
void expectElement(const WordPacking &packing, uint32_t pattern, double value) {
  const uint32_t mask = packing.bits == 32 ? ~0u : (1u << packing.bits) - 1;
  for (int i = 0; i < packing.perWord(); ++i) {
    uint32_t word = ~(mask << (i * packing.bits)) | pattern << (i * packing.bits);
    std::vector<double> values(packing.perWord());
    unpackWords(packing, &word, 1, values.data());
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(values[i])) << pattern;
    else
      EXPECT_EQ(values[i], value) << pattern << " at " << i;
  }
}

TEST(MatrixElements, SmallFloats) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    expectElement(densePacking(MatrixElement::E4m3), bits, decodeFloat(bits, kE4m3));
    expectElement(densePacking(MatrixElement::E5m2), bits, decodeFloat(bits, kE5m2));
    // The upper two bits of the byte are padding; e2m1 is in the middle of it.
    expectElement(bytePacking(MatrixElement::E3m2), bits, decodeFloat(bits & 0x3F, kE3m2));
    expectElement(bytePacking(MatrixElement::E2m3), bits, decodeFloat(bits & 0x3F, kE2m3));
    expectElement(bytePacking(MatrixElement::E2m1), bits, decodeFloat(bits >> 2 & 0xF, kE2m1));
  }
  for (uint32_t bits = 0; bits < 16; ++bits)
    expectElement(densePacking(MatrixElement::E2m1), bits, decodeFloat(bits, kE2m1));
}

TEST(MatrixElements, Integers) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    expectElement(densePacking(MatrixElement::U8), bits, bits);
    expectElement(densePacking(MatrixElement::S8), bits, static_cast<int8_t>(bits));
  }
  for (uint32_t bits = 0; bits < 16; ++bits) {
    expectElement(densePacking(MatrixElement::U4), bits, bits);
    expectElement(densePacking(MatrixElement::S4), bits, static_cast<int>(bits) - (bits < 8 ? 0 : 16));
  }
  for (uint32_t bits = 0; bits < 2; ++bits) {
    expectElement(densePacking(MatrixElement::B1), bits, bits);
    expectElement({MatrixElement::Xor1, 1, 0}, bits, bits ? -1 : 1);
  }
}

TEST(MatrixElements, WideFloats) {
  for (uint32_t bits = 0; bits < 65536; bits += 7) {
    expectElement(densePacking(MatrixElement::F16), bits, decodeFloat(bits, kF16));
    expectElement(densePacking(MatrixElement::Bf16), bits, decodeFloat(bits, kBf16));
  }
  // tf32 ignores its low 13 bits.
  expectElement(densePacking(MatrixElement::Tf32), 0x3F801FFF, 1.0);
  expectElement(densePacking(MatrixElement::Tf32), 0xC0002000, -2.001953125);
}

TEST(MatrixElements, Names) {
  for (const char *name :
       {"f16", "bf16", "tf32", "f64", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "s8", "u8", "s4", "u4", "b1"})
    EXPECT_TRUE(matrixElementNamed(name)) << name;
  for (const char *name : {"", "f32", "s32", "f8", "e4m3x2", "bf"})
    EXPECT_FALSE(matrixElementNamed(name)) << name;
}

} // namespace
