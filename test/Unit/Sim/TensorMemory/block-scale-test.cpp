// Block-scaled products: scale factors are copied into tensor memory and applied to their part of K.
#include "MmaMatrices.h"
#include "TensorBench.h"

#include <cmath>

using namespace headrace::sim;

namespace {

uint32_t e2m1(int value) { return floatToE2m1(value); }

/// 128 rows of four scale factors (hardware.md 7.8).
struct Scales {
  std::vector<uint8_t> bytes = std::vector<uint8_t>(512);
  double values[128][4];

  Scales(unsigned seed, bool ue8m0) {
    std::mt19937 random(seed);
    for (int row = 0; row < 128; ++row)
      for (int s = 0; s < 4; ++s) {
        int power = int(random() % 5) - 2;
        values[row][s] = std::ldexp(1.0, power);
        bytes[row % 32 * 16 + row / 32 * 4 + s] = ue8m0 ? uint8_t(127 + power) : floatToE4m3(values[row][s]);
      }
  }
};

struct Scaled {
  std::string kind; // with the size of the vectors
  int bits;
  int scales; // of a row
  uint32_t fields;
  std::function<uint32_t(int)> encode;
  int byteA = 0, byteB = 0;

  void run() {
    const bool ue8m0 = fields >> 23 & 1;
    Matrix matrixA(128, bits), matrixB(64, bits);
    Values a = fill(matrixA, 1, encode), b = fill(matrixB, 2, encode);
    Scales scaleA(3, ue8m0), scaleB(4, ue8m0);
    TensorBench bench;
    append(bench.input, matrixA);
    append(bench.input, matrixB);
    for (const Scales *scale : {&scaleA, &scaleB})
      bench.input.insert(bench.input.end(), scale->bytes.begin(), scale->bytes.end());
    const uint32_t bits = shape(fields, 128, 64) | uint32_t(byteB) << 4 | uint32_t(byteA) << 29;
    bench.body = byOneThread(descriptor(0, 0, 2048, 128) + descriptor(1, 4096, 1024, 128) +
                             descriptor(2, 6144, 16, 128) + descriptor(3, 6656, 16, 128) +
                             "tcgen05.cp.cta_group::1.32x128b.warpx4 [taddr+64], d2; "
                             "tcgen05.cp.cta_group::1.32x128b.warpx4 [taddr+68], d3; "
                             "add.u32 r0, taddr, 64; add.u32 r1, taddr, 68; tcgen05.mma.cta_group::1.kind::" +
                             kind + " [taddr], d0, d1, " + std::to_string(bits) + ", [r0], [r1], 0; " + kCommit) +
                 kAwait + kAfter + loadOutput(16, 32);
    bench.expectClean();
    const int block = matrixA.depth() / scales;
    for (int m = 0; m < 128; ++m)
      for (int n = 0; n < 16; ++n) {
        double expected = 0;
        for (int k = 0; k < matrixA.depth(); ++k)
          expected +=
              a[m][k] * scaleA.values[m][byteA + k / block] * b[32 + n][k] * scaleB.values[32 + n][byteB + k / block];
        ASSERT_EQ(floatOfBits(bench.output[m * 16 + n]), expected) << kind << " " << m << " " << n;
      }
  }
};

TEST(Tcgen05BlockScale, Mxf8f6f4) {
  Scaled{"mxf8f6f4.block_scale", 8, 1, 0x00800000, e4m3, 2, 1}.run();
  Scaled{"mxf8f6f4.block_scale.scale_vec::1X", 8, 1, 0x00800000, e4m3, 0, 3}.run();
}

TEST(Tcgen05BlockScale, Mxf4) { Scaled{"mxf4.block_scale.block32", 4, 2, 0x00800480, e2m1, 2, 0}.run(); }

TEST(Tcgen05BlockScale, Mxf4nvf4) {
  Scaled{"mxf4nvf4.block_scale.block16", 4, 4, 0x00000480, e2m1}.run();
  Scaled{"mxf4nvf4.block_scale.scale_vec::4X", 4, 4, 0x00800480, e2m1}.run();
  Scaled{"mxf4nvf4.block_scale.scale_vec::2X", 4, 2, 0x00800480, e2m1, 0, 2}.run();
}

TEST(Tcgen05BlockScale, CopiesOfAFactorMustAgree) {
  TensorBench bench;
  bench.input.resize(6144);
  bench.body = "mov.b32 r0, quarter; tcgen05.st.sync.aligned.32x32b.x4.b32 [quarter+64], {r0, r0, r0, r0}; "
               "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; " +
               byOneThread(std::string(kAfter) + descriptor(0, 0, 2048, 128) +
                           "add.u32 r0, taddr, 64; tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [taddr], d0, "
                           "d0, 0x08A00000, [r0], [r0], 0; " +
                           kCommit) +
               kAwait;
  bench.expectOnly(FindingKind::Operand);
}

} // namespace
