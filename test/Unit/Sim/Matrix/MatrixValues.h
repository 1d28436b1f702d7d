// Values that matrix elements of every type can have, and their patterns.
#ifndef HEADRACE_TEST_UNIT_SIM_MATRIX_MATRIXVALUES_H
#define HEADRACE_TEST_UNIT_SIM_MATRIX_MATRIXVALUES_H

#include "headrace/Sim/Matrix/MatrixElements.h"
#include "headrace/Sim/Numerics/Float.h"

#include <random>

namespace headrace::sim {

/// A value of `element`, small enough that sums of products are exact in f32 and, but for large K, in f16.
inline double drawValue(MatrixElement element, std::mt19937 &random) {
  switch (element) {
  case MatrixElement::S8:
    return static_cast<int>(random() % 256) - 128;
  case MatrixElement::U8:
    return random() % 256;
  case MatrixElement::S4:
    return static_cast<int>(random() % 16) - 8;
  case MatrixElement::U4:
    return random() % 16;
  case MatrixElement::B1:
  case MatrixElement::Xor1:
    return random() % 2;
  default: {
    constexpr double kValues[] = {0, 0.5, 1, 1.5, 2, 3, 4}; // all of them in e2m1, e3m2 and e2m3
    return kValues[random() % 7] * (random() % 2 ? 1 : -1);
  }
  }
}

/// The pattern of a value in its place in a word.
inline uint64_t patternOf(const WordPacking &packing, double value) {
  switch (packing.element) {
  case MatrixElement::F16:
    return encodeFloat(value, kF16);
  case MatrixElement::Bf16:
    return encodeFloat(value, kBf16);
  case MatrixElement::Tf32:
    return bitsOfFloat(static_cast<float>(value)) | 0x1FFF; // low bits that do not count
  case MatrixElement::F64:
    return bitsOfDouble(value);
  case MatrixElement::E4m3:
    return floatToE4m3(value);
  case MatrixElement::E5m2:
    return floatToE5m2(value);
  case MatrixElement::E3m2:
    return floatToE3m2(value);
  case MatrixElement::E2m3:
    return floatToE2m3(value);
  case MatrixElement::E2m1:
    return static_cast<uint64_t>(floatToE2m1(value)) << packing.shift;
  default:
    return static_cast<uint64_t>(static_cast<int64_t>(value)) & ((uint64_t(1) << packing.bits) - 1);
  }
}

} // namespace headrace::sim

#endif
