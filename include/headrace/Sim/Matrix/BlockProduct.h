// The arithmetic of mma.sync and wgmma: D = A * B + C.
//
// Products are exact. How they are added is known for the types that were measured (Addition.h). Where it is not, the K
// products of one instruction are summed in double, the sum is added to the accumulator, and the result is rounded once,
// to nearest even: the PTX ISA leaves accuracy and order open (9.7.14.5.14, 9.7.15.5.2). Integers are exact and wrap or
// saturate in the end; double holds their sums, too. f64 is a chain of fma along K.
#ifndef HEADRACE_SIM_MATRIX_BLOCKPRODUCT_H
#define HEADRACE_SIM_MATRIX_BLOCKPRODUCT_H

#include "headrace/Sim/Matrix/Addition.h"
#include "headrace/Sim/Numerics/Float.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace headrace::sim {

/// Operands and sums of one instruction. Requires: rows a multiple of 2, columns of 8.
class BlockProduct {
public:
  BlockProduct(int rows, int columns, int depth);

  const int rows;    // M
  const int columns; // N
  const int depth;   // K

  // Where an element of an operand goes. Eight columns of B are side by side, as one vector.
  size_t placeOfA(int row, int k) const { return static_cast<size_t>(row) * depth + k; }
  size_t placeOfB(int k, int column) const {
    return (static_cast<size_t>(column / kPanel) * depth + k) * kPanel + column % kPanel;
  }
  size_t placeOfSum(int row, int column) const { return static_cast<size_t>(row) * columns + column; }

  std::vector<double> a;
  std::vector<double> b;

  /// Ensures: sums[placeOfSum(m, n)] is the sum over k of a(m, k) * b(k, n), added as `addition` says. Where that takes
  /// the accumulator in, `sums` held it before.
  void multiply(const Addition &addition = {});
  /// As multiply, but each sum starts with its value in `sums` and takes each product in with one rounding.
  void multiplyFused();

  std::vector<double> sums;

private:
  static constexpr int kPanel = 8;

  void multiplyExactly();
  void multiplyAligned(const Addition &addition);
};

/// The accumulator `before` and `sum`, rounded to its type. Bits of 32, or of 16 in the low half. Requires: not F64.
/// Ensures: a NaN is the canonical one (PTX ISA 9.7.3).
inline uint32_t accumulated(MmaAccumulator type, uint32_t before, double sum) {
  switch (type) {
  case MmaAccumulator::F16:
    return floatToHalf(static_cast<double>(halfToFloat(static_cast<uint16_t>(before))) + sum);
  case MmaAccumulator::S32:
    return before + static_cast<uint32_t>(static_cast<int64_t>(sum));
  case MmaAccumulator::S32Saturated: {
    int64_t total = static_cast<int64_t>(static_cast<int32_t>(before)) + static_cast<int64_t>(sum);
    constexpr int64_t kLow = std::numeric_limits<int32_t>::min(), kHigh = std::numeric_limits<int32_t>::max();
    return static_cast<uint32_t>(std::clamp(total, kLow, kHigh));
  }
  default: {
    float total = static_cast<float>(static_cast<double>(floatOfBits(before)) + sum);
    return total != total ? 0x7FFFFFFF : bitsOfFloat(total);
  }
  }
}

/// The value of an accumulator. Requires: F32, or F16 in the low half.
inline double accumulatorValue(MmaAccumulator type, uint32_t bits) {
  return type == MmaAccumulator::F16 ? halfToFloat(static_cast<uint16_t>(bits)) : floatOfBits(bits);
}

} // namespace headrace::sim

#endif
