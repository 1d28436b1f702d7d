// NumPy's .npy files (format versions 1 to 3), of plain numbers.
#ifndef HEADRACE_SIM_LAUNCH_NPY_H
#define HEADRACE_SIM_LAUNCH_NPY_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::sim {

/// An array in row-major order.
struct NpyArray {
  std::string type; // "<f4", "|u1", ...: kind and bytes of an element
  std::vector<int64_t> shape;
  std::vector<uint8_t> data;
};

/// Reads the content of a file. Without a value `error` says what is wrong with it.
std::optional<NpyArray> readNpy(std::string_view content, std::string &error);

/// The content of a file of this array.
std::string writeNpy(const NpyArray &array);

} // namespace headrace::sim

#endif
