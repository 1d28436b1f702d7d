// Operations on bits and bytes (PTX ISA 9.7.1.16 to 9.7.1.22, 9.7.8, 9.7.9.7).
#ifndef HEADRACE_SIM_NUMERICS_BITS_H
#define HEADRACE_SIM_NUMERICS_BITS_H

#include <cstdint>

namespace headrace::sim {

/// The low `count` bits set. Requires: 0 <= count <= 64.
constexpr uint64_t lowMask(int count) { return count >= 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1; }

/// `value` with its bit `bits` - 1 copied upwards. Requires: 1 <= bits <= 64.
constexpr uint64_t signExtended(uint64_t value, int bits) {
  return static_cast<uint64_t>(static_cast<int64_t>(value << (64 - bits)) >> (64 - bits));
}

// Shifts by the width or more give what shifting by the width would: nothing, or the sign.
constexpr uint64_t shiftedLeft(uint64_t value, uint32_t amount) { return amount < 64 ? value << amount : 0; }
constexpr uint64_t shiftedRight(uint64_t value, uint32_t amount) { return amount < 64 ? value >> amount : 0; }
constexpr int64_t shiftedRightSigned(int64_t value, uint32_t amount) { return value >> (amount < 64 ? amount : 63); }

/// The high 32 bits of high:low shifted left, or the low 32 bits of it shifted right. Requires: amount <= 32.
constexpr uint32_t funnelLeft(uint32_t low, uint32_t high, uint32_t amount) {
  return static_cast<uint32_t>((uint64_t(high) << 32 | low) << amount >> 32);
}
constexpr uint32_t funnelRight(uint32_t low, uint32_t high, uint32_t amount) {
  return static_cast<uint32_t>((uint64_t(high) << 32 | low) >> amount);
}

/// bfe of a value of `bits` bits (32 or 64); the result is sign-extended within `bits` if `isSigned`.
uint64_t extractField(uint64_t value, uint32_t position, uint32_t length, int bits, bool isSigned);
/// bfi into `base` of `bits` bits (32 or 64).
uint64_t insertField(uint64_t field, uint64_t base, uint32_t position, uint32_t length, int bits);

/// bfind: the place of the highest bit that is not a copy of the sign, or all ones; with `shiftAmount` its distance from
/// the highest place.
uint32_t findHighest(uint64_t value, int bits, bool isSigned, bool shiftAmount);
/// fns: the place of the offset-th set bit from `base` on, or all ones. Requires: base < 32.
uint32_t findNthSet(uint32_t mask, uint32_t base, int32_t offset);

uint32_t reversed(uint32_t value);
uint64_t reversed(uint64_t value);

/// szext: the low `count` bits of `value`, extended. More than 31 bits are all of them, or as many modulo 32.
uint32_t extendField(uint32_t value, uint32_t count, bool isSigned, bool wraps);
/// bmsk: `count` ones from `position` on.
uint32_t maskField(uint32_t position, uint32_t count, bool wraps);

/// lop3: bit i is bit (a_i b_i c_i) of `table`.
uint32_t lookUp3(uint32_t a, uint32_t b, uint32_t c, uint8_t table);

/// prmt without a mode: byte i is chosen by nibble i of `selector`, whose high bit asks for the sign instead.
constexpr uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t choice = selector >> (4 * i);
    uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (choice & 7))) & 0xFF;
    if (choice & 8)
      byte = byte & 0x80 ? 0xFF : 0;
    result |= byte << (8 * i);
  }
  return result;
}

/// The modes of prmt as selectors of the general form.
enum class PermuteMode { Forward4, Backward4, Replicate8, EdgeLeft, EdgeRight, Replicate16 };
uint32_t permuteSelector(PermuteMode mode, uint32_t control);

} // namespace headrace::sim

#endif
