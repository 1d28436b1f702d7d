// The evaluators of cp, one maker for each kind; Copies.cpp chooses among them.
#ifndef HEADRACE_LIB_SIM_COPIES_COPIES_H
#define HEADRACE_LIB_SIM_COPIES_COPIES_H

#include "headrace/Sim/Copies/BulkOpcode.h"
#include "headrace/Sim/Instructions/Decoder.h"

namespace headrace::sim {

Evaluator makeCpAsync(Decoder &decode);       // cp.async.ca, cp.async.cg
Evaluator makeCpAsyncArrive(Decoder &decode); // cp.async.mbarrier.arrive
/// commit_group, wait_group and wait_all of cp.async (StreamKind::CpAsync) or of cp.async.bulk (StreamKind::Bulk).
Evaluator makeCommitGroup(Decoder &decode, StreamKind kind);
Evaluator makeWaitGroup(Decoder &decode, StreamKind kind);
Evaluator makeWaitAll(Decoder &decode);
Evaluator makeBulkCopy(Decoder &decode, const BulkOpcode &opcode);   // without a tensor map
Evaluator makeTensorCopy(Decoder &decode, const BulkOpcode &opcode); // with one

} // namespace headrace::sim

#endif
