// What loads, stores and atomics have in common: state spaces and the modifiers that change nothing here.
#ifndef HEADRACE_SIM_SCALAR_STATESPACE_H
#define HEADRACE_SIM_SCALAR_STATESPACE_H

#include "Spelling.h"

namespace headrace::sim {

enum class StateSpace { Generic, Global, Const, Shared, Param, Local };

/// Takes a state space; Generic if there is none.
StateSpace takeStateSpace(Spelling &spelling);

/// Takes the modifiers of caches and of the memory model, and the `.L2::cache_hint` that comes with an operand of its
/// own. Result: whether that is there.
///
/// Memory here is sequentially consistent, so `.volatile`, `.relaxed` and their like ask for nothing more. What an
/// acquire or a release orders is not followed through the memory that it accesses: a program that hands over shared
/// memory by a flag, and not by a barrier or an mbarrier, is accused of a race that it may not have.
bool takeMemoryModifiers(Spelling &spelling);

/// Takes .v2, .v4 or .v8. Result: the number of elements.
int takeVector(Spelling &spelling);

/// Reports an address that is no multiple of `bytes`, which is the size of the whole vector (hardware.md 1.2).
void checkAligned(const Lanes &lanes, int lane, uint64_t address, int64_t bytes);

/// `address` as a 32-bit shared address; reports one that has more bits.
uint32_t sharedAddress(const Lanes &lanes, int lane, uint64_t address);

} // namespace headrace::sim

#endif
