// What cuTensorMapEncodeTiled accepts: the CUDA driver API's documentation of it.
#include "headrace/Sim/Copies/TensorMap.h"

#include <cstdio>

namespace headrace::sim {

namespace {

constexpr size_t kMaxRank = 5;
constexpr uint64_t kUnit = 16; // bytes: of the address, the strides and a row of the box
constexpr uint64_t kMaxSize = uint64_t(1) << 32;
constexpr uint64_t kStrideLimit = uint64_t(1) << 40;
constexpr uint32_t kMaxBox = 256;
constexpr uint32_t kMaxElementStride = 8;

bool isFloat(ElementType type) {
  return type == ElementType::F16 || type == ElementType::F32 || type == ElementType::F64 ||
         type == ElementType::BF16 || type == ElementType::TF32;
}

std::string number(uint64_t value) { return std::to_string(value); }

std::string whyNotRank(const TensorMap &map) {
  size_t rank = map.sizes.size();
  if (rank < 1 || rank > kMaxRank)
    return "expected 1 to 5 dimensions, got " + number(rank);
  if (map.strides.size() != rank - 1 || map.box.size() != rank || map.elementStrides.size() != rank)
    return "expected " + number(rank - 1) + " strides, " + number(rank) + " box extents and element strides, got " +
           number(map.strides.size()) + ", " + number(map.box.size()) + " and " + number(map.elementStrides.size());
  return "";
}

std::string whyNotArray(const TensorMap &map) {
  if (map.address % kUnit) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(map.address));
    return std::string("expected an address that is a multiple of 16 bytes, got ") + text;
  }
  for (uint64_t size : map.sizes)
    if (size < 1 || size > kMaxSize)
      return "expected sizes from 1 to 2^32, got " + number(size);
  for (uint64_t stride : map.strides)
    if (stride % kUnit || stride >= kStrideLimit)
      return "expected strides that are multiples of 16 bytes below 2^40, got " + number(stride);
  return "";
}

std::string whyNotBox(const TensorMap &map) {
  for (uint32_t extent : map.box)
    if (extent < 1 || extent > kMaxBox)
      return "expected box extents from 1 to 256, got " + number(extent);
  for (uint32_t stride : map.elementStrides)
    if (stride < 1 || stride > kMaxElementStride)
      return "expected element strides from 1 to 8, got " + number(stride);
  uint64_t rowBytes = static_cast<uint64_t>(map.box[0]) * static_cast<uint64_t>(map.elementBytes());
  if (rowBytes % kUnit)
    return "expected box rows that are multiples of 16 bytes, got " + number(rowBytes);
  if (map.swizzle != 0 && map.swizzle != 32 && map.swizzle != 64 && map.swizzle != 128)
    return "expected a swizzle of 0, 32, 64 or 128 bytes, got " + std::to_string(map.swizzle);
  if (map.swizzle && rowBytes > static_cast<uint64_t>(map.swizzle))
    return "expected box rows of at most the swizzle's " + std::to_string(map.swizzle) + " bytes, got " +
           number(rowBytes);
  return "";
}

} // namespace

int TensorMap::elementBytes() const {
  switch (type) {
  case ElementType::U8:
    return 1;
  case ElementType::U16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::U32:
  case ElementType::I32:
  case ElementType::F32:
  case ElementType::TF32:
    return 4;
  case ElementType::U64:
  case ElementType::I64:
  case ElementType::F64:
    return 8;
  }
  return 0;
}

int64_t TensorMap::boxBytes() const {
  int64_t bytes = elementBytes();
  for (size_t dimension = 0; dimension < box.size(); ++dimension)
    bytes *= boxExtent(dimension);
  return bytes;
}

std::string TensorMap::invalid() const {
  std::string why = whyNotRank(*this);
  if (why.empty())
    why = whyNotArray(*this);
  if (why.empty())
    why = whyNotBox(*this);
  if (why.empty() && nanFill && !isFloat(type))
    why = "expected floating-point elements to fill with NaN";
  return why;
}

} // namespace headrace::sim
