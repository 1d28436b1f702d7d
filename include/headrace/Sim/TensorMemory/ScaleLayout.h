// Where block-scaled tcgen05.mma finds its scale factors in tensor memory (PTX ISA 9.7.16.10.7).
//
// The factors of rows 32 c .. 32 c + 31 are in column c, in the lane row % 32, and again in the same lane of the other
// three groups of 32. One 32-bit word holds four factors of a row; the instruction descriptor names the first byte.
// For M = 128 of a pair, D keeps the two halves of N in two halves of the lanes, and B's factors follow it.
#ifndef HEADRACE_SIM_TENSORMEMORY_SCALELAYOUT_H
#define HEADRACE_SIM_TENSORMEMORY_SCALELAYOUT_H

namespace headrace::sim {

inline constexpr int kScaleReplicas = 4;

struct ScalePlace {
  int lane = 0; // of the first copy
  int column = 0;
  int copies = kScaleReplicas; // in lanes lane, lane + 32, ...
};

/// The word of row `row` of A, within the CTA; or of row (column of D) `row` of B.
ScalePlace scalePlace(int row);
/// The word of column `n` of D where B has `numColumns` and D its halves in two halves of the lanes.
ScalePlace splitScalePlace(int n, int numColumns);

/// Elements of K that one factor scales. Requires: `scales` factors for `depth` elements.
inline int scaledBlock(int depth, int scales) { return depth / scales; }

} // namespace headrace::sim

#endif
