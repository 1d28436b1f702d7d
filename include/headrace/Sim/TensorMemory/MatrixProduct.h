// The arithmetic of one tcgen05.mma: D = (A x scales) (B x scales) + D.
//
// Products are exact, the K products of one instruction are summed in double and added to the accumulator, and the
// result is rounded once. Hardware keeps fewer bits; how many is not documented.
#ifndef HEADRACE_SIM_TENSORMEMORY_MATRIXPRODUCT_H
#define HEADRACE_SIM_TENSORMEMORY_MATRIXPRODUCT_H

#include "headrace/Sim/TensorMemory/InstructionDescriptor.h"

#include <cstdint>
#include <vector>

namespace headrace::sim {

/// B as the product loop reads it: 8 columns side by side, so that they are one vector.
class ColumnPanels {
public:
  static constexpr int kWidth = 8; // N and its parts are multiples of it (PTX ISA 9.7.16.2.1)

  /// `rows`: row n of B, that is column n of D, has `depth` elements from rows[n * depth] on. Requires: `n` a multiple
  /// of kWidth.
  ColumnPanels(const std::vector<double> &rows, int n, int depth);

  /// Element (k, first) of the panel that starts at column `first`, and kWidth - 1 more behind it.
  const double *at(int first, int k) const { return data.data() + (first * depth + k * kWidth); }

private:
  int depth;
  std::vector<double> data;
};

/// Scale factors of one row of A, and of all columns of D in B. Empty: all 1.
struct BlockScales {
  int scales = 0;            // of a row
  const double *a = nullptr; // [s]
  const double *b = nullptr; // [n * scales + s]
};

/// Adds the product of a row of A (`depth` elements) and columns firstN .. firstN + count - 1 to `sums`. Requires:
/// `firstN` and `count` multiples of ColumnPanels::kWidth.
void accumulateRow(const double *a, const ColumnPanels &b, int depth, int firstN, int count, const BlockScales &scales,
                   double *sums);

/// The accumulator's value in a word of tensor memory, and the word for a value: rounded once, an integer wrapped or
/// saturated. A 16-bit value is in the low half.
double accumulatorValue(AccumulatorType type, uint32_t word);
uint32_t accumulatorWord(AccumulatorType type, double value, bool saturate);

} // namespace headrace::sim

#endif
