// Whether wgmma.fence orders the registers of a wgmma after what other instructions wrote there (PTX ISA 9.7.15.7.1).
//
// A warpgroup needs a fence before its first wgmma, and between an access to a register by another instruction and a
// wgmma that uses it as accumulator or as A. Accumulators that only wgmmas of one shape touch need none, also across
// groups and waits. The machine does not note every write of a register, so writes are told by contents: a register may
// be used as it is if it
//
//   is in flight as the accumulator of an earlier wgmma, or
//   has the contents that it had at the last fence or when its accumulator landed since, or
//   has those of another such register: LLVM ties operands of inline PTX with copies that ptxas takes away again.
//
// Once something has landed, the last case is for what landed only, or a new zero would pass for an old one. Writes
// that change nothing, and reads, go unnoticed. To be accused wrongly a program would have to prepare an accumulator
// before a fence and use a copy of it, for the first time, after a wait.
#ifndef HEADRACE_SIM_MATRIX_WGMMAORDER_H
#define HEADRACE_SIM_MATRIX_WGMMAORDER_H

#include "headrace/Sim/Machine/Cta.h"

#include <array>
#include <cstddef>
#include <vector>

namespace headrace::sim {

/// wgmma.fence: `warps` with registers 0 to `count` - 1.
void noteFence(WgmmaOrder &order, const std::array<Warp *, 4> &warps, size_t count);
/// `registers` have just landed as accumulators.
void noteLanded(WgmmaOrder &order, const std::array<Warp *, 4> &warps, const std::vector<ptx::RegId> &registers);
/// Whether a wgmma may use `reg` of warp `warp`, the index-th of its warpgroup, without a new fence. Requires: a fence.
bool isOrdered(const WgmmaOrder &order, Warp &warp, int index, ptx::RegId reg);

} // namespace headrace::sim

#endif
