// Named layouts: the register fragments of the matrix instructions, and the coalesced layout for
// everything else.
//
// The fragments take the extents of a tile and the number of groups of warps along M and N, and
// return nullopt when the extents do not divide, or when no such instruction exists. Group g of
// warps is groupM * groupsN + groupN in all of them, so an accumulator and its two operands agree
// on which warp works on what. Registers are elements, in the order of the PTX operands: all
// elements of register r0 first, lowest sub-word first.
#ifndef HEADRACE_LAYOUT_FRAGMENTS_H
#define HEADRACE_LAYOUT_FRAGMENTS_H

#include "headrace/Layout/TileLayout.h"

namespace headrace {

/// C or D of mma.sync m16n8 (PTX ISA 9.7.14.5), a tile [rows, cols]; a group is one warp.
std::optional<TileLayout> mmaAccumulator(int64_t rows, int64_t cols, int64_t groupsM, int64_t groupsN);

/// C or D of mma.sync m8n8 (s32 and f64), a tile [rows, cols]; a group is one warp.
std::optional<TileLayout> mmaAccumulator8x8(int64_t rows, int64_t cols, int64_t groupsM, int64_t groupsN);

/// A of mma.sync m16n8k<atomK>, a tile [M, K], the same for all groups along N. Legal atomK by
/// element bits: 4: 32, 64; 8: 16, 32; 16: 8, 16; 32: 4, 8; 64: 4, 8, 16.
std::optional<TileLayout> mmaOperandA(int64_t rows, int64_t k, int64_t elementBits, int64_t atomK, int64_t groupsM,
                                      int64_t groupsN);

/// B of mma.sync m16n8k<atomK>, described as a tile [N, K], the same for all groups along M. atomK
/// as for A.
std::optional<TileLayout> mmaOperandB(int64_t cols, int64_t k, int64_t elementBits, int64_t atomK, int64_t groupsM,
                                      int64_t groupsN);

/// A and B of mma.sync m8n8k<atomK>, tiles [M, K] and [N, K]. Legal atomK by element bits: 4: 32;
/// 8: 16; 64: 4.
std::optional<TileLayout> mmaOperandA8(int64_t rows, int64_t k, int64_t elementBits, int64_t atomK, int64_t groupsM,
                                       int64_t groupsN);
std::optional<TileLayout> mmaOperandB8(int64_t cols, int64_t k, int64_t elementBits, int64_t atomK, int64_t groupsM,
                                       int64_t groupsN);

/// D of wgmma m64nN (PTX ISA 9.7.15.5.1.1), a tile [rows, cols]; a group is a warpgroup of four
/// warps. The registers of one block of 64 rows are consecutive, and those of any run of 8-column
/// blocks in it too: operand d[0..N/2).
std::optional<TileLayout> wgmmaAccumulator(int64_t rows, int64_t cols, int64_t groupsM, int64_t groupsN = 1);

/// A of wgmma in registers, a tile [M, K] made of m64 x 32 bytes of K. Element bits 8, 16 or 32.
std::optional<TileLayout> wgmmaOperandA(int64_t rows, int64_t k, int64_t elementBits, int64_t groupsM,
                                        int64_t groupsN = 1);

/// What tcgen05.ld.32x32b gives of a 128-row accumulator in tensor memory (PTX ISA 9.7.16): a
/// thread holds consecutive columns of one row. A group is four warps and takes cols / columnGroups
/// columns. Requires of callers that warp w of a group runs as hardware warp w mod 4. Rows other
/// than 128: nullopt.
std::optional<TileLayout> tmemAccumulator(int64_t rows, int64_t cols, int64_t columnGroups);

/// A layout for scans along `dim`: along it elements lie first in registers, then in lanes, then in
/// repetitions of these; warps share the other dimensions, or are replicas. nullopt for more than
/// 256 elements of it in one thread.
std::optional<TileLayout> scannable(const std::vector<int64_t> &shape, int64_t numWarps, int64_t dim);

/// A coalesced layout for any extents >= 1, of any rank, and any number of warps. Along
/// `contiguousDim` a thread holds up to `vector` contiguous elements and the lanes follow each
/// other; lanes that are left go along the other dimension, warps go along the other dimension
/// first, and registers repeat what remains. Only powers of two that divide an extent are used for
/// the threads (the odd factor of the number of warps becomes a group where it divides); lanes and
/// warps that find no room are replicated.
TileLayout blocked(const std::vector<int64_t> &shape, int64_t vector, int64_t numWarps, int64_t contiguousDim);

} // namespace headrace

#endif // HEADRACE_LAYOUT_FRAGMENTS_H
