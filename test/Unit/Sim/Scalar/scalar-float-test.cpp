// Instructions on numbers, from their spelling to their result.
#include "Running.h"

#include "headrace/Sim/Numerics/Float.h"

#include <cmath>

using namespace headrace::sim;

namespace {

/// Requires: `instruction` writes %f15.
float floatOf(const std::string &instruction) { return floatOfBits(wordOf(instruction + "\nmov.b32 %r31, %f15;")); }
/// Requires: `instruction` writes %g15.
double doubleOf(const std::string &instruction) {
  return doubleOfBits(resultOf(instruction + "\nmov.b64 %d31, %g15;"));
}

TEST(ScalarFloat, Arithmetic) {
  EXPECT_EQ(floatOf("add.rn.f32 %f15, 0f3F800000, 1.5;"), 2.5f);
  EXPECT_EQ(floatOf("sub.f32 %f15, 1.0, 4.0;"), -3.0f);
  EXPECT_EQ(floatOf("mul.rn.f32 %f15, 3.0, 0.5;"), 1.5f);
  EXPECT_EQ(floatOf("fma.rn.f32 %f15, 3.0, 3.0, 1.0;"), 10.0f);
  EXPECT_EQ(floatOf("mad.rn.f32 %f15, 3.0, 3.0, 1.0;"), 10.0f);
  EXPECT_EQ(floatOf("fma.rz.f32 %f15, 1.0, 1.0, 0f00000001;"), 1.0f);
  EXPECT_EQ(floatOf("fma.rp.f32 %f15, 1.0, 1.0, 0f00000001;"), 1.0f + 0x1p-23f);
  EXPECT_EQ(floatOf("add.rn.sat.f32 %f15, 1.0, 1.0;"), 1.0f);
  EXPECT_EQ(floatOf("mul.rn.ftz.f32 %f15, 0f00000001, 0f7F000000;"), 0.0f);
  EXPECT_EQ(floatOf("div.rn.f32 %f15, 1.0, 3.0;"), 1.0f / 3);
  EXPECT_EQ(floatOf("div.full.f32 %f15, 1.0, 4.0;"), 0.25f);
  EXPECT_EQ(floatOf("div.approx.ftz.f32 %f15, 1.0, 4.0;"), 0.25f);
  EXPECT_EQ(doubleOf("fma.rn.f64 %g15, 0d3FF0000000000000, 3.0, 0.5;"), 3.5);
  EXPECT_EQ(doubleOf("div.rp.f64 %g15, 1.0, 3.0;"), 0x1.5555555555556p-2);
}

TEST(ScalarFloat, SixteenBitArithmetic) {
  EXPECT_EQ(shortOf("add.rn.f16 %h15, 0x3C00, 0x3C00;"), 0x4000);
  EXPECT_EQ(shortOf("mul.f16 %h15, 0x4000, 0x4200;"), 0x4600);
  EXPECT_EQ(shortOf("fma.rn.relu.f16 %h15, 0x4000, 0xC200, 0x3C00;"), 0);
  EXPECT_EQ(shortOf("fma.rn.bf16 %h15, 0x3F80, 0x4000, 0x3F80;"), 0x4040);
  EXPECT_EQ(shortOf("sub.bf16 %h15, 0x3F80, 0x4000;"), 0xBF80);
  EXPECT_EQ(wordOf("add.f16x2 %r31, 0x3C004000, 0x3C003C00;"), 0x40004200u);
  EXPECT_EQ(wordOf("fma.rn.bf16x2 %r31, 0x3F804000, 0x40003F80, 0x00003F80;"), 0x40004040u);
  EXPECT_EQ(resultOf("add.rn.f32x2 %d31, 0x3F80000040000000, 0x3F8000003F800000;"), 0x4000000040400000u);
  EXPECT_EQ(resultOf("fma.rn.f32x2 %d31, 0x3F80000040000000, 0x4000000040000000, 0;"), 0x4000000040800000u);
  EXPECT_EQ(floatOf("fma.rn.f32.bf16 %f15, 0x4000, 0x4000, 1.0;"), 5.0f);
  EXPECT_EQ(floatOf("add.f32.f16 %f15, 0x3C00, 1.0;"), 2.0f);
}

TEST(ScalarFloat, SignsAndProperties) {
  EXPECT_EQ(floatOf("neg.f32 %f15, 1.0;"), -1.0f);
  EXPECT_EQ(floatOf("abs.f32 %f15, -1.0;"), 1.0f);
  EXPECT_EQ(wordOf("neg.f16x2 %r31, 0x3C00BC00;"), 0xBC003C00u);
  EXPECT_EQ(wordOf("abs.bf16x2 %r31, 0xBF803F80;"), 0x3F803F80u);
  EXPECT_EQ(shortOf("abs.ftz.f16 %h15, 0x8001;"), 0);
  EXPECT_EQ(doubleOf("neg.f64 %g15, 2.0;"), -2.0);
  EXPECT_EQ(floatOf("copysign.f32 %f15, -1.0, 3.0;"), -3.0f);
  EXPECT_TRUE(predicateOf("testp.notanumber.f32 %p15, 0f7FC00000;"));
  EXPECT_TRUE(predicateOf("testp.normal.f32 %p15, 0f00000000;"));
  EXPECT_TRUE(predicateOf("testp.subnormal.f32 %p15, 0f00000001;"));
  EXPECT_FALSE(predicateOf("testp.finite.f64 %p15, 0d7FF0000000000000;"));
}

TEST(ScalarFloat, MinimumAndMaximum) {
  EXPECT_EQ(floatOf("max.f32 %f15, 0f7FC00000, 2.0;"), 2.0f);
  EXPECT_TRUE(std::isnan(floatOf("max.NaN.f32 %f15, 0f7FC00000, 2.0;")));
  EXPECT_EQ(floatOf("max.f32 %f15, 1.0, 5.0, 3.0;"), 5.0f);
  EXPECT_EQ(floatOf("min.xorsign.abs.f32 %f15, -3.0, 2.0;"), -2.0f);
  EXPECT_EQ(wordOf("max.f16x2 %r31, 0x3C00BC00, 0x00000000;"), 0x3C000000u);
  EXPECT_EQ(shortOf("min.bf16 %h15, 0x3F80, 0x4000;"), 0x3F80);
  EXPECT_EQ(doubleOf("min.f64 %g15, 1.0, -1.0;"), -1.0);
}

TEST(ScalarFloat, Functions) {
  EXPECT_EQ(floatOf("ex2.approx.ftz.f32 %f15, 3.0;"), 8.0f);
  EXPECT_EQ(floatOf("ex2.approx.f32 %f15, -149.0;"), 0x1p-149f);
  EXPECT_EQ(floatOf("ex2.approx.ftz.f32 %f15, -149.0;"), 0.0f);
  EXPECT_EQ(floatOf("lg2.approx.f32 %f15, 8.0;"), 3.0f);
  EXPECT_EQ(floatOf("rcp.approx.ftz.f32 %f15, 4.0;"), 0.25f);
  EXPECT_EQ(floatOf("rcp.rn.f32 %f15, 3.0;"), 1.0f / 3);
  EXPECT_EQ(floatOf("rsqrt.approx.f32 %f15, 16.0;"), 0.25f);
  EXPECT_EQ(floatOf("sqrt.rn.f32 %f15, 2.0;"), std::sqrt(2.0f));
  EXPECT_EQ(floatOf("sqrt.approx.f32 %f15, 9.0;"), 3.0f);
  EXPECT_EQ(floatOf("sin.approx.f32 %f15, 0.0;"), 0.0f);
  EXPECT_EQ(floatOf("cos.approx.f32 %f15, 0.0;"), 1.0f);
  EXPECT_EQ(floatOf("tanh.approx.f32 %f15, 0f7F800000;"), 1.0f);
  EXPECT_EQ(wordOf("ex2.approx.f16x2 %r31, 0x3C004000;"), 0x40004400u);
  EXPECT_EQ(shortOf("ex2.approx.ftz.bf16 %h15, 0x3F80;"), 0x4000);
  EXPECT_EQ(shortOf("tanh.approx.f16 %h15, 0x7C00;"), 0x3C00);
  EXPECT_EQ(doubleOf("rsqrt.approx.f64 %g15, 4.0;"), 0.5);
  EXPECT_EQ(doubleOf("rcp.approx.ftz.f64 %g15, 4.0;"), 0.25);
}

TEST(ScalarFloat, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(refusalOf("ex2.f32 %f1, %f2;").find("expected .approx"), std::string::npos);
  EXPECT_NE(refusalOf("add.rz.f16 %h1, %h2, %h3;").find("expected .rn for a 16-bit type"), std::string::npos);
  EXPECT_NE(refusalOf("fma.rn.oob.f16 %h1, %h2, %h3, %h4;").find("'.oob' is not understood"), std::string::npos);
  EXPECT_NE(refusalOf("add.f32.f64 %f1, %g2, %f3;"), "");
}

} // namespace
