// Conversions between numbers and integers (PTX ISA 9.7.9.21), and the elements of packed formats.
#ifndef HEADRACE_SIM_NUMERICS_CONVERT_H
#define HEADRACE_SIM_NUMERICS_CONVERT_H

#include "headrace/Sim/Numerics/Float.h"

#include <optional>
#include <string_view>

namespace headrace::sim {

/// `value` rounded to an integer. Requires: the rounding is not NearestAway.
double roundedToInteger(double value, Rounding rounding);

/// The integer of `bits` bits that a number becomes, rounded and clamped to the range, as its low `bits` bits. NaN is 0,
/// but of f64 sources and in 64-bit results it is 1 << (bits - 1).
uint64_t floatToInteger(double value, Rounding rounding, int bits, bool isSigned, bool sourceIs64);

/// The pattern of an integer in a format. `value` is the two's complement if `isSigned`.
uint64_t integerToFloat(uint64_t value, bool isSigned, const FloatFormat &format, Rounding rounding);

/// `value` of one integer type limited to the range of another; both sign- or zero-extended to 64 bits.
uint64_t integerClamped(uint64_t value, bool isSigned, int toBits, bool toSigned);

/// An element of a packed type: f16x2, e4m3x2, ue8m0x2, ...
struct PackedElement {
  FloatFormat format = kF16;
  bool isPowerOfTwo = false;           // ue8m0, which has functions of its own
  int stride = 16;                     // bits from one element to the next
  float (*decode)(uint32_t) = nullptr; // bits above the element's are ignored

  uint32_t encode(float value, Rounding rounding, Overflow overflow, bool relu) const;
};

/// The element of "e4m3x2" and the like. Without a value if the name is not one of a packed type of two.
std::optional<PackedElement> packedElement(std::string_view name);

} // namespace headrace::sim

#endif
