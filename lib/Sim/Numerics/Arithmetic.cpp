// Rounding to odd, 16-bit results, minimum and maximum.
#include "headrace/Sim/Numerics/Arithmetic.h"

#include <cfenv>

using namespace headrace::sim;

double headrace::sim::addToOdd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum))
    return sum;
  // Knuth's two-sum: a + b == sum + lost exactly.
  const double fromB = sum - a;
  const double lost = (a - (sum - fromB)) + (b - fromB);
  uint64_t bits = bitsOfDouble(sum);
  if (lost == 0 || (bits & 1))
    return sum;
  // The neighbour on the side of what was lost is the odd one.
  return doubleOfBits((lost > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

HostRounding::HostRounding(Rounding rounding) : before(std::fegetround()) {
  std::fesetround(rounding == Rounding::Zero   ? FE_TOWARDZERO
                  : rounding == Rounding::Down ? FE_DOWNWARD
                  : rounding == Rounding::Up   ? FE_UPWARD
                                               : FE_TONEAREST);
}

HostRounding::~HostRounding() { std::fesetround(before); }

namespace {

uint16_t encodedBits(double value, const FloatMode &mode, const FloatFormat &format) {
  if (mode.saturate)
    value = saturated(value);
  if (mode.relu && value <= 0)
    value = 0;
  return static_cast<uint16_t>(encodeFloat(value, format, mode.rounding));
}

/// A number as an integer, and its sign bit.
struct Parts {
  uint64_t bits;
  uint64_t sign;
};
Parts partsOf(float value) { return {bitsOfFloat(value), 0x80000000}; }
Parts partsOf(double value) { return {bitsOfDouble(value), uint64_t(1) << 63}; }
Parts partsOf(Half value) { return {value.bits, 0x8000}; }
Parts partsOf(Bfloat value) { return {value.bits, 0x8000}; }

template <typename T> T ofBits(uint64_t bits) { return {static_cast<uint16_t>(bits)}; }
template <> float ofBits<float>(uint64_t bits) { return floatOfBits(static_cast<uint32_t>(bits)); }
template <> double ofBits<double>(uint64_t bits) { return doubleOfBits(bits); }

template <typename T> T withSign(T value, bool negative) {
  Parts parts = partsOf(value);
  return ofBits<T>(negative ? parts.bits | parts.sign : parts.bits & ~parts.sign);
}
template <typename T> bool isNegative(T value) { return (partsOf(value).bits & partsOf(value).sign) != 0; }

/// Of two numbers that are no NaNs; -0 is less than +0.
template <typename T> bool isLess(T a, T b) {
  auto x = toFloat(a), y = toFloat(b);
  return x < y || (x == y && isNegative(a) && !isNegative(b));
}

} // namespace

template <> Half headrace::sim::encoded<Half>(double value, const FloatMode &mode) {
  Half result{encodedBits(value, mode, kF16)};
  return mode.flush ? flushed(result) : result;
}

template <> Bfloat headrace::sim::encoded<Bfloat>(double value, const FloatMode &mode) {
  Bfloat result{encodedBits(value, mode, kBf16)};
  return mode.flush ? flushed(result) : result;
}

template <typename T> T headrace::sim::minMax(const MinMaxMode &mode, bool isMax, T a, T b) {
  const bool negative = isNegative(a) != isNegative(b);
  if (mode.flush) {
    a = flushed(a);
    b = flushed(b);
  }
  if (mode.absolute) {
    a = withSign(a, false);
    b = withSign(b, false);
  }
  const bool nanA = std::isnan(toFloat(a)), nanB = std::isnan(toFloat(b));
  if ((nanA && nanB) || (mode.nan && (nanA || nanB)))
    return ofBits<T>(partsOf(a).sign - 1); // canonical: all ones
  const bool takesB = nanA || (!nanB && (isMax ? isLess(a, b) : isLess(b, a)));
  const T result = takesB ? b : a;
  return mode.xorSign ? withSign(result, negative) : result;
}

template float headrace::sim::minMax(const MinMaxMode &, bool, float, float);
template double headrace::sim::minMax(const MinMaxMode &, bool, double, double);
template Half headrace::sim::minMax(const MinMaxMode &, bool, Half, Half);
template Bfloat headrace::sim::minMax(const MinMaxMode &, bool, Bfloat, Bfloat);
