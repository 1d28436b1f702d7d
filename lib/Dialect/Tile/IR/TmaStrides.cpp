// Limits of cuTensorMapEncodeTiled on an array's strides.
#include "headrace/Dialect/Tile/IR/TmaStrides.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

/// Strides are multiples of this many bytes, and less than the limit.
static constexpr int64_t kStrideBytes = 16, kStrideLimit = int64_t(1) << 40;

std::string headrace::tile::whyNotTmaStrides(MemRefType array, int64_t major) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(array.getStridesAndOffset(strides, offset)))
    return "expected an array with strides";
  if (strides[major] != 1)
    return llvm::formatv("expected dimension {0} of the array to have the constant stride 1", major);
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    if (int64_t(dim) == major || ShapedType::isDynamic(stride))
      continue;
    int64_t bytes = stride * array.getElementTypeBitWidth() / 8;
    if (bytes <= 0 || bytes % kStrideBytes || bytes >= kStrideLimit)
      return llvm::formatv("expected the stride of dimension {0} of the array to be a positive multiple of {1} bytes "
                           "below 2^40, got {2} bytes",
                           dim, kStrideBytes, bytes);
  }
  return "";
}
