// Facts that follow from a register layout and a shared layout together: how wide threads may
// access shared memory, whether ldmatrix and stmatrix move the tile, and how many bank conflicts
// either way has.
#ifndef HEADRACE_LAYOUT_ACCESS_H
#define HEADRACE_LAYOUT_ACCESS_H

#include "headrace/Layout/SharedLayout.h"
#include "headrace/Layout/TileLayout.h"

#include <utility>

namespace headrace {

/// Bytes (at most 16) of the widest vector that every thread may move between consecutive
/// registers, starting at a multiple of the vector's elements, and contiguous, equally aligned
/// bytes of shared memory. At least one element where that is a whole byte; 0 where a thread would
/// have to write part of a byte. Requires: equal shapes.
int64_t sharedVectorBytes(const TileLayout &layout, const SharedLayout &shared);

/// A tile moved by ldmatrix or stmatrix m8n8 .b16 (PTX ISA 9.7.14.5.15). Both directions use the
/// same plan.
///
/// For each instruction i of the plan, in order, every lane l of every warp
///   1. takes (reg, lane) = rowAddressSource(plan, i, l);
///   2. gives base + offset(coordinate(reg, lane, warp)) as its address (all 32 lanes have a valid
///      one, as sm_75 asks) to ldmatrix.sync.aligned.m8n8.x<matrices>[.trans].shared.b16, with
///      .trans if `transposed`;
///   3. finds in result j the elements that belong in registers[j], lowest sub-word first.
///
/// stmatrix: the same with 3, now packing the operands, before 2.
///
/// Plain: result j of lane l holds bytes 4 * (l & 3) .. + 3 of row l >> 2, that is, the registers
/// of the list are contiguous elements. Transposed (16-bit elements): it holds element l >> 2 of
/// rows 2 * (l & 3) and 2 * (l & 3) + 1, where a row is 8 elements contiguous in shared memory.
struct MatrixPlan {
  struct Instruction {
    /// For each of the 1, 2 or 4 matrices: the registers (elements) in its 32-bit word, low first.
    std::vector<std::vector<int64_t>> registers;
  };
  bool transposed = false;
  std::vector<Instruction> instructions;
};

/// How ldmatrix / stmatrix moves the tile, every register exactly once, in the order of the
/// registers; nullopt if they cannot. Plain: elements of 8, 16 or 32 bits; transposed: 16 bits,
/// registers 2i and 2i + 1 share a word. Each matrix is checked for all lanes and warps against the
/// definition of the instruction. Requires: equal shapes.
std::optional<MatrixPlan> planMatrixAccess(const TileLayout &layout, const SharedLayout &shared);

/// The (register, lane) whose element is the first of the row that `lane` addresses in instruction
/// `instruction`; its warp is the lane's own. Lanes beyond the matrices of an x1 or x2 repeat the
/// addresses of the lower lanes.
std::pair<int64_t, int64_t> rowAddressSource(const MatrixPlan &plan, int64_t instruction, int64_t lane);

/// Extra wavefronts of the worst phase when each thread accesses vectors of `vectorBytes` (n-way
/// conflict: n - 1; none: 0). Model: 32 banks of 4 bytes; a phase is a quarter warp for 16-byte
/// vectors, a half warp for 8, else the warp; lanes at the same 4-byte word do not conflict.
/// Requires: equal shapes; vectorBytes is a power of two, a whole number of elements, and <=
/// sharedVectorBytes.
int64_t bankConflicts(const TileLayout &layout, const SharedLayout &shared, int64_t vectorBytes);

/// The same for a plan; a phase is the eight rows of one matrix.
int64_t matrixBankConflicts(const MatrixPlan &plan, const TileLayout &layout, const SharedLayout &shared);

} // namespace headrace

#endif // HEADRACE_LAYOUT_ACCESS_H
