// tcgen05.mma in kernels: results of each kind, shape and operand place.
#include "MmaMatrices.h"
#include "TensorBench.h"

#include "headrace/Sim/TensorMemory/AccumulatorLayout.h"

#include <cstring>
#include <random>

using namespace headrace::sim;

namespace {

/// One CTA, A and B in shared memory, two instructions: D = A B, then D += A B.
struct Twice {
  std::string kind;
  int bits;
  uint32_t types;
  std::function<uint32_t(int)> encode;
  int m = 128;
  int n = 16;
  std::string modifiers = "";
  std::string tail = "";  // behind enable-input-d
  std::string extra = ""; // instructions between the products and the commit

  TensorBench bench = {};
  Values a = {}, b = {};

  void run() {
    Matrix matrixA(m, bits), matrixB(n, bits);
    a = fill(matrixA, 1, encode);
    b = fill(matrixB, 2, encode);
    append(bench.input, matrixA);
    append(bench.input, matrixB);
    std::string mma = "tcgen05.mma" + modifiers + ".cta_group::1.kind::" + kind + " [taddr], d0, d1, " +
                      std::to_string(shape(types, m, n)) + ", ";
    bench.outWords = 16;
    bench.body = byOneThread(descriptor(0, 0, m * 16, 128) + descriptor(1, m * 32, n * 16, 128) + mma + "0; " + mma +
                             "1" + tail + "; " + extra + kCommit) +
                 kAwait + kAfter + loadOutput(16);
    bench.expectClean();
  }
  /// The word of D at (m, n).
  uint32_t at(int row, int column) const {
    for (const AccumulatorRun &run : accumulatorRuns(1, modifiers == ".ws", m, n))
      if (run.row == row && column >= run.firstN && column < run.firstN + run.count)
        return bench.output[run.lane * 16 + column - run.firstN];
    return 0;
  }
};

TEST(Tcgen05Mma, KindsOfFloats) {
  for (Twice test : {Twice{"f16", 16, 0x490, bf16}, Twice{"f16", 16, 0x010, half}, Twice{"tf32", 32, 0x910, tf32},
                     Twice{"f8f6f4", 8, 0x010, e4m3}}) {
    test.run();
    for (int m = 0; m < 128; ++m)
      for (int n = 0; n < 16; ++n)
        ASSERT_EQ(floatOfBits(test.at(m, n)), 2 * dot(test.a[m], test.b[n])) << test.kind << " " << m << " " << n;
  }
}

TEST(Tcgen05Mma, F16Accumulator) {
  Twice test{"f16", 16, 0x000, half};
  test.run();
  EXPECT_EQ(halfToFloat(uint16_t(test.at(5, 7))), 2 * dot(test.a[5], test.b[7]));
}

TEST(Tcgen05Mma, Integers) {
  Twice test{"i8", 8, 0x4A0, s8};
  test.run();
  for (int m = 0; m < 128; ++m)
    ASSERT_EQ(int32_t(test.at(m, 3)), int32_t(2 * dot(test.a[m], test.b[3])));
}

TEST(Tcgen05Mma, M64) {
  Twice test{"f16", 16, 0x490, bf16, 64};
  // A second accumulator in the lanes that the first leaves free.
  test.extra = "add.u32 r0, taddr, 0x100000; tcgen05.mma.cta_group::1.kind::f16 [r0], d0, d1, " +
               std::to_string(shape(0x490, 64, 16)) + ", 0; ";
  test.run();
  for (int m = 0; m < 64; ++m) {
    ASSERT_EQ(floatOfBits(test.at(m, 9)), 2 * dot(test.a[m], test.b[9]));
    ASSERT_EQ(floatOfBits(test.bench.output[(m / 16 * 32 + 16 + m % 16) * 16 + 9]), dot(test.a[m], test.b[9]));
  }
}

TEST(Tcgen05Mma, WeightStationary) {
  for (int m : {32, 64}) {
    Twice test{"f16", 16, 0x490, bf16, m, 64, ".ws"};
    test.run();
    for (int row = 0; row < m; ++row)
      for (int n = 0; n < 64; n += m / 2) // the first column of each lane
        ASSERT_EQ(floatOfBits(test.at(row, n)), 2 * dot(test.a[row], test.b[n])) << m << " " << row << " " << n;
  }
}

TEST(Tcgen05Mma, NegatesAndScalesTheAccumulator) {
  Twice test{"f16", 16, 0x490 | 1 << 13, bf16};
  test.tail = ", 3";
  test.run();
  for (int m = 0; m < 128; ++m)
    ASSERT_EQ(floatOfBits(test.at(m, 1)), -(dot(test.a[m], test.b[1]) / 8 + dot(test.a[m], test.b[1])));
}

TEST(Tcgen05Mma, DisabledLanesStay) {
  Matrix a(128, 16), b(16, 16);
  Values valuesA = fill(a, 1, bf16), valuesB = fill(b, 2, bf16);
  TensorBench bench;
  append(bench.input, a);
  append(bench.input, b);
  std::string mma = "tcgen05.mma.cta_group::1.kind::f16 [taddr], d0, d1, " + std::to_string(shape(0x490, 128, 16));
  bench.body =
      byOneThread(descriptor(0, 0, 2048, 128) + descriptor(1, 4096, 256, 128) + "mov.b32 r0, 0; mov.b32 r1, 6; " + mma +
                  ", 0; " + mma + ", {r0, r1, r0, r0}, 1; " + kCommit) +
      kAwait + kAfter + loadOutput(16);
  bench.expectClean();
  for (int m = 0; m < 128; ++m) {
    bool disabled = m == 33 || m == 34;
    ASSERT_EQ(floatOfBits(bench.output[m * 16]), (disabled ? 1 : 2) * dot(valuesA[m], valuesB[0])) << m;
  }
}

TEST(Tcgen05Mma, MnMajor) {
  // A of 128 x 16, contiguous along M, 128-byte swizzle: two blocks of 16 depths of 64 elements.
  std::mt19937 random(7);
  Values a(128, std::vector<double>(16));
  TensorBench bench;
  bench.input.resize(2 * 16 * 128);
  for (int m = 0; m < 128; ++m)
    for (int k = 0; k < 16; ++k) {
      a[m][k] = int(random() % 9) - 4;
      int row = m / 64 * 16 + k, byte = m % 64 * 2 ^ (k & 7) << 4;
      uint16_t pattern = floatToBfloat(a[m][k]);
      std::memcpy(&bench.input[row * 128 + byte], &pattern, 2);
    }
  Matrix matrixB(16, 16);
  Values b = fill(matrixB, 2, bf16);
  append(bench.input, matrixB);
  const uint64_t swizzle128 = uint64_t(2) << 61;
  bench.body = byOneThread(descriptor(0, 0, 2048, 1024) + "or.b64 d0, d0, " + std::to_string(swizzle128) + "; " +
                           descriptor(1, 4096, 256, 128) + "tcgen05.mma.cta_group::1.kind::f16 [taddr], d0, d1, " +
                           std::to_string(shape(0x490 | 1 << 15, 128, 16)) + ", 0; " + kCommit) +
               kAwait + kAfter + loadOutput(16);
  bench.expectClean();
  for (int m = 0; m < 128; ++m)
    for (int n = 0; n < 16; ++n)
      ASSERT_EQ(floatOfBits(bench.output[m * 16 + n]), dot(a[m], b[n])) << m << " " << n;
}

TEST(Tcgen05Mma, AInTensorMemory) {
  Matrix a(128, 16), b(16, 16);
  Values valuesA = fill(a, 1, bf16), valuesB = fill(b, 2, bf16);
  TensorBench bench;
  append(bench.input, a);
  append(bench.input, b);
  bench.body = byOneThread(descriptor(0, 0, 2048, 128) + descriptor(1, 4096, 256, 128) +
                           "tcgen05.cp.cta_group::1.128x256b [taddr+32], d0; "
                           "add.u32 r0, taddr, 32; tcgen05.mma.cta_group::1.kind::f16 [taddr], [r0], d1, " +
                           std::to_string(shape(0x490, 128, 16)) + ", 0; " + kCommit) +
               kAwait + kAfter + loadOutput(16);
  bench.expectClean();
  for (int m = 0; m < 128; ++m)
    ASSERT_EQ(floatOfBits(bench.output[m * 16 + 4]), dot(valuesA[m], valuesB[4])) << m;
}

} // namespace
