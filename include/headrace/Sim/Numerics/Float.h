// Binary floating-point formats as bit patterns: exact decoding, and encoding that rounds once.
//
// All formats of PTX share one scheme. With b = 2^(exponentBits-1) - 1,
//
//     sign | e | f      e > 0:  +-2^(e-b) * 1.f        e = 0:  +-2^(1-b) * 0.f
//
// and they differ only in what the highest exponent means. Without its sign a pattern is an integer that grows with the
// value, so the next value up is the next integer, and a carry out of the fraction goes into the exponent as it should:
// rounding is integer arithmetic. `ue8m0` (a power of two, no fraction, no zero) has functions of its own.
#ifndef HEADRACE_SIM_NUMERICS_FLOAT_H
#define HEADRACE_SIM_NUMERICS_FLOAT_H

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

namespace headrace::sim {

/// .rn, .rna, .rz, .rm, .rp (PTX ISA 6.5.2).
enum class Rounding { NearestEven, NearestAway, Zero, Down, Up };

/// What a finite value beyond the range, or an infinity, becomes. Largest is `.satfinite`.
enum class Overflow { Infinity, Largest };

/// A format (PTX ISA 5.2.3).
struct FloatFormat {
  /// Ieee: the highest exponent holds infinity and NaNs. NanOnly: the pattern of all ones is NaN, the rest are numbers.
  /// None: all are numbers.
  enum class Specials { Ieee, NanOnly, None };

