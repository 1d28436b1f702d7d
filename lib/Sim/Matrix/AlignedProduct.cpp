// Products whose addends are aligned to the largest exponent and cut (Addition.h), in two passes along K: the largest
// exponent, then the sum of what is above the cut. Eight columns of B at a time, as vectors.
#include "headrace/Sim/Matrix/BlockProduct.h"

#include <algorithm>
#include <cmath>

namespace headrace::sim {

namespace {

constexpr int kWidth = 8;
constexpr int kExponentOfZero = -1023; // below the exponents of all products of numbers, whatever the other factor
constexpr int kSmallestTop = -600;     // instead of that of zeros, and below all others

/// Which k are added one after another in one go: all, or of each four the first or the last two.
struct Run {
  int first;
  int step;
  int length; // from each `first + i * step` on

  static Run all(int depth) { return {0, depth, depth}; }
  static Run pairs(int half) { return {2 * half, 4, 2}; }
};

int exponentOf(double value) { return static_cast<int>(bitsOfDouble(value) >> 52 & 0x7FF) - 1023; }

/// Exponents as they are aligned by. Requires: finite values.
std::vector<int16_t> exponentsOf(const std::vector<double> &values, int smallest) {
  std::vector<int16_t> exponents(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    exponents[i] = static_cast<int16_t>(values[i] == 0 ? kExponentOfZero : std::max(exponentOf(values[i]), smallest));
  return exponents;
}

/// 2^exponent. Requires: that of a normal number.
double powerOfTwo(int exponent) { return doubleOfBits(static_cast<uint64_t>(1023 + exponent) << 52); }

/// `value` cut to f32, or to fewer bits of its fraction.
double cutToFloat(double value, int fraction) {
  const int exponent = exponentOf(value);
  if (value == 0)
    return 0;
  if (exponent > kF32.bias())
    return std::copysign(INFINITY, value);
  if (exponent >= kF32.minExponent())
    return doubleOfBits(bitsOfDouble(value) & ~((uint64_t(1) << (52 - fraction)) - 1));
  const int last = kF32.minExponent() - fraction;
  return std::trunc(std::ldexp(value, -last)) * powerOfTwo(last) + 0.0;
}

/// `value` rounded to f16. A zero has no sign then, which is added to it: so it was measured.
double roundToHalf(double value) { return halfToFloat(floatToHalf(value)) + 0.0; }

/// One row times eight columns. `sums` is what they start with, and what they become before the result is cut.
/// Requires: finite numbers, fraction <= 28.
void addRun(const Run &run, int depth, int fraction, const double *a, const int16_t *exponentsOfA, const double *b,
            const int16_t *exponentsOfB, int smallestExponent, double *sums) {
  int16_t top[kWidth];
  for (int n = 0; n < kWidth; ++n)
    top[n] = static_cast<int16_t>(sums[n] == 0 ? kSmallestTop : std::max(exponentOf(sums[n]), smallestExponent));
  for (int from = run.first; from < depth; from += run.step)
    for (int k = from; k < from + run.length; ++k)
      for (int n = 0; n < kWidth; ++n)
        top[n] = std::max<int16_t>(top[n], static_cast<int16_t>(exponentsOfA[k] + exponentsOfB[k * kWidth + n]));
  double scale[kWidth], total[kWidth];
  for (int n = 0; n < kWidth; ++n) {
    scale[n] = powerOfTwo(fraction - top[n]);
    total[n] = static_cast<int32_t>(sums[n] * scale[n]);
  }
  // An addend is below 2^(fraction + 2), since a product is below 4 times the power of its exponent.
  for (int from = run.first; from < depth; from += run.step)
    for (int k = from; k < from + run.length; ++k)
      for (int n = 0; n < kWidth; ++n)
        total[n] += static_cast<int32_t>(a[k] * b[k * kWidth + n] * scale[n]);
  for (int n = 0; n < kWidth; ++n)
    sums[n] = total[n] * powerOfTwo(top[n] - fraction);
}

bool allFinite(const std::vector<double> &values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

void zeroUnlessFinite(std::vector<double> &values) {
  for (double &value : values)
    if (!std::isfinite(value))
      value = 0;
}

} // namespace

void BlockProduct::multiplyAligned(const Addition &addition) {
  if (!addition.takesAccumulator())
    std::fill(sums.begin(), sums.end(), 0);
  // A NaN or an infinity makes all that it is added to a NaN or an infinity, whatever is cut.
  if (!allFinite(a) || !allFinite(b) || !allFinite(sums)) {
    BlockProduct plain = *this;
    plain.multiplyExactly();
    for (size_t i = 0; i < sums.size(); ++i)
      plain.sums[i] += sums[i];
    for (std::vector<double> *values : {&a, &b, &sums})
      zeroUnlessFinite(*values);
    multiplyAligned(addition);
    for (size_t i = 0; i < sums.size(); ++i)
      if (!std::isfinite(plain.sums[i]))
        sums[i] = plain.sums[i];
    return;
  }
  const bool isHalf = addition.accumulator == MmaAccumulator::F16;
  const int smallest = isHalf ? kF16.minExponent() : kF32.minExponent();
  const int kept = std::min(addition.fraction, kF32.fractionBits);
  const std::vector<int16_t> exponentsOfA = exponentsOf(a, addition.minExponentOfA);
  const std::vector<int16_t> exponentsOfB = exponentsOf(b, addition.minExponentOfB);
  std::vector<Run> runs = {Run::all(depth)};
  if (addition.accumulatorLast)
    runs = {Run::pairs(0), Run::pairs(1)};
  for (int column = 0; column < columns; column += kPanel)
    for (int row = 0; row < rows; ++row) {
      double *part = &sums[placeOfSum(row, column)];
      for (const Run &run : runs) {
        addRun(run, depth, addition.fraction, &a[placeOfA(row, 0)], &exponentsOfA[placeOfA(row, 0)],
               &b[placeOfB(0, column)], &exponentsOfB[placeOfB(0, column)], smallest, part);
        for (int n = 0; n < kPanel; ++n)
          part[n] = isHalf ? roundToHalf(part[n]) : cutToFloat(part[n], kept);
      }
    }
}

} // namespace headrace::sim
