// The factories of this folder's instructions, and what they share.
#ifndef HEADRACE_SIM_MATRIX_FACTORIES_H
#define HEADRACE_SIM_MATRIX_FACTORIES_H

#include "headrace/Sim/Instructions/Decoder.h"

namespace headrace::sim {

Evaluator makeLdmatrix(Decoder &decode);
Evaluator makeStmatrix(Decoder &decode);
Evaluator makeMovmatrix(Decoder &decode);
Evaluator makeMma(Decoder &decode);
Evaluator makeWgmma(Decoder &decode);      // mma_async
Evaluator makeWgmmaFence(Decoder &decode); // and the rest of the family
Evaluator makeWgmmaCommit(Decoder &decode);
Evaluator makeWgmmaWait(Decoder &decode);

/// Fails unless operand `index` is a vector of `count`.
bool expectRegisters(Decoder &decode, size_t index, int count, const char *what);
/// Reports lanes that are missing from an instruction that the whole warp must execute.
void requireWholeWarp(const Lanes &lanes);

} // namespace headrace::sim

#endif
