// The parts of the tcgen05 family, by the second part of the opcode.
#ifndef HEADRACE_LIB_SIM_TENSORMEMORY_FAMILIES_H
#define HEADRACE_LIB_SIM_TENSORMEMORY_FAMILIES_H

#include "headrace/Sim/Instructions/Decoder.h"

namespace headrace::sim::tcgen05 {

Evaluator decodeAlloc(Decoder &decode);
Evaluator decodeDealloc(Decoder &decode);
Evaluator decodeRelinquish(Decoder &decode);
Evaluator decodeLoad(Decoder &decode);
Evaluator decodeStore(Decoder &decode);
Evaluator decodeWaitLoad(Decoder &decode);
Evaluator decodeWaitStore(Decoder &decode);
Evaluator decodeFenceBefore(Decoder &decode);
Evaluator decodeFenceAfter(Decoder &decode);
Evaluator decodeCommit(Decoder &decode);
Evaluator decodeMma(Decoder &decode);
Evaluator decodeCopy(Decoder &decode);
Evaluator decodeShift(Decoder &decode);

} // namespace headrace::sim::tcgen05

#endif
