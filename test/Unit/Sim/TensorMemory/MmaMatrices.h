// Operands of small products: random numbers, and the bytes that stand for them.
#ifndef HEADRACE_TEST_UNIT_SIM_TENSORMEMORY_MMAMATRICES_H
#define HEADRACE_TEST_UNIT_SIM_TENSORMEMORY_MMAMATRICES_H

#include "headrace/Sim/Numerics/Float.h"

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace headrace::sim {

/// Rows of 32 bytes of K, without swizzle: columns of 16 bytes, one behind the other, rows 16 bytes apart.
class Matrix {
public:
  Matrix(int rows, int bits) : rows(rows), bits(bits), bytes(rows * 32) {}
  const int rows, bits;
  std::vector<uint8_t> bytes;

  int depth() const { return 256 / bits; }
  void set(int row, int k, uint32_t pattern) {
    for (int bit = 0; bit < bits; ++bit)
      if (pattern >> bit & 1) {
        int at = k * bits + bit, byte = at / 8;
        bytes[byte / 16 * rows * 16 + row * 16 + byte % 16] |= 1 << at % 8;
      }
  }
};

using Values = std::vector<std::vector<double>>; // [row][k]

/// Random small numbers, and their patterns.
inline Values fill(Matrix &matrix, unsigned seed, const std::function<uint32_t(int)> &encode) {
  std::mt19937 random(seed);
  Values values(matrix.rows, std::vector<double>(matrix.depth()));
  for (int row = 0; row < matrix.rows; ++row)
    for (int k = 0; k < matrix.depth(); ++k) {
      int value = int(random() % 9) - 4;
      values[row][k] = value;
      matrix.set(row, k, encode(value));
    }
  return values;
}

inline double dot(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0;
  for (size_t k = 0; k < a.size(); ++k)
    sum += a[k] * b[k];
  return sum;
}

inline uint32_t bf16(int value) { return floatToBfloat(value); }
inline uint32_t half(int value) { return floatToHalf(value); }
inline uint32_t tf32(int value) { return bitsOfFloat(float(value)) | 0x1FFF; } // the low bits do not count
inline uint32_t e4m3(int value) { return floatToE4m3(value); }
inline uint32_t s8(int value) { return uint8_t(value); }

inline uint32_t shape(uint32_t types, int m, int n) { return types | uint32_t(n) / 8 << 17 | uint32_t(m) / 16 << 24; }

inline void append(std::vector<uint8_t> &to, const Matrix &matrix) {
  to.insert(to.end(), matrix.bytes.begin(), matrix.bytes.end());
}

} // namespace headrace::sim

#endif
