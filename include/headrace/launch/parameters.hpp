// The kernel's parameters as they lie in memory.
#ifndef HEADRACE_LAUNCH_PARAMETERS_HPP
#define HEADRACE_LAUNCH_PARAMETERS_HPP

#include "headrace/launch/arguments.hpp"
#include <cmath>
#include <cstring>
#include <limits>

namespace headrace {

namespace detail {

/// One parameter of the kernel as it lies in memory.
struct alignas(alignof(CUtensorMap)) Parameter {
  unsigned char bytes[sizeof(CUtensorMap)] = {};

  template <typename T> void set(const T &value) { std::memcpy(bytes, &value, sizeof(T)); }
};

/// `value` in a floating-point type of `exponentBits` and `mantissaBits`, to nearest, ties to even. e4m3 has no
/// infinity.
inline std::uint32_t smallFloat(double value, int exponentBits, int mantissaBits, bool hasInfinity) {
  const int sign = std::signbit(value) ? 1 << (exponentBits + mantissaBits) : 0;
  const double magnitude = std::fabs(value);
  const int bias = (1 << (exponentBits - 1)) - 1, exponents = ((1 << exponentBits) - 1) << mantissaBits;
  // Without infinity the last exponent has numbers too, and its last mantissa is NaN.
  const int nan = hasInfinity ? exponents | 1 << (mantissaBits - 1) : exponents | ((1 << mantissaBits) - 1);
  const int overflow = hasInfinity ? exponents : nan;
  if (std::isnan(magnitude))
    return sign | nan;
  if (std::isinf(magnitude))
    return sign | overflow;
  if (magnitude == 0)
    return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, 1 - bias);
  // nearbyint rounds to nearest, ties to even, unless the program has changed the mode.
  const double units = std::nearbyint(std::ldexp(magnitude, mantissaBits - exponent));
  // A carry out of the mantissa lands in the exponent, as it should. Compared as numbers: `units` may be large.
  const double pattern = units + std::ldexp(double(exponent + bias - 1), mantissaBits);
  return sign | (pattern >= overflow ? overflow : static_cast<int>(pattern));
}

inline void setInteger(Parameter &parameter, std::int64_t value, const std::string &type, const std::string &name) {
  const int bits = type == "i1" ? 1 : 8 * bytesOf(type);
  const std::int64_t low = bits == 1 ? 0 : std::numeric_limits<std::int64_t>::min() >> (64 - bits);
  const std::int64_t high = bits == 1 ? 1 : std::numeric_limits<std::int64_t>::max() >> (64 - bits);
  if (value < low || value > high)
    fail("argument '", name, "': expected a value of ", type, ", ", low, " to ", high, ", got ", value);
  // Little-endian: the low bytes come first.
  parameter.set(value);
}

inline void setScalar(Parameter &parameter, const Argument &argument, const std::string &type,
                      const std::string &name) {
  if (type[0] == 'i') {
    setInteger(parameter, std::get<std::int64_t>(argument.value), type, name);
    return;
  }
  const double number = std::holds_alternative<double>(argument.value)
                            ? std::get<double>(argument.value)
                            : static_cast<double>(std::get<std::int64_t>(argument.value));
  if (type == "f64")
    parameter.set(number);
  else if (type == "f32")
    parameter.set(static_cast<float>(number));
  else if (type == "bf16")
    parameter.set(static_cast<std::uint16_t>(smallFloat(number, 8, 7, true)));
  else if (type == "f16")
    parameter.set(static_cast<std::uint16_t>(smallFloat(number, 5, 10, true)));
  else if (type == "e5m2")
    parameter.set(static_cast<std::uint8_t>(smallFloat(number, 5, 2, true)));
  else if (type == "e4m3")
    parameter.set(static_cast<std::uint8_t>(smallFloat(number, 4, 3, false)));
  else
    fail("launch record: expected a type of scalars, got ", type);
}

/// Sets a parameter that is no tensor map.
inline void setParameter(Parameter &parameter, const Json &info, const Json &record, const Arguments &args) {
  const std::size_t index = info.at("arg").get<std::size_t>();
  const std::string kind = info.at("kind").get<std::string>();
  const std::string name = record.at("args").at(index).at("name").get<std::string>();
  if (kind == "scalar") {
    setScalar(parameter, args.at(index), info.at("type").get<std::string>(), name);
    return;
  }
  const Array &array = arrayOf(args, index);
  if (kind == "pointer") {
    parameter.set(array.pointer);
    return;
  }
  const std::size_t dim = info.at("dim").get<std::size_t>();
  std::int64_t number = kind == "dim" ? array.shape.at(dim) : array.strides.at(dim);
  // Free: no address depends on it, so it must not be refused for its size either.
  if (kind == "stride" && array.shape[dim] <= 1 && (number < 0 || number >= std::int64_t(1) << 31))
    number = 0;
  setInteger(parameter, number, info.at("type").get<std::string>(), name);
}

} // namespace detail

} // namespace headrace

#endif // HEADRACE_LAUNCH_PARAMETERS_HPP
