// Conversions to and from integers and packed elements.
#include "headrace/Sim/Numerics/Convert.h"

#include "headrace/Sim/Numerics/Bits.h"

#include <cmath>
#include <utility>

using namespace headrace::sim;

double headrace::sim::roundedToInteger(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  default:
    return std::nearbyint(value);
  }
}

uint64_t headrace::sim::floatToInteger(double value, Rounding rounding, int bits, bool isSigned, bool sourceIs64) {
  if (std::isnan(value))
    return sourceIs64 || bits == 64 ? uint64_t(1) << (bits - 1) : 0;
  const double whole = roundedToInteger(value, rounding);
  const double limit = std::ldexp(1.0, isSigned ? bits - 1 : bits); // one past the largest
  if (whole >= limit)
    return lowMask(isSigned ? bits - 1 : bits);
  if (!isSigned)
    return whole <= 0 ? 0 : static_cast<uint64_t>(whole);
  const int64_t integer = whole < -limit ? -1 - static_cast<int64_t>(lowMask(bits - 1)) : static_cast<int64_t>(whole);
  return static_cast<uint64_t>(integer) & lowMask(bits);
}

uint64_t headrace::sim::integerToFloat(uint64_t value, bool isSigned, const FloatFormat &format, Rounding rounding) {
  const bool negative = isSigned && value >> 63;
  return encodeExact(negative, negative ? 0 - value : value, 0, format, rounding);
}

uint64_t headrace::sim::integerClamped(uint64_t value, bool isSigned, int toBits, bool toSigned) {
  const bool negative = isSigned && value >> 63;
  const uint64_t largest = lowMask(toSigned ? toBits - 1 : toBits);
  if (!negative)
    return value > largest ? largest : value;
  if (!toSigned)
    return 0;
  const uint64_t lowest = ~largest; // -2^(toBits-1)
  return static_cast<int64_t>(value) < static_cast<int64_t>(lowest) ? lowest : value;
}

uint32_t PackedElement::encode(float value, Rounding rounding, Overflow overflow, bool relu) const {
  if (isPowerOfTwo)
    return floatToUe8m0(value, rounding, overflow);
  if (relu && value <= 0)
    value = 0;
  return static_cast<uint32_t>(encodeFloat(value, format, rounding, overflow));
}

std::optional<PackedElement> headrace::sim::packedElement(std::string_view name) {
  static constexpr std::pair<std::string_view, PackedElement> kElements[] = {
      {"f16x2", {kF16, false, 16, [](uint32_t bits) { return halfToFloat(static_cast<uint16_t>(bits)); }}},
      {"bf16x2", {kBf16, false, 16, [](uint32_t bits) { return bfloatToFloat(static_cast<uint16_t>(bits)); }}},
      {"e4m3x2", {kE4m3, false, 8, [](uint32_t bits) { return kE4m3Values[bits & 0xFF]; }}},
      {"e5m2x2", {kE5m2, false, 8, [](uint32_t bits) { return kE5m2Values[bits & 0xFF]; }}},
      {"e2m3x2", {kE2m3, false, 8, [](uint32_t bits) { return kE2m3Values[bits & 0xFF]; }}},
      {"e3m2x2", {kE3m2, false, 8, [](uint32_t bits) { return kE3m2Values[bits & 0xFF]; }}},
      {"e2m1x2", {kE2m1, false, 4, [](uint32_t bits) { return kE2m1Values[bits & 0xFF]; }}},
      {"ue8m0x2", {kE4m3, true, 8, [](uint32_t bits) { return ue8m0ToFloat(static_cast<uint8_t>(bits)); }}},
  };
  for (const auto &[known, element] : kElements)
    if (known == name)
      return element;
  return std::nullopt;
}
