// Approximate functions with results that are not just the true value rounded.
#include "headrace/Sim/Numerics/Approximation.h"

#include "headrace/Sim/Numerics/Float.h"

using namespace headrace::sim;

namespace {

constexpr uint64_t kHighWord = 0xFFFFFFFF00000000;

/// `value` with only its high word; subnormal numbers become zeros of their sign.
double highWord(double value) {
  uint64_t bits = bitsOfDouble(value) & kHighWord;
  return doubleOfBits(bits & kF64.infinity() ? bits : bits & kF64.signBit());
}

/// A result with only its high word: the ISA gives the bits of NaN.
double highResult(double value) { return std::isnan(value) ? doubleOfBits(0x7FFFFFFF00000000) : highWord(value); }

} // namespace

float headrace::sim::divideApprox(float a, float b) {
  float magnitude = std::fabs(b);
  if (magnitude <= 0x1p126f || std::isinf(b) || std::isnan(a) || std::isnan(b))
    return a / b;
  if (std::isinf(a))
    return std::numeric_limits<float>::quiet_NaN();
  return std::copysign(0.0f, std::signbit(a) == std::signbit(b) ? 1.0f : -1.0f);
}

double headrace::sim::reciprocalHigh(double a) { return highResult(1 / highWord(a)); }

double headrace::sim::rsqrtHigh(double a) { return highResult(rsqrtOf(highWord(a))); }