  int exponentBits;
  int fractionBits;
  Specials specials;

  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  /// Exponent of the smallest normal number.
  constexpr int minExponent() const { return 1 - bias(); }
  constexpr uint64_t signBit() const { return uint64_t(1) << (exponentBits + fractionBits); }
  /// Patterns without a sign.
  constexpr uint64_t fractionMask() const { return (uint64_t(1) << fractionBits) - 1; }
  constexpr uint64_t infinity() const { return ((uint64_t(1) << exponentBits) - 1) << fractionBits; }
  constexpr uint64_t largest() const {
    return specials == Specials::Ieee ? infinity() - 1 : signBit() - (specials == Specials::NanOnly ? 2 : 1);
  }
  /// The canonical NaN. Requires: specials is not None.
  constexpr uint64_t nan() const { return signBit() - 1; }
};

inline constexpr FloatFormat kF64 = {11, 52, FloatFormat::Specials::Ieee};
inline constexpr FloatFormat kF32 = {8, 23, FloatFormat::Specials::Ieee};
inline constexpr FloatFormat kTf32 = {8, 10, FloatFormat::Specials::Ieee}; // the high 19 bits of its register
inline constexpr FloatFormat kF16 = {5, 10, FloatFormat::Specials::Ieee};
inline constexpr FloatFormat kBf16 = {8, 7, FloatFormat::Specials::Ieee};
inline constexpr FloatFormat kE5m2 = {5, 2, FloatFormat::Specials::Ieee};
inline constexpr FloatFormat kE4m3 = {4, 3, FloatFormat::Specials::NanOnly}; // also ue4m3, which has no sign
inline constexpr FloatFormat kE3m2 = {3, 2, FloatFormat::Specials::None};
inline constexpr FloatFormat kE2m3 = {2, 3, FloatFormat::Specials::None};
inline constexpr FloatFormat kE2m1 = {2, 1, FloatFormat::Specials::None};

inline float floatOfBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t bitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline double doubleOfBits(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint64_t bitsOfDouble(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Decoding. All of these are exact; NaNs decode to some NaN.

/// Requires: a format of at most 16 bits. Ensures: the value, which float and double represent exactly.
constexpr float decodeFloat(uint32_t bits, FloatFormat format) {
  uint32_t magnitude = bits & static_cast<uint32_t>(format.signBit() - 1);
  bool negative = (bits & format.signBit()) != 0;
  float value = 0;
  if (magnitude <= format.largest()) {
    int exponent = static_cast<int>(magnitude >> format.fractionBits);
    uint32_t fraction = magnitude & static_cast<uint32_t>(format.fractionMask());
    value = static_cast<float>(exponent ? fraction | (format.fractionMask() + 1) : fraction);
    int power = (exponent ? exponent : 1) - format.bias() - format.fractionBits;
    for (; power > 0; --power)
      value *= 2;
    for (; power < 0; ++power)
      value /= 2;
  } else if (format.specials == FloatFormat::Specials::Ieee && magnitude == format.infinity()) {
    value = std::numeric_limits<float>::infinity();
  } else {
    value = std::numeric_limits<float>::quiet_NaN();
  }
  return negative ? -value : value;
}

/// The values of all patterns of a format of at most 8 bits; bits above the format's are ignored.
template <int ExponentBits, int FractionBits, FloatFormat::Specials Specials>
constexpr std::array<float, 256> decodingTable() {
  std::array<float, 256> table = {};
  for (uint32_t bits = 0; bits < 256; ++bits)
    table[bits] = decodeFloat(bits, {ExponentBits, FractionBits, Specials});
  return table;
}
inline constexpr auto kE4m3Values = decodingTable<4, 3, FloatFormat::Specials::NanOnly>();
inline constexpr auto kE5m2Values = decodingTable<5, 2, FloatFormat::Specials::Ieee>();
inline constexpr auto kE2m3Values = decodingTable<2, 3, FloatFormat::Specials::None>();
inline constexpr auto kE3m2Values = decodingTable<3, 2, FloatFormat::Specials::None>();
inline constexpr auto kE2m1Values = decodingTable<2, 1, FloatFormat::Specials::None>();

inline float halfToFloat(uint16_t bits) {
  // As a float with a bias of 15 the pattern means 2^-112 of its value; the product is exact, also of subnormals.
  float magnitude = floatOfBits(static_cast<uint32_t>(bits & 0x7FFF) << 13) * 0x1p112f;
  uint32_t result = bitsOfFloat(magnitude) | static_cast<uint32_t>(bits & 0x8000) << 16;
  return floatOfBits((bits & 0x7C00) == 0x7C00 ? result | 0x7F800000 : result);
}
inline float bfloatToFloat(uint16_t bits) { return floatOfBits(static_cast<uint32_t>(bits) << 16); }
/// The low 13 bits do not count.
inline float tf32ToFloat(uint32_t bits) { return floatOfBits(bits & 0xFFFFE000); }
inline float e4m3ToFloat(uint8_t bits) { return kE4m3Values[bits]; }
inline float e5m2ToFloat(uint8_t bits) { return kE5m2Values[bits]; }
inline float e2m3ToFloat(uint8_t bits) { return kE2m3Values[bits]; } // bits 5:0 count
inline float e3m2ToFloat(uint8_t bits) { return kE3m2Values[bits]; } // bits 5:0 count
inline float e2m1ToFloat(uint8_t bits) { return kE2m1Values[bits]; } // bits 3:0 count
/// The sign bit does not count.
inline float ue4m3ToFloat(uint8_t bits) { return kE4m3Values[bits & 0x7F]; }
/// 2^(bits - 127); 255 is NaN.
inline float ue8m0ToFloat(uint8_t bits) {
  if (bits == 255)
    return std::numeric_limits<float>::quiet_NaN();
  return floatOfBits(bits ? static_cast<uint32_t>(bits) << 23 : 0x00400000);
}

// Encoding. All of these round once, correctly.

/// The pattern of +-significand * 2^exponent. Without infinities, Overflow::Infinity gives NaN or else the largest.
uint64_t encodeExact(bool negative, uint64_t significand, int exponent, const FloatFormat &format, Rounding rounding,
                     Overflow overflow = Overflow::Infinity);

/// The pattern of `value`. NaN becomes the canonical NaN, or the largest number in a format without NaN (PTX ISA
/// 9.7.9.21, .satfinite).
uint64_t encodeFloat(double value, const FloatFormat &format, Rounding rounding = Rounding::NearestEven,
                     Overflow overflow = Overflow::Infinity);

inline uint16_t floatToHalf(double value, Rounding rounding = Rounding::NearestEven,
                            Overflow overflow = Overflow::Infinity) {
  return static_cast<uint16_t>(encodeFloat(value, kF16, rounding, overflow));
}
inline uint16_t floatToBfloat(double value, Rounding rounding = Rounding::NearestEven,
                              Overflow overflow = Overflow::Infinity) {
  return static_cast<uint16_t>(encodeFloat(value, kBf16, rounding, overflow));
}
/// The 32-bit register, its low 13 bits zero, but for the canonical NaN of all ones.
uint32_t floatToTf32(double value, Rounding rounding, Overflow overflow = Overflow::Infinity);
/// The 8-bit and narrower formats round to nearest even and saturate.
inline uint8_t floatToE4m3(double value) {
  return static_cast<uint8_t>(encodeFloat(value, kE4m3, Rounding::NearestEven, Overflow::Largest));
}
inline uint8_t floatToE5m2(double value) {
  return static_cast<uint8_t>(encodeFloat(value, kE5m2, Rounding::NearestEven, Overflow::Largest));
}
inline uint8_t floatToE2m3(double value) {
  return static_cast<uint8_t>(encodeFloat(value, kE2m3, Rounding::NearestEven, Overflow::Largest));
}
inline uint8_t floatToE3m2(double value) {
  return static_cast<uint8_t>(encodeFloat(value, kE3m2, Rounding::NearestEven, Overflow::Largest));
}
inline uint8_t floatToE2m1(double value) {
  return static_cast<uint8_t>(encodeFloat(value, kE2m1, Rounding::NearestEven, Overflow::Largest));
}
/// The power of two at or below |value| (Rounding::Zero), or at or above it (Rounding::Up). What is below 2^-127
/// becomes that; what is above 2^127 becomes that (Overflow::Largest) or NaN. Requires: one of these roundings.
uint8_t floatToUe8m0(float value, Rounding rounding, Overflow overflow);

/// A subnormal number becomes a zero of its sign: .ftz.
inline float flushed(float value) {
  uint32_t bits = bitsOfFloat(value);
  return bits & 0x7F800000 ? value : floatOfBits(bits & 0x80000000);
}

} // namespace headrace::sim

#endif
