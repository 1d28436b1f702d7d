// Integer arithmetic of PTX ISA 9.7.1 and 9.7.2: everything wraps, and nothing is undefined as it is in C++.
#ifndef HEADRACE_SIM_NUMERICS_INTEGER_H
#define HEADRACE_SIM_NUMERICS_INTEGER_H

#include <cstdint>
#include <limits>
#include <type_traits>

namespace headrace::sim {

/// The integer of twice the width and the same signedness.
template <typename T>
using Wider =
    std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                       std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                                          std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>>;

template <typename T> constexpr T addWrapped(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <typename T> constexpr T subWrapped(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
/// The low half of the product.
template <typename T> constexpr T mulLow(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
/// The high half of the product.
template <typename T> constexpr T mulHigh(T a, T b) {
  return static_cast<T>((static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b)) >> (8 * sizeof(T)));
}
/// The whole product. Requires: T has at most 32 bits.
template <typename T> constexpr Wider<T> mulWide(T a, T b) {
  return static_cast<Wider<T>>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// `value` limited to the range of To.
template <typename To, typename From> constexpr To clampTo(From value) {
  if (value < From(0) && (std::is_unsigned_v<To> || value < static_cast<From>(std::numeric_limits<To>::min())))
    return std::is_unsigned_v<To> ? To(0) : std::numeric_limits<To>::min();
  using Larger = std::conditional_t<(sizeof(From) > sizeof(To)), From, To>;
  if (value > From(0) && static_cast<Larger>(value) > static_cast<Larger>(std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}
constexpr int32_t addSaturated(int32_t a, int32_t b) { return clampTo<int32_t>(int64_t(a) + b); }
constexpr int32_t subSaturated(int32_t a, int32_t b) { return clampTo<int32_t>(int64_t(a) - b); }

/// The lowest number is its own negative and its own absolute value.
template <typename T> constexpr T negated(T a) { return subWrapped(T(0), a); }
template <typename T> constexpr T absolute(T a) { return a < T(0) ? negated(a) : a; }

/// c + |a - b|.
template <typename T> constexpr T sumOfDifference(T a, T b, T c) {
  return addWrapped(c, a < b ? subWrapped(b, a) : subWrapped(a, b));
}

/// Division by zero has no value in the ISA (9.7.1.8); here it gives all ones, and the remainder is `a`.
template <typename T> constexpr T quotient(T a, T b) {
  if (b == T(0))
    return static_cast<T>(~T(0));
  return std::is_signed_v<T> && b == static_cast<T>(-1) ? negated(a) : static_cast<T>(a / b);
}
template <typename T> constexpr T remainderOf(T a, T b) {
  if (b == T(0))
    return a;
  return std::is_signed_v<T> && b == static_cast<T>(-1) ? T(0) : static_cast<T>(a % b);
}

/// The product of the low 24 bits, 48 bits wide, sign-extended to 64 (9.7.1.5).
constexpr int64_t mul24(int32_t a, int32_t b) {
  return int64_t(static_cast<int32_t>(static_cast<uint32_t>(a) << 8) >> 8) *
         (static_cast<int32_t>(static_cast<uint32_t>(b) << 8) >> 8);
}
constexpr uint64_t mul24(uint32_t a, uint32_t b) { return uint64_t(a & 0xFFFFFF) * (b & 0xFFFFFF); }

/// A sum or difference and the carry or borrow out of it. Requires: T is unsigned.
template <typename T> struct Carried {
  T value;
  bool carry;
};
template <typename T> constexpr Carried<T> addWithCarry(T a, T b, bool carry) {
  T sum = static_cast<T>(a + b);
  T all = static_cast<T>(sum + carry);
  return {all, sum < a || all < sum};
}
template <typename T> constexpr Carried<T> subWithBorrow(T a, T b, bool borrow) {
  return {static_cast<T>(a - b - borrow), a < b || (borrow && a == b)};
}

/// c plus the products of the bytes of a and b, each signed or not (9.7.1.23).
uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, bool signedA, bool signedB);
/// c plus the products of the halves of a with two bytes of b, its upper two if `high` (9.7.1.24).
uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, bool signedA, bool signedB, bool high);

/// The results of atom.inc and atom.dec (9.7.13.5).
constexpr uint32_t incremented(uint32_t value, uint32_t limit) { return value >= limit ? 0 : value + 1; }
constexpr uint32_t decremented(uint32_t value, uint32_t limit) {
  return value == 0 || value > limit ? limit : value - 1;
}

} // namespace headrace::sim

#endif
