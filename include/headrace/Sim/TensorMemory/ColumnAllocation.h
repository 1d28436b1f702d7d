// Which columns tcgen05.alloc gives out (PTX ISA 9.7.16.7.1): the first that are free.
#ifndef HEADRACE_SIM_TENSORMEMORY_COLUMNALLOCATION_H
#define HEADRACE_SIM_TENSORMEMORY_COLUMNALLOCATION_H

#include "headrace/Sim/Machine/Cta.h"

#include <cstdint>
#include <optional>

namespace headrace::sim {

/// 32, 64, 128, 256 or 512.
bool isAllocationSize(int64_t count);

/// Columns that nobody has, consecutive or not.
int freeColumns(const TensorAllocator &allocator);

/// The first column of `count` consecutive ones that are free. With `peer`, the allocator of the pair's other CTA, both
/// CTAs get the same columns: those that the peer got already and this one has yet to get, or else columns that are
/// free in both. Nothing if there are none now.
std::optional<int> findColumns(const TensorAllocator &own, const TensorAllocator *peer, int count);

} // namespace headrace::sim

#endif
