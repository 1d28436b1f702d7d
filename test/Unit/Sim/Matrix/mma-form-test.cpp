// Opcodes of mma.sync and wgmma: every form of hardware.md 5.1 and 6.1, and what is refused.
#include "headrace/Sim/Matrix/WgmmaForm.h"

#include "gtest/gtest.h"

using namespace headrace::sim;

namespace {

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::optional<WarpMmaForm> mma(const std::string &rest) {
  std::string error;
  std::optional<WarpMmaForm> form = parseMma(split("mma.sync.aligned." + rest), error);
  EXPECT_EQ(form.has_value(), error.empty()) << rest;
  return form;
}

std::optional<WgmmaForm> wgmma(const std::string &rest) {
  std::string error;
  std::optional<WgmmaForm> form = parseWgmma(split("wgmma.mma_async.sync.aligned." + rest), error);
  EXPECT_EQ(form.has_value(), error.empty()) << rest;
  return form;
}

void expectRegisters(const std::string &rest, int a, int b, int c) {
  std::optional<WarpMmaForm> form = mma(rest);
  ASSERT_TRUE(form) << rest;
  EXPECT_EQ(form->registersOfA(), a) << rest;
  EXPECT_EQ(form->registersOfB(), b) << rest;
  EXPECT_EQ(form->registersOfC(), c) << rest;
}

TEST(MmaForm, RegistersOfAllShapes) {
  expectRegisters("m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4);
  expectRegisters("m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2);
  expectRegisters("m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4);
  expectRegisters("m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2);
  expectRegisters("m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4);
  expectRegisters("m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4);
  expectRegisters("m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4);
  expectRegisters("m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4);
  expectRegisters("m8n8k16.row.col.s32.s8.u8.s32", 1, 1, 2);
  expectRegisters("m16n8k16.row.col.s32.u8.s8.s32", 2, 1, 4);
  expectRegisters("m16n8k32.row.col.satfinite.s32.s8.s8.s32", 4, 2, 4);
  expectRegisters("m8n8k32.row.col.s32.s4.u4.s32", 1, 1, 2);
  expectRegisters("m16n8k32.row.col.s32.u4.u4.s32", 2, 1, 4);
  expectRegisters("m16n8k64.row.col.s32.s4.s4.s32.satfinite", 4, 2, 4);
  expectRegisters("m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 1, 1, 2);
  expectRegisters("m16n8k128.row.col.s32.b1.b1.s32.and.popc", 2, 1, 4);
  expectRegisters("m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 2, 4);
  expectRegisters("m8n8k4.row.col.f64.f64.f64.f64", 1, 1, 2);
  expectRegisters("m16n8k4.row.col.f64.f64.f64.f64.rn", 2, 1, 4);
  expectRegisters("m16n8k8.row.col.f64.f64.f64.f64", 4, 2, 4);
  expectRegisters("m16n8k16.row.col.f64.f64.f64.f64", 8, 4, 4);
  expectRegisters("m16n8k16.row.col.f32.e4m3.e5m2.f32", 2, 1, 4);
  expectRegisters("m16n8k32.row.col.f16.e5m2.e5m2.f16", 4, 2, 2);
  expectRegisters("m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32", 4, 2, 4);
  expectRegisters("kind::f8f6f4.m16n8k32.row.col.f16.e2m3.e4m3.f16", 4, 2, 2);
  expectRegisters("m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e2m1.f32.ue8m0", 4, 2, 4);
  expectRegisters("m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", 4, 2, 4);
  expectRegisters("m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", 4, 2, 4);
}

TEST(MmaForm, Scaling) {
  auto form = mma("m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3");
  EXPECT_TRUE(form && form->scales == 4 && form->fractionalScales && form->a.bits == 4);
  form = mma("m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0");
  EXPECT_TRUE(form && form->scales == 2 && !form->fractionalScales);
  form = mma("m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0");
  EXPECT_TRUE(form && form->scales == 2);
  form = mma("m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e4m3.f32.ue8m0");
  EXPECT_TRUE(form && form->scales == 1 && form->a.bits == 8 && form->a.shift == 2 && form->b.shift == 0);
}

TEST(MmaForm, Refuses) {
  for (const char *rest : {
           "m16n8k16.row.col.f32.f16.bf16.f32",          // no such mix
           "m16n8k16.row.col.f16.f16.f16.f32",           // C and D differ
           "m16n8k16.row.col.f16.bf16.bf16.f16",         // bf16 into f16
           "m8n8k4.row.col.f32.f16.f16.f32",             // sm_70
           "m16n8k16.col.col.f32.f16.f16.f32",           // A is row-major
           "m16n8k24.row.col.f32.f16.f16.f32",           // no such shape
           "m16n8k32.row.col.f32.e3m2.e2m1.f32",         // only in a kind
           "m16n8k32.row.col.kind::i8.s32.s8.s8.s32",    // no such kind
           "m16n8k256.row.col.s32.b1.b1.s32",            // without an operation
           "m16n8k256.row.col.s32.b1.b1.s32.xor",        // without popc
           "m16n8k32.row.col.s32.s8.s8.s32.and.popc",    // popc of bytes
           "m16n8k16.row.col.satfinite.f32.f16.f16.f32", // saturating floats
           "sp.m16n8k32.row.col.f32.f16.f16.f32",        // sparse
           "m16n8k8.row.col.f64.f64.f64.f64.rz",         // other roundings
           "m16n8k16.row.col.f32.f16.f16",               // three types
           "m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
           "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0",
           "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::1X.f32.e2m1.e2m1.f32.ue8m0",
           "m16n8k64.row.col.kind::mxf4.f32.e2m1.e2m1.f32.ue8m0",
           "m16n8k32.row.col.kind::f8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0",
       })
    EXPECT_FALSE(mma(rest)) << rest;
}

TEST(MmaForm, ShapeNames) {
  std::optional<MatrixShape> shape = matrixShapeNamed("m64n104k16");
  ASSERT_TRUE(shape);
  EXPECT_TRUE((*shape == MatrixShape{64, 104, 16}));
  for (const char *name : {"", "m", "m16", "m16n8", "m16n8k", "m16n8kx", "m16n8k16x", "m0n8k16", "m-1n8k16", "n8m16k4"})
    EXPECT_FALSE(matrixShapeNamed(name)) << name;
}

// What ptxas 13.0 takes for sm_90a: floats in steps of 8, integers of 16 from 32 on.
TEST(WgmmaForm, AllWidths) {
  for (int n = 1; n <= 264; ++n) {
    std::string size = std::to_string(n);
    bool wide = n % 8 == 0 && n <= 256, integers = wide && (n <= 24 || n % 16 == 0);
    EXPECT_EQ(wgmma("m64n" + size + "k16.f32.bf16.bf16").has_value(), wide) << n;
    EXPECT_EQ(wgmma("m64n" + size + "k16.f16.f16.f16").has_value(), wide) << n;
    EXPECT_EQ(wgmma("m64n" + size + "k8.f32.tf32.tf32").has_value(), wide) << n;
    EXPECT_EQ(wgmma("m64n" + size + "k32.f32.e4m3.e5m2").has_value(), wide) << n;
    EXPECT_EQ(wgmma("m64n" + size + "k32.s32.s8.u8.satfinite").has_value(), integers) << n;
    EXPECT_EQ(wgmma("m64n" + size + "k256.s32.b1.b1.and.popc").has_value(), integers) << n;
  }
}

TEST(WgmmaForm, Registers) {
  EXPECT_EQ(wgmma("m64n256k16.f32.f16.f16")->registersOfD(), 128);
  EXPECT_EQ(wgmma("m64n256k16.f16.f16.f16")->registersOfD(), 64);
  EXPECT_EQ(wgmma("m64n8k32.satfinite.s32.s8.s8")->registersOfD(), 4);
  EXPECT_TRUE(wgmma("m64n8k16.f32.f16.f16")->hasTransposes());
  EXPECT_FALSE(wgmma("m64n8k32.f32.e4m3.e4m3")->hasTransposes());
  EXPECT_TRUE(wgmma("m64n8k32.f32.e4m3.e4m3")->hasSigns());
  EXPECT_FALSE(wgmma("m64n8k32.s32.u8.u8")->hasSigns());
}

TEST(WgmmaForm, Refuses) {
  for (const char *rest : {
           "m64n8k16.f32.f16.bf16",
           "m64n8k16.f16.bf16.bf16",
           "m64n8k32.f32.f16.f16",
           "m16n8k16.f32.f16.f16",
           "m64n8k256.s32.b1.b1",
           "m64n8k256.s32.b1.b1.xor.popc",
           "m64n8k32.s32.s8.s8.and.popc",
           "m64n8k16.f32.f16.f16.satfinite",
           "m64n8k64.s32.s4.s4",
           "m64n8k32.f32.f16.f16.sp",
           "m64n8k16.f32.f16",
           "f32.f16.f16",
           "m64n8k4.f64.f64.f64",
       })
    EXPECT_FALSE(wgmma(rest)) << rest;
}

} // namespace
