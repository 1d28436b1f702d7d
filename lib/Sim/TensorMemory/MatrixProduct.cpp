// The product loop of tcgen05.mma.
#include "headrace/Sim/TensorMemory/MatrixProduct.h"

#include "headrace/Sim/Numerics/Float.h"

#include <algorithm>
#include <cmath>

namespace headrace::sim {

namespace {

constexpr int kWidth = ColumnPanels::kWidth;

/// Adds the product of a part of a row of A and a panel of B to `sums`. The partial sums stay in vector registers.
void accumulatePanel(const double *a, const double *b, int depth, double *sums) {
  double partial[kWidth] = {};
  for (int k = 0; k < depth; ++k) {
    const double factor = a[k];
    for (int i = 0; i < kWidth; ++i)
      partial[i] += factor * b[k * kWidth + i];
  }
  for (int i = 0; i < kWidth; ++i)
    sums[i] += partial[i];
}

} // namespace

ColumnPanels::ColumnPanels(const std::vector<double> &rows, int n, int depth) : depth(depth), data(rows.size()) {
  for (int first = 0; first < n; first += kWidth)
    for (int k = 0; k < depth; ++k)
      for (int i = 0; i < kWidth; ++i)
        data[first * depth + k * kWidth + i] = rows[(first + i) * depth + k];
}

void accumulateRow(const double *a, const ColumnPanels &b, int depth, int firstN, int count, const BlockScales &scales,
                   double *sums) {
  const int blocks = std::max(scales.scales, 1), blockDepth = depth / blocks;
  for (int column = 0; column < count; column += kWidth) {
    if (scales.scales == 0) {
      accumulatePanel(a, b.at(firstN + column, 0), depth, sums + column);
      continue;
    }
    for (int block = 0; block < blocks; ++block) {
      double partial[kWidth] = {};
      accumulatePanel(a + block * blockDepth, b.at(firstN + column, block * blockDepth), blockDepth, partial);
      for (int i = 0; i < kWidth; ++i) {
        const double scaleOfB = scales.b[(firstN + column + i) * blocks + block];
        sums[column + i] += partial[i] * (scales.a[block] * scaleOfB);
      }
    }
  }
}

double accumulatorValue(AccumulatorType type, uint32_t word) {
  switch (type) {
  case AccumulatorType::F16:
    return halfToFloat(static_cast<uint16_t>(word));
  case AccumulatorType::F32:
    return floatOfBits(word);
  case AccumulatorType::S32:
    return static_cast<int32_t>(word);
  }
  return 0;
}

uint32_t accumulatorWord(AccumulatorType type, double value, bool saturate) {
  switch (type) {
  case AccumulatorType::F16:
    return floatToHalf(value);
  case AccumulatorType::F32:
    return std::isnan(value) ? static_cast<uint32_t>(kF32.nan()) : bitsOfFloat(static_cast<float>(value));
  case AccumulatorType::S32:
    if (saturate)
      value = std::clamp(value, -2147483648.0, 2147483647.0);
    return static_cast<uint32_t>(static_cast<int64_t>(value));
  }
  return 0;
}

} // namespace headrace::sim
