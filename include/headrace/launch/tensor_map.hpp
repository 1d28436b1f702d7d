// Tensor maps of arrays, by cuTensorMapEncodeTiled.
#ifndef HEADRACE_LAUNCH_TENSOR_MAP_HPP
#define HEADRACE_LAUNCH_TENSOR_MAP_HPP

#include "headrace/launch/arguments.hpp"
#include <cstddef>

namespace headrace {

namespace detail {

/// Bytes of a buffer of zeros that stands in for an array without elements, which has no tensor map: reading outside of
/// an array gives zeros, so every coordinate reads zero.
constexpr std::size_t kZeroBytes = 256;

/// What addresses and strides must be multiples of, in bytes (cuTensorMapEncodeTiled's documentation).
constexpr std::int64_t kAlignment = 16;

template <typename Expected, typename Got>
[[noreturn]] void refuseMap(const std::string &name, const Expected &expected, const Got &got) {
  fail("argument '", name, "': expected ", expected, ", got ", got, ", because the kernel reads it by tensor map");
}

struct DataType {
  CUtensorMapDataType type;
  int bytes;
};

inline DataType dataTypeOf(const std::string &dtype) {
  static const std::map<std::string, DataType> types = {
      {"u8", {CU_TENSOR_MAP_DATA_TYPE_UINT8, 1}},      {"u16", {CU_TENSOR_MAP_DATA_TYPE_UINT16, 2}},
      {"u32", {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4}},    {"i32", {CU_TENSOR_MAP_DATA_TYPE_INT32, 4}},
      {"i64", {CU_TENSOR_MAP_DATA_TYPE_INT64, 8}},     {"f16", {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2}},
      {"f32", {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4}},   {"f64", {CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8}},
      {"bf16", {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2}}, {"tf32", {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4}}};
  auto found = types.find(dtype);
  if (found == types.end())
    fail("launch record: expected a data type of tensor maps, got ", dtype);
  return found->second;
}

inline CUtensorMapSwizzle swizzleOf(int bytes) {
  return bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
         : bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                       : CU_TENSOR_MAP_SWIZZLE_NONE;
}

inline CUtensorMapL2promotion promotionOf(int bytes) {
  return bytes == 256   ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
         : bytes == 128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B
         : bytes == 64  ? CU_TENSOR_MAP_L2_PROMOTION_L2_64B
                        : CU_TENSOR_MAP_L2_PROMOTION_NONE;
}

/// Whether a tensor map of `array` stands on the buffer of zeros.
inline bool needsZeros(const Array &array) { return array.empty() || !array.pointer; }

/// Strides in bytes of all dimensions but the first of `map`, innermost first. A dimension of size 1 may have any
/// stride in the array; it gets a legal one, since no address depends on it.
inline std::vector<cuuint64_t> byteStrides(const Json &map, const Array &array, const std::string &name) {
  constexpr std::int64_t limit = std::int64_t(1) << 40;
  const std::int64_t bytes = bytesOf(array.dtype);
  const auto dims = map.at("dims").get<std::vector<std::size_t>>();
  if (array.shape.at(dims.at(0)) > 1 && array.strides[dims[0]] != 1)
    refuseMap(name, text("stride ", dims[0], " to be 1"), array.strides[dims[0]]);
  std::vector<cuuint64_t> strides;
  std::int64_t extent = array.shape.at(dims.at(0)) * bytes;
  for (std::size_t i = 1; i < dims.size(); ++i) {
    const std::int64_t count = array.shape.at(dims[i]);
    std::int64_t stride = array.strides[dims[i]] * bytes;
    if (count == 1) {
      stride = (extent + kAlignment - 1) / kAlignment * kAlignment;
      stride = stride < limit ? stride : kAlignment;
    } else if (stride == 0) {
      refuseMap(name, text("dimension ", dims[i], " not to be a broadcast"), text("stride 0 and size ", count));
    } else if (stride % kAlignment || stride >= limit) {
      refuseMap(name, text("stride ", dims[i], " to be a multiple of 16 bytes below 2^40"), text(stride, " bytes"));
    }
    strides.push_back(static_cast<cuuint64_t>(stride));
    extent = stride * count;
  }
  return strides;
}

/// The tensor map `map` of `array`; `zeros` is the address that stands in for an array without elements.
inline CUtensorMap encode(const Json &map, const Array &array, CUdeviceptr zeros, const std::string &name) {
  const DataType type = dataTypeOf(map.at("dtype").get<std::string>());
  const auto dims = map.at("dims").get<std::vector<std::size_t>>();
  const auto box = map.at("box").get<std::vector<cuuint32_t>>();
  const std::vector<cuuint32_t> steps(dims.size(), 1);
  if (type.bytes != bytesOf(array.dtype))
    refuseMap(name, text(type.bytes, "-byte elements"), text(array.dtype, ", ", bytesOf(array.dtype), " bytes"));
  std::vector<cuuint64_t> extents(dims.size(), 1), strides(dims.size() - 1, kAlignment);
  CUdeviceptr address = zeros;
  if (!needsZeros(array)) {
    address = array.pointer;
    if (address % kAlignment)
      refuseMap(name, "a pointer that is a multiple of 16 bytes", hexadecimal(address));
    for (std::size_t i = 0; i < dims.size(); ++i)
      extents[i] = static_cast<cuuint64_t>(array.shape.at(dims[i]));
    strides = byteStrides(map, array, name);
  }
  // The driver wants strides even for rank 1, where it reads none of them.
  const cuuint64_t unread = kAlignment;
  CUtensorMap encoded;
  check(cuTensorMapEncodeTiled(&encoded, type.type, static_cast<cuuint32_t>(dims.size()),
                               reinterpret_cast<void *>(address), extents.data(),
                               strides.empty() ? &unread : strides.data(), box.data(), steps.data(),
                               CU_TENSOR_MAP_INTERLEAVE_NONE, swizzleOf(map.at("swizzle").get<int>()),
                               promotionOf(map.at("l2_promotion").get<int>()), CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
        "encoding the tensor map of argument '", name, "'");
  return encoded;
}

} // namespace detail

} // namespace headrace

#endif // HEADRACE_LAUNCH_TENSOR_MAP_HPP
