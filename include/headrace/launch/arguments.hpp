// What a launch is given, arrays and numbers, and the error that every part of the launcher raises.
#ifndef HEADRACE_LAUNCH_ARGUMENTS_HPP
#define HEADRACE_LAUNCH_ARGUMENTS_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <cuda.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace headrace {

/// A record that cannot be read, arguments outside of a kernel's contract, or a call that CUDA refuses.
struct LaunchError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A strided array in device memory. `pointer` is the address of element (0, ..., 0), `dtype` one of bf16 f16 f32 f64
/// e4m3 e5m2 i1 i8 i16 i32 i64, `strides` are in elements: row-major without gaps if there are none.
struct Array {
  CUdeviceptr pointer;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;

  Array(CUdeviceptr pointer, std::string dtype, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides = {})
      : pointer(pointer), dtype(std::move(dtype)), shape(std::move(shape)), strides(std::move(strides)) {
    if (!this->strides.empty() || this->shape.empty())
      return;
    this->strides.assign(this->shape.size(), 1);
    for (std::size_t d = this->shape.size() - 1; d-- > 0;)
      this->strides[d] = this->strides[d + 1] * this->shape[d + 1];
  }
  bool empty() const { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }
};

/// An argument of a launch: an array, an integer (bool is 0 or 1) or a floating-point number.
class Argument {
public:
  Argument(Array array) : value(std::move(array)) {}
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  Argument(T number) : value(static_cast<std::int64_t>(number)) {}
  template <typename T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
  Argument(T number) : value(static_cast<double>(number)) {}

  std::variant<Array, std::int64_t, double> value;
};

/// Numbers of programs along x, y and z.
using Grid = std::array<std::int64_t, 3>;

namespace detail {

using Json = nlohmann::json;
using Arguments = std::vector<Argument>;

/// The parts, one after the other, as text.
template <typename... Parts> std::string text(const Parts &...parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

inline std::string hexadecimal(CUdeviceptr address) { return text("0x", std::hex, address); }

template <typename... Parts> [[noreturn]] void fail(const Parts &...parts) { throw LaunchError(text(parts...)); }

/// Raises LaunchError, with what was being done, unless `status` says that all is well.
template <typename... Parts> void check(CUresult status, const Parts &...doing) {
  if (status == CUDA_SUCCESS)
    return;
  const char *name = nullptr, *description = nullptr;
  cuGetErrorName(status, &name);
  cuGetErrorString(status, &description);
  fail(name ? name : "unknown CUDA error", ", ", description ? description : "no description", ", ", doing...);
}

/// Bytes of an element of an array; 0 for a dtype that is none.
inline int bytesOf(const std::string &dtype) {
  static const std::map<std::string, int> sizes = {{"bf16", 2}, {"f16", 2},  {"f32", 4}, {"f64", 8},
                                                   {"e4m3", 1}, {"e5m2", 1}, {"i1", 1},  {"i8", 1},
                                                   {"i16", 2},  {"i32", 4},  {"i64", 8}};
  auto found = sizes.find(dtype);
  return found == sizes.end() ? 0 : found->second;
}

inline const Array &arrayOf(const Arguments &args, std::size_t index) { return std::get<Array>(args.at(index).value); }

} // namespace detail

} // namespace headrace

#endif // HEADRACE_LAUNCH_ARGUMENTS_HPP
