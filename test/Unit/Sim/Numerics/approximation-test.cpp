// The special values that the ISA tables, and errors within its bounds.
#include "headrace/Sim/Numerics/Approximation.h"

#include "headrace/Sim/Numerics/Float.h"

#include "gtest/gtest.h"

#include <random>

using namespace headrace::sim;

namespace {

bool isNegativeZero(double value) { return value == 0 && std::signbit(value); }
bool isPositiveZero(double value) { return value == 0 && !std::signbit(value); }

TEST(Approximation, SpecialValuesOfReciprocals) {
  EXPECT_TRUE(isNegativeZero(reciprocalOf(-INFINITY)));
  EXPECT_EQ(reciprocalOf(-0.0), -INFINITY);
  EXPECT_EQ(reciprocalOf(0.0), INFINITY);
  EXPECT_TRUE(isPositiveZero(reciprocalOf(INFINITY)));
  EXPECT_TRUE(std::isnan(rsqrtOf(-INFINITY)));
  EXPECT_TRUE(std::isnan(rsqrtOf(-1)));
  EXPECT_EQ(rsqrtOf(-0.0), -INFINITY);
  EXPECT_EQ(rsqrtOf(0.0), INFINITY);
  EXPECT_TRUE(isPositiveZero(rsqrtOf(INFINITY)));
  EXPECT_TRUE(isNegativeZero(sqrtOf(-0.0)));
  EXPECT_TRUE(std::isnan(sqrtOf(-INFINITY)));
  EXPECT_EQ(sqrtOf(INFINITY), INFINITY);
}

TEST(Approximation, SpecialValuesOfTranscendentals) {
  EXPECT_TRUE(isPositiveZero(exp2Of(-INFINITY)));
  EXPECT_EQ(exp2Of(-0.0), 1);
  EXPECT_EQ(exp2Of(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(log2Of(-1)));
  EXPECT_EQ(log2Of(-0.0), -INFINITY);
  EXPECT_EQ(log2Of(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(sinOf(INFINITY)) && std::isnan(cosOf(-INFINITY)));
  EXPECT_TRUE(isNegativeZero(sinOf(-0.0)));
  EXPECT_EQ(cosOf(-0.0), 1);
  EXPECT_EQ(tanhOf(-INFINITY), -1);
  EXPECT_EQ(tanhOf(INFINITY), 1);
  EXPECT_TRUE(isNegativeZero(tanhOf(-0.0)));
  for (double (*function)(double) : {exp2Of, log2Of, sinOf, cosOf, tanhOf, reciprocalOf, sqrtOf, rsqrtOf})
    EXPECT_TRUE(std::isnan(function(NAN)));
}

TEST(Approximation, DivisionByVeryLargeNumbersGivesZero) {
  EXPECT_EQ(divideApprox(6, 3), 2);
  EXPECT_EQ(divideApprox(0x1p120f, 0x1p126f), 0x1p-6f);
  EXPECT_TRUE(isPositiveZero(divideApprox(0x1p127f, 0x1.8p126f)));
  EXPECT_TRUE(isNegativeZero(divideApprox(-0x1p127f, 0x1p127f)));
  EXPECT_TRUE(std::isnan(divideApprox(INFINITY, 0x1p127f)));
  EXPECT_TRUE(std::isnan(divideApprox(NAN, 0x1p127f)));
  EXPECT_TRUE(isPositiveZero(divideApprox(1, INFINITY)));
  EXPECT_TRUE(std::isnan(divideApprox(INFINITY, INFINITY)));
}

TEST(Approximation, DoubleFormsUseTheHighWord) {
  EXPECT_EQ(bitsOfDouble(reciprocalHigh(3)) & 0xFFFFFFFF, 0u);
  EXPECT_NEAR(reciprocalHigh(3), 1.0 / 3, 0x1p-21);
  EXPECT_EQ(reciprocalHigh(0x1p-1074), INFINITY);
  EXPECT_EQ(reciprocalHigh(-0x1p-1030), -INFINITY);
  EXPECT_TRUE(isPositiveZero(reciprocalHigh(0x1.8p1023)));
  EXPECT_EQ(bitsOfDouble(reciprocalHigh(NAN)), 0x7FFFFFFF00000000);
  EXPECT_NEAR(rsqrtHigh(2), std::sqrt(0.5), 0x1p-20);
  EXPECT_EQ(rsqrtHigh(-0x1p-1074), -INFINITY);
  EXPECT_EQ(bitsOfDouble(rsqrtHigh(-1)), 0x7FFFFFFF00000000);
}

TEST(Approximation, ErrorsAreWithinTheBounds) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-20, 20);
  for (int i = 0; i < 20000; ++i) {
    const float x = uniform(random);
    const long double y = x;
    EXPECT_LE(std::fabs(static_cast<float>(exp2Of(x)) / exp2l(y) - 1), 0x1p-23L);
    EXPECT_LE(std::fabs(static_cast<float>(tanhOf(x)) - tanhl(y)), 0x1p-11L * std::fabs(tanhl(y)));
    EXPECT_LE(std::fabs(static_cast<float>(sinOf(x)) - sinl(y)), 0x1p-20L);
    EXPECT_LE(std::fabs(static_cast<float>(cosOf(x)) - cosl(y)), 0x1p-20L);
    const float positive = std::fabs(x) + 0x1p-20f;
    EXPECT_LE(std::fabs(static_cast<float>(log2Of(positive)) - log2l(positive)),
              0x1p-22L * std::max(1.0L, std::fabs(log2l(positive))));
    EXPECT_LE(std::fabs(static_cast<float>(rsqrtOf(positive)) * sqrtl(positive) - 1), 0x1p-23L);
    EXPECT_LE(std::fabs(static_cast<float>(sqrtOf(positive)) / sqrtl(positive) - 1), 0x1p-23L);
  }
}

} // namespace
