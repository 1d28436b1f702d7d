// A tensor map as the launcher describes it (cuTensorMapEncodeTiled), in place of the opaque 128 bytes.
#ifndef HEADRACE_SIM_COPIES_TENSORMAP_H
#define HEADRACE_SIM_COPIES_TENSORMAP_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::sim {

enum class ElementType { U8, U16, U32, I32, U64, I64, F16, F32, F64, BF16, TF32 };

struct TensorMap {
  std::string name; // of the array, for messages
  ElementType type = ElementType::U8;
  uint64_t address = 0;                 // device address
  std::vector<uint64_t> sizes;          // elements, innermost first; 1 to 5 of them
  std::vector<uint64_t> strides;        // bytes, of dimensions 1.. ; one fewer than sizes
  std::vector<uint32_t> box;            // elements
  std::vector<uint32_t> elementStrides; // 1 each, as a rule
  int swizzle = 0;                      // 0, 32, 64 or 128 bytes
  bool nanFill = false;                 // out-of-bounds elements read as NaN, not 0

  int elementBytes() const;
  /// Every how many elements the box takes one along a dimension; 1 along the first, whatever elementStrides says.
  int64_t step(size_t dimension) const { return dimension == 0 ? 1 : elementStrides[dimension]; }
  /// Elements of a box in shared memory along a dimension.
  int64_t boxExtent(size_t dimension) const { return (box[dimension] + step(dimension) - 1) / step(dimension); }
  int64_t boxBytes() const;
  /// What cuTensorMapEncodeTiled would refuse, or "".
  std::string invalid() const;
};

} // namespace headrace::sim

#endif
