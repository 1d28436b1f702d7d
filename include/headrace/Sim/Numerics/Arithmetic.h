// Floating-point arithmetic as PTX has it (ISA 9.7.3 to 9.7.5): one rounding, then saturation and flushing.
//
// f32 and f64 to nearest are the host's own arithmetic; other roundings are the host's under another rounding mode. f16
// and bf16 are computed in double, rounded to odd, and then once to 16 bits. Rounding to odd keeps a trace of what was
// lost in the last bit, so that with two bits more than the target has the second rounding is as good as the only one.
// Every NaN result of fewer than 64 bits is the canonical one, all ones but the sign.
#ifndef HEADRACE_SIM_NUMERICS_ARITHMETIC_H
#define HEADRACE_SIM_NUMERICS_ARITHMETIC_H

#include "headrace/Sim/Numerics/Float.h"

#include <cmath>

namespace headrace::sim {

/// A number as its bits, to be told apart by its type.
struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};

inline float toFloat(Half value) { return halfToFloat(value.bits); }
inline float toFloat(Bfloat value) { return bfloatToFloat(value.bits); }
inline float toFloat(float value) { return value; }
inline double toFloat(double value) { return value; }

/// The modifiers of an arithmetic instruction.
struct FloatMode {
  Rounding rounding = Rounding::NearestEven;
  bool flush = false;    // .ftz: of inputs and results
  bool saturate = false; // .sat: to [0, 1], NaN to +0
  bool relu = false;     // negative to +0

  bool isPlain() const { return rounding == Rounding::NearestEven && !flush && !saturate && !relu; }
};

// The operations. Each is also what rounds to odd in double where the result is to be 16 bits wide.

/// a + b rounded to odd. Requires: no overflow or underflow, as with operands that came from 16 bits.
double addToOdd(double a, double b);

struct Add {
  template <typename T> static T apply(T a, T b) { return a + b; }
  static double toOdd(double a, double b) { return addToOdd(a, b); }
};
struct Sub {
  template <typename T> static T apply(T a, T b) { return a - b; }
  static double toOdd(double a, double b) { return addToOdd(a, -b); }
};
struct Mul {
  template <typename T> static T apply(T a, T b) { return a * b; }
  static double toOdd(double a, double b) { return a * b; } // exact: 22 bits at most
};
struct Fma {
  template <typename T> static T apply(T a, T b, T c) { return std::fma(a, b, c); }
  static double toOdd(double a, double b, double c) { return addToOdd(a * b, c); }
};
struct Div {
  template <typename T> static T apply(T a, T b) { return a / b; }
};
struct Reciprocal {
  template <typename T> static T apply(T a) { return 1 / a; }
};
struct Sqrt {
  template <typename T> static T apply(T a) { return std::sqrt(a); }
};

/// The host's rounding mode, for the life of this object. Operands and results must go through volatile variables:
/// compilers do not know that arithmetic depends on the mode.
class HostRounding {
public:
  explicit HostRounding(Rounding rounding);
  ~HostRounding();
  HostRounding(const HostRounding &) = delete;
  HostRounding &operator=(const HostRounding &) = delete;

private:
  int before;
};

inline float canonical(float value) { return std::isnan(value) ? floatOfBits(0x7FFFFFFF) : value; }
/// The payload of a NaN in double precision is kept (PTX ISA 9.7.3).
inline double canonical(double value) { return value; }

inline double flushed(double value) { return value; } // .ftz is not for f64
inline Half flushed(Half value) {
  return value.bits & 0x7C00 ? value : Half{static_cast<uint16_t>(value.bits & 0x8000)};
}
inline Bfloat flushed(Bfloat value) {
  return value.bits & 0x7F80 ? value : Bfloat{static_cast<uint16_t>(value.bits & 0x8000)};
}

/// `value` limited to [0, 1]; NaN becomes +0, and so does -0.
template <typename T> T saturated(T value) { return value > 0 ? (value < 1 ? value : T(1)) : T(0); }

/// A result of f32 or f64 after its rounding.
template <typename T> T finished(T value, const FloatMode &mode) {
  if (mode.saturate)
    value = saturated(value);
  if (mode.relu && value <= 0)
    value = 0;
  return canonical(mode.flush ? flushed(value) : value);
}

/// A result of 16 bits from one that is exact, or rounded to odd.
template <typename T> T encoded(double value, const FloatMode &mode);
template <> Half encoded<Half>(double value, const FloatMode &mode);
template <> Bfloat encoded<Bfloat>(double value, const FloatMode &mode);

/// Op under any rounding.
template <typename Op, typename T, typename... Args> T rounded(Rounding rounding, T a, Args... rest) {
  if (rounding == Rounding::NearestEven)
    return Op::apply(a, rest...);
  HostRounding scope(rounding);
  volatile T result;
  auto hidden = [](T value) {
    volatile T copy = value;
    return static_cast<T>(copy);
  };
  result = Op::apply(hidden(a), hidden(rest)...);
  return result;
}

/// Op of floats or doubles.
template <typename Op, typename T, typename... Args> T compute(const FloatMode &mode, T a, Args... rest) {
  if (mode.isPlain())
    return canonical(Op::apply(a, rest...));
  if (mode.flush)
    return finished(rounded<Op>(mode.rounding, flushed(a), flushed(rest)...), mode);
  return finished(rounded<Op>(mode.rounding, a, rest...), mode);
}
/// Op of Half or Bfloat numbers, which are all of one type.
template <typename Op, typename T, typename... Args> T computeShort(const FloatMode &mode, T a, Args... rest) {
  if (mode.flush)
    return encoded<T>(Op::toOdd(toFloat(flushed(a)), toFloat(flushed(rest))...), mode);
  return encoded<T>(Op::toOdd(toFloat(a), toFloat(rest)...), mode);
}
template <typename Op, typename... Args> Half compute(const FloatMode &mode, Half a, Args... rest) {
  return computeShort<Op>(mode, a, rest...);
}
template <typename Op, typename... Args> Bfloat compute(const FloatMode &mode, Bfloat a, Args... rest) {
  return computeShort<Op>(mode, a, rest...);
}

/// The modifiers of min and max (ISA 9.7.3.11).
struct MinMaxMode {
  bool flush = false;
  bool nan = false; // .NaN: the result is NaN if any input is
  bool absolute = false;
  bool xorSign = false;
};

/// The larger of two numbers, or the smaller; +0 is larger than -0.
template <typename T> T minMax(const MinMaxMode &mode, bool isMax, T a, T b);
/// As minMax(minMax(a, b), c).
template <typename T> T minMax(const MinMaxMode &mode, bool isMax, T a, T b, T c) {
  return minMax(mode, isMax, minMax(mode, isMax, a, b), c);
}

/// How two numbers stand to each other, as a bit of a comparison's set.
enum Relation : uint8_t { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };

template <typename T> uint8_t relationOf(T a, T b) {
  return static_cast<uint8_t>((a < b ? Less : 0) | (a == b ? Equal : 0) | (a > b ? Greater : 0) |
                              (a != a || b != b ? Unordered : 0));
}

} // namespace headrace::sim

#endif
