// Boxes of tensors: rows, bounds, swizzles.
#include "headrace/Sim/Copies/TensorBox.h"

#include <cstring>

namespace headrace::sim {

namespace {

std::string number(uint64_t value) { return std::to_string(value); }

/// A row of the box that begins at these coordinates.
BoxRow rowAt(const TensorMap &map, const std::vector<int64_t> &at, int64_t start) {
  int64_t size = map.elementBytes(), extent = map.boxExtent(0), length = static_cast<int64_t>(map.sizes[0]);
  BoxRow row;
  row.start = start;
  for (size_t i = 1; i < at.size(); ++i)
    if (at[i] < 0 || at[i] >= static_cast<int64_t>(map.sizes[i]))
      return row;
  int64_t first = std::clamp<int64_t>(-at[0], 0, extent);
  int64_t last = std::clamp<int64_t>(length - at[0], first, extent);
  if (first == last)
    return row;
  row.before = first * size;
  row.inside = (last - first) * size;
  row.global = map.address + static_cast<uint64_t>((at[0] + first) * size);
  for (size_t i = 1; i < at.size(); ++i)
    row.global += static_cast<uint64_t>(at[i]) * map.strides[i - 1];
  return row;
}

/// Goes to the next row of the box that starts at `start`. Result: false after the last.
bool advance(const TensorMap &map, const std::vector<int64_t> &start, std::vector<int64_t> &at) {
  for (size_t i = 1; i < at.size(); ++i) {
    at[i] += map.step(i);
    if (at[i] < start[i] + map.boxExtent(i) * map.step(i))
      return true;
    at[i] = start[i];
  }
  return false;
}

} // namespace

std::string TensorBox::malformed() const {
  std::string prefix = "tensor map of '" + map->name + "': ";
  if (std::string why = map->invalid(); !why.empty())
    return prefix + why;
  size_t rank = map->sizes.size();
  if (fourRows && (rank != 2 || map->box[1] != 1))
    return prefix + "expected 2 dimensions and boxes of one row (PTX ISA 5.5.3.4), got " + number(rank) +
           " dimensions" + (rank > 1 ? " and boxes of " + number(map->box[1]) + " rows" : "");
  if (!fourRows && start.size() != rank)
    return prefix + "expected a copy of " + number(rank) + " dimensions, got " + number(start.size());
  return "";
}

std::string TensorBox::whyNotStart(bool isStore) const {
  // PTX ISA 5.5.3.1: the address of the bounding box. An illegal instruction on compute capability 9.0 (measured).
  int64_t offset = start[0] * map->elementBytes();
  if (offset % kCopyUnit)
    return "expected a box of '" + map->name +
           "' that starts at a multiple of 16 bytes along dimension 0, got element " + std::to_string(start[0]) +
           " of " + std::to_string(map->elementBytes()) + " bytes";
  // PTX ISA 9.7.9.27.1.1.
  if (isStore)
    for (int64_t coordinate : start)
      if (coordinate < 0)
        return "expected coordinates of at least 0 in a store to '" + map->name + "', got " +
               std::to_string(coordinate);
  return "";
}

std::vector<BoxRow> TensorBox::rows() const {
  std::vector<BoxRow> result;
  result.reserve(static_cast<size_t>(bytes() / rowBytes()));
  int64_t offset = 0;
  if (fourRows) {
    for (size_t i = 1; i < start.size(); ++i, offset += rowBytes())
      result.push_back(rowAt(*map, {start[0], start[i]}, offset));
    return result;
  }
  std::vector<int64_t> at = start;
  do {
    result.push_back(rowAt(*map, at, offset));
    offset += rowBytes();
  } while (advance(*map, start, at));
  return result;
}

std::vector<uint8_t> TensorBox::filled() const {
  std::vector<uint8_t> dense(static_cast<size_t>(bytes()));
  if (!map->nanFill)
    return dense;
  // The ISA does not say which NaN; this is the canonical one of all formats (PTX ISA 5.2.3): all ones but the sign.
  std::memset(dense.data(), 0xFF, dense.size());
  size_t size = static_cast<size_t>(map->elementBytes());
  for (size_t last = size - 1; last < dense.size(); last += size)
    dense[last] = 0x7F;
  return dense;
}

void swizzleBox(uint32_t address, int swizzle, const uint8_t *from, uint8_t *to, int64_t bytes) {
  if (swizzle == 0) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  for (uint32_t at = 0; at < bytes; at += kCopyUnit)
    std::memcpy(to + (swizzled(address + at, swizzle) - address), from + at, kCopyUnit);
}

} // namespace headrace::sim
