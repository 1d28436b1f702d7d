// cvt in its many forms.
#include "Running.h"

#include "headrace/Sim/Numerics/Float.h"

using namespace headrace::sim;

namespace {

TEST(ScalarConvert, IntegersExtendAndChop) {
  EXPECT_EQ(resultOf("cvt.s64.s32 %d31, -1;"), ~uint64_t(0));
  EXPECT_EQ(resultOf("cvt.u64.u32 %d31, -1;"), 0xFFFFFFFFu);
  EXPECT_EQ(wordOf("mov.b64 %d1, 0x123456789;\ncvt.u32.u64 %r31, %d1;"), 0x23456789u);
  EXPECT_EQ(wordOf("cvt.s32.s8 %r31, 0x180;"), 0xFFFFFF80u);
  EXPECT_EQ(wordOf("cvt.u32.u8 %r31, 0x180;"), 0x80u);
  EXPECT_EQ(shortOf("mov.b32 %r1, 0x1FF;\ncvt.s8.s32 %h15, %r1;"), 0xFFFF); // extended to the register
  EXPECT_EQ(shortOf("mov.b32 %r1, 0x1FF;\ncvt.u8.s32 %h15, %r1;"), 0x00FF);
  EXPECT_EQ(wordOf("cvt.sat.u8.s32 %r31, -5;"), 0u);
  EXPECT_EQ(wordOf("cvt.sat.s8.s32 %r31, -500;"), static_cast<uint32_t>(-128));
  EXPECT_EQ(shortOf("mov.b16 %h1, 0xFFFF;\ncvt.u16.u8 %h15, %h1;"), 0xFF);
}

TEST(ScalarConvert, NumbersToIntegers) {
  EXPECT_EQ(wordOf("cvt.rzi.s32.f32 %r31, -2.75;"), static_cast<uint32_t>(-2));
  EXPECT_EQ(wordOf("cvt.rni.s32.f32 %r31, 2.5;"), 2u);
  EXPECT_EQ(wordOf("cvt.rmi.s32.f32 %r31, -2.25;"), static_cast<uint32_t>(-3));
  EXPECT_EQ(wordOf("cvt.rpi.u32.f32 %r31, 2.25;"), 3u);
  EXPECT_EQ(wordOf("cvt.rzi.u32.f32 %r31, -1.0;"), 0u);
  EXPECT_EQ(wordOf("cvt.rzi.s32.f32 %r31, 0f7FC00000;"), 0u);
  EXPECT_EQ(wordOf("cvt.rzi.s32.f32 %r31, 1e20;"), 0x7FFFFFFFu);
  EXPECT_EQ(wordOf("cvt.rzi.s32.f64 %r31, 0d7FF8000000000000;"), 0x80000000u);
  EXPECT_EQ(resultOf("cvt.rzi.u64.f32 %d31, 0f7FC00000;"), uint64_t(1) << 63);
  EXPECT_EQ(wordOf("cvt.rpi.ftz.s32.f32 %r31, 0f00000001;"), 0u);
  EXPECT_EQ(wordOf("mov.b16 %h1, 0xC100;\ncvt.rzi.s32.f16 %r31, %h1;"), static_cast<uint32_t>(-2));
  EXPECT_EQ(wordOf("mov.b16 %h1, 0x4049;\ncvt.rni.s32.bf16 %r31, %h1;"), 3u);
}

TEST(ScalarConvert, IntegersToNumbers) {
  EXPECT_EQ(wordOf("cvt.rn.f32.s32 %f1, -3;\nmov.b32 %r31, %f1;"), bitsOfFloat(-3));
  EXPECT_EQ(wordOf("cvt.rz.f32.u32 %f1, -1;\nmov.b32 %r31, %f1;"), bitsOfFloat(0x1.fffffep31f));
  EXPECT_EQ(wordOf("cvt.rn.sat.f32.s32 %f1, 7;\nmov.b32 %r31, %f1;"), bitsOfFloat(1));
  EXPECT_EQ(shortOf("mov.b32 %r1, 70000;\ncvt.rn.f16.u32 %h15, %r1;"), 0x7C00);
  EXPECT_EQ(shortOf("mov.b32 %r1, 70000;\ncvt.rz.f16.u32 %h15, %r1;"), 0x7BFF);
  EXPECT_EQ(resultOf("cvt.rn.f64.s64 %g1, -5;\nmov.b64 %d31, %g1;"), bitsOfDouble(-5));
}

TEST(ScalarConvert, NumbersToNumbers) {
  EXPECT_EQ(shortOf("cvt.rn.f16.f32 %h15, 1.0;"), 0x3C00);
  EXPECT_EQ(shortOf("cvt.rn.bf16.f32 %h15, 0f3F808000;"), 0x3F80);
  EXPECT_EQ(shortOf("cvt.rz.bf16.f32 %h15, 0f3F81FFFF;"), 0x3F81);
  EXPECT_EQ(shortOf("cvt.rn.relu.bf16.f32 %h15, -1.0;"), 0);
  EXPECT_EQ(shortOf("cvt.rn.satfinite.f16.f32 %h15, 0f7F800000;"), 0x7BFF);
  EXPECT_EQ(wordOf("mov.b16 %h1, 0x3E00;\ncvt.f32.f16 %f1, %h1;\nmov.b32 %r31, %f1;"), bitsOfFloat(1.5));
  EXPECT_EQ(wordOf("mov.b16 %h1, 0x3FC0;\ncvt.f32.bf16 %f1, %h1;\nmov.b32 %r31, %f1;"), bitsOfFloat(1.5));
  EXPECT_EQ(wordOf("cvt.rni.f32.f32 %f1, 2.5;\nmov.b32 %r31, %f1;"), bitsOfFloat(2));
  EXPECT_EQ(wordOf("cvt.sat.f32.f32 %f1, -2.5;\nmov.b32 %r31, %f1;"), 0u);
  EXPECT_EQ(wordOf("cvt.ftz.f32.f32 %f1, 0f80000001;\nmov.b32 %r31, %f1;"), 0x80000000u);
  EXPECT_EQ(wordOf("cvt.rp.f32.f64 %f1, 0d3FF0000000000001;\nmov.b32 %r31, %f1;"), 0x3F800001u);
  EXPECT_EQ(resultOf("cvt.f64.f32 %g1, 1.5;\nmov.b64 %d31, %g1;"), bitsOfDouble(1.5));
  EXPECT_EQ(wordOf("cvt.rna.tf32.f32 %r31, 0f3F801000;"), 0x3F802000u);
  EXPECT_EQ(wordOf("cvt.rn.relu.tf32.f32 %r31, -1.0;"), 0u);
}

TEST(ScalarConvert, ThePairsHaveTheFirstSourceHigh) {
  EXPECT_EQ(wordOf("cvt.rn.bf16x2.f32 %r31, 1.0, 2.0;"), 0x3F804000u);
  EXPECT_EQ(wordOf("cvt.rn.f16x2.f32 %r31, 1.0, 2.0;"), 0x3C004000u);
  EXPECT_EQ(wordOf("cvt.rn.relu.satfinite.f16x2.f32 %r31, -1.0, 1e9;"), 0x00007BFFu);
  EXPECT_EQ(shortOf("cvt.rn.satfinite.e4m3x2.f32 %h15, 1.0, 1000.0;"), 0x387E);
  EXPECT_EQ(shortOf("cvt.rn.satfinite.e5m2x2.f32 %h15, 1.0, 0f7FC00000;"), 0x3C7F);
  EXPECT_EQ(shortOf("cvt.rn.satfinite.relu.e4m3x2.f16x2 %h15, 0x3C00BC00;"), 0x3800);
  EXPECT_EQ(wordOf("mov.b16 %h1, 0x38FE;\ncvt.rn.f16x2.e4m3x2 %r31, %h1;"), 0x3C00DF00u);
  EXPECT_EQ(shortOf("cvt.rn.satfinite.e2m3x2.f32 %h15, 1.0, -7.5;"), 0x083F);
  EXPECT_EQ(shortOf("cvt.rn.satfinite.e3m2x2.f32 %h15, 1.0, 28.0;"), 0x0C1F);
  EXPECT_EQ(shortOf("cvt.rn.satfinite.e2m1x2.f32 %c1, 1.0, -6.0;\ncvt.u16.u8 %h15, %c1;"), 0x2F);
  EXPECT_EQ(wordOf("mov.b16 %h1, 0x2F;\ncvt.u8.u16 %c1, %h1;\ncvt.rn.f16x2.e2m1x2 %r31, %c1;"), 0x3C00C600u);
  EXPECT_EQ(shortOf("cvt.rp.satfinite.ue8m0x2.f32 %h15, 1.0, 3.0;"), 0x7F81);
  EXPECT_EQ(shortOf("cvt.rz.ue8m0x2.bf16x2 %h15, 0x3F804040;"), 0x7F80);
  EXPECT_EQ(wordOf("mov.b16 %h1, 0x7F81;\ncvt.rn.bf16x2.ue8m0x2 %r31, %h1;"), 0x3F804080u);
}

TEST(ScalarConvert, PacksIntegers) {
  EXPECT_EQ(wordOf("cvt.pack.sat.s16.s32 %r31, 40000, -40000;"), 0x7FFF8000u);
  EXPECT_EQ(wordOf("cvt.pack.sat.u8.s32.b32 %r31, 300, -1, 0x1234;"), 0x1234FF00u);
  EXPECT_EQ(wordOf("cvt.pack.sat.s4.s32.b32 %r31, 100, -100, 1;"), 0x00000178u);
}

TEST(ScalarConvert, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(refusalOf("cvt.s32.f32 %r1, %f1;").find("expected .rni, .rzi, .rmi or .rpi"), std::string::npos);
  EXPECT_NE(refusalOf("cvt.f32.s32 %f1, %r1;").find("expected .rn, .rz, .rm or .rp"), std::string::npos);
  EXPECT_NE(refusalOf("cvt.f16.f32 %h1, %f1;").find("to a narrower number"), std::string::npos);
  EXPECT_NE(refusalOf("cvt.rn.e4m3x2.f32 %h1, %f1, %f2;").find("expected .satfinite"), std::string::npos);
  EXPECT_NE(refusalOf("cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2;").find("'.rs' is not understood"), std::string::npos);
  EXPECT_NE(refusalOf("cvt.u32.u64 %h1, %d1;").find("expected a destination of at least 32 bits, got 16"),
            std::string::npos);
}

} // namespace
