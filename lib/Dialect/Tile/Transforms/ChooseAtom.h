// Which matmul instruction multiplies a dot's tiles, and how groups of warps share its rows and columns.
#pragma once

#include "headrace/Dialect/Tile/Transforms/Target.h"

namespace headrace::tile {

/// How many warps may work on a dot; -1: the choice is free.
struct WarpRequest {
  int64_t warps = -1;     ///< compute warps of the kernel
  int64_t consumers = -1; ///< groups of four warps (warpgroups)
};

struct AtomChoice {
  AtomAttr atom;
  int64_t warps;            ///< compute warps
  std::string whyNotFaster; ///< for each faster family of the target, the rule that the dot breaks
};

/// The fastest atom whose rules the dot obeys; fma always is one. Nothing if the target cannot multiply these types at
/// all, or the requested warps cannot share the tile: `error` says which rule, with numbers.
std::optional<AtomChoice> chooseAtom(DotOp dot, const TargetInfo &target, WarpRequest request, std::string &error);

/// Whether the contraction dimension of a dot's operand is the contiguous one in memory. An operand that is not a load
/// may be laid out as one likes: true.
bool isKMajor(mlir::Value operand, bool transposed, bool isA);

} // namespace headrace::tile
