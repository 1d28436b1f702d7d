// What an atomic operation makes of the old value.
#ifndef HEADRACE_SIM_SCALAR_ATOMICOPERATION_H
#define HEADRACE_SIM_SCALAR_ATOMICOPERATION_H

#include "Spelling.h"

namespace headrace::sim {

/// The new value from the old one and the operands; c only of cas. Bits above the type's are ignored.
using Update = uint64_t (*)(uint64_t old, uint64_t b, uint64_t c);

/// The operation in the opcode on elements of `type`; null after a failure. `inGlobal`: f32 additions flush subnormal
/// numbers there, and not in shared memory (PTX ISA 9.7.13.5).
struct AtomicOperation {
  Update inShared = nullptr;
  Update inGlobal = nullptr;
  bool isCompareAndSwap = false;
};
AtomicOperation takeAtomicOperation(Decoder &decode, Spelling &spelling, const Type &type);

} // namespace headrace::sim

#endif
