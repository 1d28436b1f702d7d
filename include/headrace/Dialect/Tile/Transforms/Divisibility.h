// What is known of integers at compile time: by which number an index is divisible, and its sign.
#pragma once

#include "mlir/IR/Value.h"

namespace headrace::tile {

/// Largest number found that divides `value` in every execution; 0 for the constant zero, at least 1 otherwise.
/// Sees constants, sums, differences, products, loop counters, `tile.assume` and static extents.
int64_t getDivisor(mlir::Value value);

/// The same for extent `dim` of an array: its static value, or what `tile.assume` says of a memref.dim of it.
int64_t getExtentDivisor(mlir::Value array, unsigned dim);

/// Whether the index is provably never negative.
bool isNonNegative(mlir::Value value);

} // namespace headrace::tile
