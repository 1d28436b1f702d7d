// .npy: a magic string, a Python dict literal of three entries, and the numbers.
#include "headrace/Sim/Launch/Npy.h"

#include <cstring>
#include <limits>

namespace headrace::sim {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kHeaderUnit = 64; // the numbers start at a multiple of this

/// The text after 'key': in the header, or empty.
std::string_view valueOf(std::string_view header, std::string_view key) {
  size_t at = header.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos)
    return "";
  at = header.find(':', at);
  if (at == std::string_view::npos)
    return "";
  at = header.find_first_not_of(' ', at + 1);
  return at == std::string_view::npos ? "" : header.substr(at);
}

/// "(3, 4)" to numbers; false if it is anything else.
bool parseShape(std::string_view text, std::vector<int64_t> &shape) {
  if (text.empty() || text.front() != '(')
    return false;
  int64_t number = -1;
  for (char c : text.substr(1)) {
    if (c >= '0' && c <= '9') {
      number = (number < 0 ? 0 : number) * 10 + (c - '0');
      if (number > std::numeric_limits<int32_t>::max())
        return false;
    } else if (c == ',' || c == ')') {
      if (number >= 0)
        shape.push_back(number);
      number = -1;
      if (c == ')')
        return true;
    } else if (c != ' ' && c != 'L') {
      return false;
    }
  }
  return false;
}

uint64_t littleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

} // namespace

std::optional<NpyArray> readNpy(std::string_view content, std::string &error) {
  if (content.size() < 12 || content.substr(0, 6) != kMagic) {
    error = "is not a .npy file";
    return std::nullopt;
  }
  size_t lengthBytes = content[6] == 1 ? 2 : 4;
  size_t start = 8 + lengthBytes;
  uint64_t length = littleEndian(content.substr(8, lengthBytes));
  if (length > content.size() - start) {
    error = "ends within its header";
    return std::nullopt;
  }
  std::string_view header = content.substr(start, length);
  NpyArray array;
  std::string_view type = valueOf(header, "descr");
  size_t end = type.empty() || type.front() != '\'' ? std::string_view::npos : type.find('\'', 1);
  if (end == std::string_view::npos || end < 4 || !parseShape(valueOf(header, "shape"), array.shape)) {
    error = "has no plain type and shape in its header";
    return std::nullopt;
  }
  array.type = std::string(type.substr(1, end - 1));
  if (valueOf(header, "fortran_order").substr(0, 4) == "True" && array.shape.size() > 1) {
    error = "is in column-major order: expected row-major";
    return std::nullopt;
  }
  int64_t bytes = 0;
  for (char c : array.type.substr(2))
    bytes = bytes * 10 + (c - '0');
  for (int64_t extent : array.shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      bytes = -1;
  std::string_view numbers = content.substr(start + length);
  if (array.type.front() == '>' || bytes < 0 || static_cast<uint64_t>(bytes) != numbers.size()) {
    error = "has " + std::to_string(numbers.size()) + " bytes of numbers, expected " + std::to_string(bytes) +
            " of little-endian " + array.type;
    return std::nullopt;
  }
  array.data.assign(numbers.begin(), numbers.end());
  return array;
}

std::string writeNpy(const NpyArray &array) {
  std::string shape;
  for (int64_t extent : array.shape)
    shape += std::to_string(extent) + ", ";
  if (array.shape.size() > 1)
    shape.resize(shape.size() - 2);
  else if (array.shape.size() == 1)
    shape.resize(shape.size() - 1);
  std::string header = "{'descr': '" + array.type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  size_t total = (10 + header.size() + 1 + kHeaderUnit - 1) / kHeaderUnit * kHeaderUnit;
  header.append(total - 10 - header.size() - 1, ' ');
  header += '\n';
  std::string result(kMagic);
  result += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  result += header;
  result.append(reinterpret_cast<const char *>(array.data.data()), array.data.size());
  return result;
}

} // namespace headrace::sim
