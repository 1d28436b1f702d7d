// The arrays of a launch.
#include "headrace/Sim/Machine/GlobalMemory.h"

#include <algorithm>

namespace headrace::sim {

namespace {
constexpr int64_t kGap = 1 << 20; // unmapped addresses between arrays, so that a stray access hits none
} // namespace

uint64_t GlobalMemory::map(std::string name, uint8_t *data, int64_t bytes, uint64_t alignment) {
  uint64_t step = 2 * alignment;
  uint64_t address = (next + step - 1) / step * step + alignment;
  arrays[address] = {std::move(name), data, bytes};
  next = address + static_cast<uint64_t>(bytes + kGap);
  return address;
}

void GlobalMemory::mapVariable(std::string name, uint64_t address, std::vector<uint8_t> contents) {
  std::vector<uint8_t> &kept = variables[address] = std::move(contents);
  arrays[address] = {std::move(name), kept.data(), static_cast<int64_t>(kept.size())};
}

uint8_t *GlobalMemory::find(uint64_t address, int64_t bytes) const {
  auto it = arrays.upper_bound(address);
  if (it == arrays.begin())
    return nullptr;
  --it;
  uint64_t offset = address - it->first;
  uint64_t size = static_cast<uint64_t>(it->second.bytes);
  if (offset > size || static_cast<uint64_t>(bytes) > size - offset)
    return nullptr;
  return it->second.data + offset;
}

std::string GlobalMemory::describe(uint64_t address) const {
  auto after = arrays.upper_bound(address);
  if (after != arrays.begin()) {
    const auto &[base, array] = *std::prev(after);
    uint64_t offset = address - base;
    if (offset < static_cast<uint64_t>(array.bytes))
      return "byte " + std::to_string(offset) + " of '" + array.name + "', which has " + std::to_string(array.bytes);
    if (offset < static_cast<uint64_t>(array.bytes + kGap))
      return std::to_string(offset - static_cast<uint64_t>(array.bytes)) + " bytes past the end of '" + array.name +
             "'";
  }
  if (after != arrays.end() && after->first - address <= static_cast<uint64_t>(kGap))
    return std::to_string(after->first - address) + " bytes before '" + after->second.name + "'";
  return "not in any array of the launch";
}

} // namespace headrace::sim
