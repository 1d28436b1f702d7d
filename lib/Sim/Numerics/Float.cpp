// Rounding of exact values to a floating-point format.
#include "headrace/Sim/Numerics/Float.h"

#include <algorithm>

using namespace headrace::sim;

namespace {

/// What the bits that do not fit amount to, in units of the last place kept.
enum class Rest { Nothing, BelowHalf, Half, AboveHalf };

/// The rest of `significand` below bit `drop`. Requires: drop >= 0.
Rest restOf(uint64_t significand, int drop) {
  if (drop == 0 || significand == 0)
    return Rest::Nothing;
  if (drop > 64)
    return Rest::BelowHalf;
  uint64_t half = uint64_t(1) << (drop - 1);
  uint64_t rest = drop == 64 ? significand : significand & (2 * half - 1);
  if (rest == 0)
    return Rest::Nothing;
  return rest < half ? Rest::BelowHalf : rest == half ? Rest::Half : Rest::AboveHalf;
}

bool roundsUp(bool negative, bool odd, Rest rest, Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return rest == Rest::AboveHalf || (rest == Rest::Half && odd);
  case Rounding::NearestAway:
    return rest >= Rest::Half;
  case Rounding::Zero:
    return false;
  case Rounding::Down:
    return negative && rest != Rest::Nothing;
  case Rounding::Up:
    return !negative && rest != Rest::Nothing;
  }
  return false;
}

/// What a finite value beyond the range becomes, without its sign.
uint64_t overflowed(bool negative, const FloatFormat &format, Rounding rounding, Overflow overflow) {
  bool inward = rounding == Rounding::Zero || rounding == (negative ? Rounding::Up : Rounding::Down);
  if (overflow == Overflow::Largest || inward || format.specials == FloatFormat::Specials::None)
    return format.largest();
  return format.specials == FloatFormat::Specials::Ieee ? format.infinity() : format.nan();
}

} // namespace

uint64_t headrace::sim::encodeExact(bool negative, uint64_t significand, int exponent, const FloatFormat &format,
                                    Rounding rounding, Overflow overflow) {
  const uint64_t sign = negative ? format.signBit() : 0;
  if (significand == 0)
    return sign;
  int lead = 63 - __builtin_clzll(significand);
  int top = std::max(lead + exponent, format.minExponent());
  if (top > format.bias() + 1)
    return sign | overflowed(negative, format, rounding, overflow);

  // The last place kept is worth 2^(top - fractionBits).
  int drop = top - format.fractionBits - exponent;
  uint64_t kept = drop <= 0 ? significand << -drop : drop < 64 ? significand >> drop : 0;
  // `kept` has the leading one of a normal number, which counts as one step of the exponent.
  uint64_t magnitude = (static_cast<uint64_t>(top - format.minExponent()) << format.fractionBits) + kept;
  magnitude += roundsUp(negative, kept & 1, restOf(significand, std::max(drop, 0)), rounding);
  if (magnitude > format.largest())
    return sign | overflowed(negative, format, rounding, overflow);
  return sign | magnitude;
}

uint64_t headrace::sim::encodeFloat(double value, const FloatFormat &format, Rounding rounding, Overflow overflow) {
  const uint64_t bits = bitsOfDouble(value);
  const bool negative = bits >> 63;
  const int exponent = static_cast<int>(bits >> kF64.fractionBits & 0x7FF);
  const uint64_t fraction = bits & kF64.fractionMask();
  const bool hasNan = format.specials != FloatFormat::Specials::None;
  if (exponent == 0x7FF && fraction)
    return hasNan ? format.nan() : format.largest();
  if (exponent == 0x7FF) {
    uint64_t sign = negative ? format.signBit() : 0;
    if (overflow == Overflow::Largest || !hasNan)
      return sign | format.largest();
    return sign | (format.specials == FloatFormat::Specials::Ieee ? format.infinity() : format.nan());
  }
  uint64_t significand = exponent ? fraction | (kF64.fractionMask() + 1) : fraction;
  return encodeExact(negative, significand, std::max(exponent, 1) - kF64.bias() - kF64.fractionBits, format, rounding,
                     overflow);
}

uint32_t headrace::sim::floatToTf32(double value, Rounding rounding, Overflow overflow) {
  auto pattern = static_cast<uint32_t>(encodeFloat(value, kTf32, rounding, overflow));
  return pattern == kTf32.nan() ? static_cast<uint32_t>(kF32.nan()) : pattern << (kF32.fractionBits - 10);
}

uint8_t headrace::sim::floatToUe8m0(float value, Rounding rounding, Overflow overflow) {
  uint32_t magnitude = bitsOfFloat(value) & 0x7FFFFFFF;
  if (magnitude > kF32.infinity())
    return 0xFF;
  uint32_t exponent = magnitude >> kF32.fractionBits;
  // 2^-127, the smallest value, is the subnormal float 0x400000.
  bool between = (magnitude & kF32.fractionMask()) != 0 && magnitude > 0x00400000;
  if (rounding == Rounding::Up && between)
    ++exponent;
  if (exponent == 0xFF && overflow == Overflow::Largest)
    return 0xFE;
  return static_cast<uint8_t>(exponent);
}
