// Shared-memory matrix descriptors: how wgmma (PTX ISA 9.7.15.5.1.2.2) and tcgen05 (9.7.16.4.1) are
// told where the core matrices of an operand lie. Both come from the operand's SharedLayout alone;
// only the start address is a run-time value.
#pragma once

#include "headrace/Layout/SharedLayout.h"
#include "mlir/IR/Builders.h"

#include <optional>

namespace headrace::lowering {

/// A descriptor without its start address.
struct MatrixDescriptor {
  uint64_t fixed; ///< all fields but the start address
};

/// The descriptor of an operand of wgmma. `kMajor`: the contiguous dimension of `layout` is K (else
/// it is M or N). Requires: rank 2 and a swizzle other than 0; the slot is a multiple of
/// layout.alignment(), which makes the base offset 0.
MatrixDescriptor wgmmaDescriptor(const SharedLayout &layout, bool kMajor);

/// The same for tcgen05: the fields of wgmma's, and the constant 0b001 in bits 48:46.
MatrixDescriptor tcgen05Descriptor(const SharedLayout &layout, bool kMajor);

/// The descriptor (i64) whose start is `byteAddress` (i32, shared window) plus a constant.
/// Requires: both are multiples of 16 and the sum lies in shared memory (below 2^18), so that it
/// fits its field.
mlir::Value buildDescriptor(mlir::OpBuilder &builder, mlir::Location loc, MatrixDescriptor descriptor,
                            mlir::Value byteAddress, int64_t constantByteOffset);

/// Byte offset, from the start of the operand, of the element at (row, k): where an instruction's
/// part of the operand starts. `row` counts along M or N. nullopt if no instruction can start there
/// with `rows` rows: along a contiguous M or N they must start with a panel or lie within one, and
/// along rows they must start at a multiple of eight.
std::optional<int64_t> operandStart(const SharedLayout &layout, bool kMajor, int64_t row, int64_t rows, int64_t k);

} // namespace headrace::lowering
