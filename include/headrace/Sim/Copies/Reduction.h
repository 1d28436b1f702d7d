// The element-wise reductions of cp.reduce.async.bulk (PTX ISA 9.7.9.25.4.2) and of its tensor form (9.7.9.27.1.3).
#ifndef HEADRACE_SIM_COPIES_REDUCTION_H
#define HEADRACE_SIM_COPIES_REDUCTION_H

#include "headrace/Sim/Copies/TensorMap.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace::sim {

enum class ReductionOp { Add, Min, Max, Inc, Dec, And, Or, Xor };
enum class ReductionType { U32, S32, U64, S64, F16, BF16, F32, F64, B32, B64 };

struct Reduction {
  ReductionOp op = ReductionOp::Add;
  ReductionType type = ReductionType::U32;
};

/// Where the result goes: global memory, the shared memory of a CTA, global memory by a tensor map.
enum class ReductionTarget { Global, Shared, Tensor };

/// The operation of an opcode part, as "add".
std::optional<ReductionOp> reductionOpNamed(std::string_view name);
/// The type of an opcode part, as "u32".
std::optional<ReductionType> reductionTypeNamed(std::string_view name);
int bytesOf(ReductionType type);

/// Whether the ISA has this one.
bool exists(const Reduction &reduction, ReductionTarget target);
/// The reduction of the elements of a tensor map, if the ISA has it.
std::optional<Reduction> tensorReduction(ReductionOp op, ElementType type);

/// into[i] = op(into[i], from[i]). Requires: exists(); `bytes` a multiple of the element's.
/// Sums round to nearest even. Those of f32 flush subnormals, those of f16 and bf16 (.noftz) do not. The tensor form's are
/// not documented and taken to be the same; nor is what min and max do with NaN: here the other operand wins, as in min.f16.
void reduce(const Reduction &reduction, const uint8_t *from, uint8_t *into, int64_t bytes);

} // namespace headrace::sim

#endif
