// How a tensor core adds: which bits it keeps, as measured on compute capability 9.0 (docs/hardware-findings.md).
//
// The products of one instruction, and the accumulator, are aligned to the largest exponent among them. What lies more
// than `fraction` bits below is cut off, toward zero; the rest is added exactly. With fraction = 4:
//
//     1.0000              exponent 0, the largest
//     0.0110 | 11         a product of exponent -2: | is where it is cut
//   - 0.0000 | 1          nothing is left
//
// The exponent of a product is the sum of its factors' exponents, also where the product is 2 or more; that of a
// subnormal number is that of the smallest normal one. The sum goes into f32 cut at min(fraction, 23) bits, into f16
// rounded to nearest even.
#ifndef HEADRACE_SIM_MATRIX_ADDITION_H
#define HEADRACE_SIM_MATRIX_ADDITION_H

#include "headrace/Sim/Matrix/MatrixElements.h"

#include <cstdint>

namespace headrace::sim {

/// Type of C and D.
enum class MmaAccumulator : uint8_t { F32, F16, S32, S32Saturated, F64 };

enum class MatrixUnit : uint8_t { Mma, Wgmma };

struct Addition {
  int fraction = 0; // bits kept below the largest exponent; 0: all bits, and one rounding in the end
  /// The accumulator is added after the products, and that sum is rounded to nearest. The products with k % 4 < 2 are
  /// added first, the others then: a multiplier of f16 does the work of one of 8-bit floats.
  bool accumulatorLast = false;
  MmaAccumulator accumulator = MmaAccumulator::F32;
  // Smallest exponents of normal factors.
  int minExponentOfA = 0;
  int minExponentOfB = 0;

  bool isExact() const { return fraction == 0; }
  /// Whether the accumulator is one of the addends that are aligned.
  bool takesAccumulator() const { return !isExact() && !accumulatorLast; }
};

/// How `unit` adds products of `a` and `b`. Exact where nothing was measured: block-scaled products (`isPlain` is false),
/// elements of 6 and 4 bits, 8-bit floats into f16 by mma.sync; and for integers and f64.
Addition additionOf(MatrixUnit unit, MatrixElement a, MatrixElement b, MmaAccumulator accumulator, bool isPlain = true);

} // namespace headrace::sim

#endif
