// Where tcgen05.mma keeps D in tensor memory (PTX ISA 9.7.16.10.5).
//
// An element of D is one 32-bit word. A row of D is a run of columns in one lane, or two or four runs in as many lanes
// where D has few rows and would leave lanes unused. The ISA's names of the layouts:
//
//   D   M = 128, also with .ws         lane m
//   F   M = 64                         lane 32 (m / 16) + m % 16; the other 16 lanes of each 32 belong to somebody else
//   A   M = 256 of a pair              CTA m / 128, lane m % 128
//   B   M = 128 of a pair              CTA m / 64, lane m % 64 + 64 h, half h of the columns
//   E   M = 64 with .ws                lane m + 64 h, half h of the columns
//   G   M = 32 with .ws                lane m + 32 h, quarter h of the columns
#ifndef HEADRACE_SIM_TENSORMEMORY_ACCUMULATORLAYOUT_H
#define HEADRACE_SIM_TENSORMEMORY_ACCUMULATORLAYOUT_H

#include <vector>

namespace headrace::sim {

/// Elements (row, firstN .. firstN + count - 1) of D: columns 0 .. count - 1 behind D's address.
struct AccumulatorRun {
  int row = 0;
  int firstN = 0;
  int count = 0;
  int cta = 0;  // 0: the even one of a pair
  int lane = 0; // behind the lane of D's address
};

/// All of D. Requires: a shape that decodeInstructionDescriptor accepts.
std::vector<AccumulatorRun> accumulatorRuns(int ctaGroup, bool weightStationary, int m, int n);

/// Whether D may also start at lane 16: layout F, which leaves those lanes free.
bool mayStartAtLane16(int ctaGroup, bool weightStationary, int m);

} // namespace headrace::sim

#endif
