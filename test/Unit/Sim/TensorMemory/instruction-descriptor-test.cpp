// Instruction descriptors: values that CUTLASS computes (hardware.md 7.4), and each rule broken once.
#include "headrace/Sim/TensorMemory/InstructionDescriptor.h"

#include "gtest/gtest.h"

using namespace headrace::sim;

namespace {

MmaForm form(MmaKind kind, int ctaGroup = 1, int scales = 0) {
  MmaForm result;
  result.kind = kind;
  result.ctaGroup = ctaGroup;
  result.scales = scales;
  return result;
}

InstructionDescriptor decoded(const MmaForm &form, uint32_t bits) {
  std::string error;
  auto result = decodeInstructionDescriptor(form, bits, error);
  EXPECT_TRUE(result) << error;
  return result.value_or(InstructionDescriptor());
}

std::string errorOf(const MmaForm &form, uint32_t bits) {
  std::string error;
  EXPECT_FALSE(decodeInstructionDescriptor(form, bits, error));
  return error;
}

/// A plain descriptor: D, A and B types, N, M.
uint32_t plain(uint32_t d, uint32_t a, uint32_t b, uint32_t m, uint32_t n) {
  return d << 4 | a << 7 | b << 10 | n / 8 << 17 | m / 16 << 24;
}

void expectShape(const InstructionDescriptor &shape, int m, int n, int k) {
  EXPECT_EQ(shape.m, m);
  EXPECT_EQ(shape.n, n);
  EXPECT_EQ(shape.k, k);
}

TEST(InstructionDescriptor, GoldenPlain) {
  InstructionDescriptor bf16 = decoded(form(MmaKind::F16), 0x08400490);
  expectShape(bf16, 128, 256, 16);
  EXPECT_EQ(bf16.a.type, MatrixElement::Bf16);
  EXPECT_EQ(bf16.b.type, MatrixElement::Bf16);
  EXPECT_EQ(bf16.d, AccumulatorType::F32);
  InstructionDescriptor f16 = decoded(form(MmaKind::F16), 0x08200010);
  expectShape(f16, 128, 128, 16);
  EXPECT_EQ(f16.a.type, MatrixElement::F16);
  InstructionDescriptor tf32 = decoded(form(MmaKind::Tf32), 0x08200910);
  expectShape(tf32, 128, 128, 8);
  EXPECT_EQ(tf32.b.type, MatrixElement::Tf32);
  InstructionDescriptor e4m3 = decoded(form(MmaKind::F8f6f4), 0x08200010);
  expectShape(e4m3, 128, 128, 32);
  EXPECT_EQ(e4m3.a.type, MatrixElement::E4m3);
  InstructionDescriptor s8 = decoded(form(MmaKind::I8), 0x082004A0);
  expectShape(s8, 128, 128, 32);
  EXPECT_EQ(s8.a.type, MatrixElement::S8);
  EXPECT_EQ(s8.d, AccumulatorType::S32);
  expectShape(decoded(form(MmaKind::F16, 2), 0x10400490), 256, 256, 16);
}

TEST(InstructionDescriptor, GoldenScaled) {
  InstructionDescriptor mxf8 = decoded(form(MmaKind::Mxf8f6f4, 1, 1), 0x08A00000);
  expectShape(mxf8, 128, 128, 32);
  EXPECT_EQ(mxf8.a.type, MatrixElement::E4m3);
  EXPECT_TRUE(mxf8.scalesAreUe8m0);
  InstructionDescriptor mxf4 = decoded(form(MmaKind::Mxf4, 1, 2), 0x08A00480);
  expectShape(mxf4, 128, 128, 64);
  EXPECT_EQ(mxf4.b.type, MatrixElement::E2m1);
  InstructionDescriptor nvf4 = decoded(form(MmaKind::Mxf4nvf4, 1, 4), 0x08200480);
  expectShape(nvf4, 128, 128, 64);
  EXPECT_FALSE(nvf4.scalesAreUe8m0);
}

TEST(InstructionDescriptor, Modifiers) {
  uint32_t bits = plain(1, 0, 0, 128, 64);
  InstructionDescriptor shape = decoded(form(MmaKind::F16), bits | 1 << 13 | 1 << 16);
  EXPECT_TRUE(shape.a.negated);
  EXPECT_FALSE(shape.b.negated);
  EXPECT_FALSE(shape.a.mnMajor);
  EXPECT_TRUE(shape.b.mnMajor);
  EXPECT_TRUE(decoded(form(MmaKind::I8), plain(2, 1, 1, 128, 64) | 1 << 3).saturate);
  InstructionDescriptor scaled = decoded(form(MmaKind::Mxf8f6f4, 1, 1), 0x08A00000 | 3u << 4 | 2u << 29);
  EXPECT_EQ(scaled.b.scaleByte, 3);
  EXPECT_EQ(scaled.a.scaleByte, 2);
}

TEST(InstructionDescriptor, EightBitTypes) {
  MatrixElement expected[] = {MatrixElement::E4m3, MatrixElement::E5m2, MatrixElement::F64,
                              MatrixElement::E2m3, MatrixElement::E3m2, MatrixElement::E2m1};
  for (uint32_t code : {0, 1, 3, 4, 5})
    EXPECT_EQ(decoded(form(MmaKind::F8f6f4), plain(1, code, 0, 128, 64)).a.type, expected[code]);
}

TEST(InstructionDescriptor, LegalShapes) {
  auto legal = [](const MmaForm &form, uint32_t d, uint32_t type, uint32_t m, uint32_t n) {
    std::string error;
    return decodeInstructionDescriptor(form, plain(d, type, type, m, n), error).has_value();
  };
  for (uint32_t n = 0; n <= 256; n += 8) {
    EXPECT_EQ(legal(form(MmaKind::F16), 1, 1, 64, n), n != 0) << n;
    EXPECT_EQ(legal(form(MmaKind::F16), 1, 1, 128, n), n != 0 && n % 16 == 0) << n;
    EXPECT_EQ(legal(form(MmaKind::F16, 2), 1, 1, 256, n), n != 0 && n % 16 == 0) << n;
    EXPECT_EQ(legal(form(MmaKind::I8), 2, 1, 64, n), n != 0 && (n <= 32 || n % 16 == 0)) << n;
    EXPECT_EQ(legal(form(MmaKind::I8, 2), 2, 1, 128, n), n != 0 && n % 32 == 0) << n;
    EXPECT_FALSE(legal(form(MmaKind::F16), 1, 1, 256, n)) << n;
    EXPECT_FALSE(legal(form(MmaKind::F16), 1, 1, 32, n)) << n;
    MmaForm ws = form(MmaKind::F16);
    ws.weightStationary = true;
    EXPECT_EQ(legal(ws, 1, 1, 32, n), n == 64 || n == 128 || n == 256) << n;
  }
}

TEST(InstructionDescriptor, Errors) {
  const uint32_t bf16 = plain(1, 1, 1, 128, 128);
  EXPECT_EQ(errorOf(form(MmaKind::F16), plain(1, 1, 1, 128, 8)),
            "instruction descriptor 0x08020490 of kind::f16: no shape of cta_group::1 is M = 128, N = 8");
  EXPECT_NE(errorOf(form(MmaKind::F16), bf16 | 4).find("bit 2 to be 0 (dense)"), std::string::npos);
  EXPECT_NE(errorOf(form(MmaKind::F16), bf16 | 1 << 23).find("bit 23"), std::string::npos);
  EXPECT_NE(errorOf(form(MmaKind::F16), bf16 | 8).find("only kind::i8 saturates"), std::string::npos);
  EXPECT_NE(errorOf(form(MmaKind::F16), plain(2, 1, 1, 128, 128)).find("accumulator type"), std::string::npos);
  EXPECT_NE(errorOf(form(MmaKind::F16), plain(0, 1, 1, 128, 128)).find("f16 accumulator"), std::string::npos);
  EXPECT_NE(errorOf(form(MmaKind::F16), plain(1, 2, 1, 128, 128)).find("no type of A"), std::string::npos);
  EXPECT_NE(errorOf(form(MmaKind::F8f6f4), plain(1, 5, 0, 128, 128) | 1 << 15).find("along K"), std::string::npos);
  EXPECT_NE(errorOf(form(MmaKind::Mxf4, 1, 2), 0x08A00480 | 1 << 4).find("cannot start at byte 1"), std::string::npos);
  EXPECT_NE(errorOf(form(MmaKind::Mxf4, 1, 2), 0x08200480).find("ue8m0"), std::string::npos);
}

} // namespace
