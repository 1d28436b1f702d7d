// Facts about the register tiles of an op: layout, which thread writes, which register holds an
// element.
#pragma once

#include "Lowering.h"

namespace headrace::lowering {

/// The layout of a register tile; emits an error on `op` if `type` is none, or if it is not of
/// `shape` (where given).
mlir::FailureOr<TileLayout> layoutOf(Operation *op, Type type, llvm::ArrayRef<int64_t> shape = {});

/// i1, true in the one thread, among those that hold the same elements, that writes them:
/// TileLayout::isWriter at run time. Null if no element is held twice.
Value isWriter(OpBuilder &builder, Location loc, const TileLayout &layout, Thread thread);

/// For each register of `to`, the register of `from` with the element at map(coordinate), in the
/// same thread; nullopt if another thread has it. Requires: `map` takes each dimension of its
/// result from one of its argument, or is zero there.
std::optional<std::vector<int64_t>> registersAt(const TileLayout &from, const TileLayout &to,
                                                llvm::function_ref<std::vector<int64_t>(std::vector<int64_t>)> map);

} // namespace headrace::lowering
