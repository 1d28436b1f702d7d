// The multiply-accumulate loops.
#include "headrace/Sim/Matrix/BlockProduct.h"

#include <algorithm>
#include <cmath>

namespace headrace::sim {

namespace {

/// Two rows times eight columns, along all of K: the sums stay in registers, and the columns are one vector or few.
template <int Width>
void multiplyTile(const double *a0, const double *a1, const double *b, int depth, double *sums0, double *sums1) {
  double total0[Width] = {}, total1[Width] = {};
  for (int k = 0; k < depth; ++k, b += Width) {
    for (int n = 0; n < Width; ++n) {
      total0[n] += a0[k] * b[n];
      total1[n] += a1[k] * b[n];
    }
  }
  std::copy_n(total0, Width, sums0);
  std::copy_n(total1, Width, sums1);
}

} // namespace

BlockProduct::BlockProduct(int rows, int columns, int depth)
    : rows(rows), columns(columns), depth(depth), a(static_cast<size_t>(rows) * depth),
      b(static_cast<size_t>(columns) * depth), sums(static_cast<size_t>(rows) * columns) {}

void BlockProduct::multiply(const Addition &addition) {
  if (addition.isExact())
    multiplyExactly();
  else
    multiplyAligned(addition);
}

void BlockProduct::multiplyExactly() {
  for (int column = 0; column < columns; column += kPanel)
    for (int row = 0; row < rows; row += 2)
      multiplyTile<kPanel>(&a[placeOfA(row, 0)], &a[placeOfA(row + 1, 0)], &b[placeOfB(0, column)], depth,
                           &sums[placeOfSum(row, column)], &sums[placeOfSum(row + 1, column)]);
}

void BlockProduct::multiplyFused() {
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      for (int k = 0; k < depth; ++k) {
        double &sum = sums[placeOfSum(row, column)];
        sum = std::fma(a[placeOfA(row, k)], b[placeOfB(k, column)], sum);
      }
}

} // namespace headrace::sim
