// First fit over the columns of tensor memory.
#include "headrace/Sim/TensorMemory/ColumnAllocation.h"

#include <algorithm>

namespace headrace::sim {

namespace {

constexpr int kUnit = 32; // PTX ISA 9.7.16.7.1

bool isFree(const TensorAllocator &allocator, int first, int count) {
  return std::none_of(allocator.live.begin(), allocator.live.end(), [&](const TensorColumns &columns) {
    return first < columns.first + columns.count && columns.first < first + count;
  });
}

} // namespace

bool isAllocationSize(int64_t count) {
  return count >= kUnit && count <= Cta::kTensorColumns && (count & (count - 1)) == 0;
}

int freeColumns(const TensorAllocator &allocator) {
  int free = Cta::kTensorColumns;
  for (const TensorColumns &columns : allocator.live)
    free -= columns.count;
  return free;
}

std::optional<int> findColumns(const TensorAllocator &own, const TensorAllocator *peer, int count) {
  if (peer)
    for (const TensorColumns &columns : peer->live)
      if (columns.count == count && isFree(own, columns.first, count))
        return columns.first;
  for (int first = 0; first + count <= Cta::kTensorColumns; first += kUnit)
    if (isFree(own, first, count) && (!peer || isFree(*peer, first, count)))
      return first;
  return std::nullopt;
}

} // namespace headrace::sim
