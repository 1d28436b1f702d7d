// The formats of printf.
#ifndef HEADRACE_SIM_SCALAR_PRINTFORMAT_H
#define HEADRACE_SIM_SCALAR_PRINTFORMAT_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace headrace::sim {

/// Where the arguments of a format come from. Each lies at the next multiple of its size (CUDA's ABI).
struct PrintSource {
  std::function<uint64_t(size_t offset, int bytes)> integer; ///< the bits of the 4 or 8 bytes at an offset
  std::function<std::string(uint64_t address)> string;       ///< the string at a generic address
};

/// What vprintf writes for `format`. Result: false, and what is wrong with it in `text`, for a conversion that CUDA
/// does not have (CUDA C++ Programming Guide, "Format Specifiers"). `count` is the number of arguments.
bool formatPrint(std::string_view format, const PrintSource &source, std::string &text, int &count);

} // namespace headrace::sim

#endif
