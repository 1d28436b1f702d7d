// cta_group::2: products whose operands and accumulator are in two CTAs.
#include "MmaMatrices.h"
#include "TensorBench.h"

#include "headrace/Sim/TensorMemory/AccumulatorLayout.h"

using namespace headrace::sim;

namespace {

const char *const kCommitBoth = "mov.b16 s, 3; tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
                                ".multicast::cluster.b64 [mbar], s; ";

/// Both CTAs have half of A's and half of B's rows. Thread 0 of the even one multiplies; both read what they have of D.
struct Pair {
  int m = 256;
  int n = 32;
  std::string commit = kCommitBoth;
  std::string after = kAfter;
  std::string between = ""; // the product and the commit
  TensorBench bench = {};
  Values a = {}, b = {}; // of both CTAs

  void prepare() {
    bench.ctas = 2;
    bench.outWords = 16;
    for (unsigned cta = 0; cta < 2; ++cta) {
      Matrix halfA(m / 2, 16), halfB(n / 2, 16);
      for (auto &row : fill(halfA, 10 + cta, bf16))
        a.push_back(row);
      for (auto &row : fill(halfB, 20 + cta, bf16))
        b.push_back(row);
      append(bench.input, halfA);
      append(bench.input, halfB);
    }
    bench.body = ".reg .b16 s; " +
                 byOneThread(descriptor(0, 0, m / 2 * 16, 128) + descriptor(1, m / 2 * 32, n / 2 * 16, 128) +
                             "tcgen05.mma.cta_group::2.kind::f16 [taddr], d0, d1, " +
                             std::to_string(shape(0x490, m, n)) + ", 0; " + between + commit) +
                 kAwait + after + loadOutput(16);
  }
  void expectProduct() {
    prepare();
    bench.expectClean();
    for (const AccumulatorRun &run : accumulatorRuns(2, false, m, n))
      for (int i = 0; i < std::min(run.count, 16); ++i)
        ASSERT_EQ(floatOfBits(bench.output[(run.cta * 128 + run.lane) * 16 + i]), dot(a[run.row], b[run.firstN + i]))
            << run.row << " " << run.firstN + i;
  }
};

TEST(Tcgen05Pair, M256) { Pair{256, 32}.expectProduct(); }

TEST(Tcgen05Pair, M128) { Pair{128, 32}.expectProduct(); }

TEST(Tcgen05Pair, AInTensorMemoryOfBoth) {
  Pair pair{256, 32};
  pair.between = "tcgen05.cp.cta_group::2.128x256b [taddr+64], d0; add.u32 r0, taddr, 64; "
                 "tcgen05.mma.cta_group::2.kind::f16 [taddr], [r0], d1, " +
                 std::to_string(shape(0x490, 256, 32)) + ", 0; ";
  pair.expectProduct();
}

TEST(Tcgen05Pair, OtherCtaNeedsTheFenceToo) {
  Pair pair;
  pair.after = "";
  pair.prepare();
  pair.bench.expectOnly(FindingKind::MissingTensorFence);
}

TEST(Tcgen05Pair, CommitToTheOwnCtaOnly) {
  Pair pair;
  pair.commit = "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [mbar]; ";
  pair.prepare();
  pair.bench.expectOnly(FindingKind::Deadlock);
}

TEST(Tcgen05Pair, NeedsAPair) {
  TensorBench bench;
  bench.input.resize(4096 + 512);
  bench.body =
      byOneThread(descriptor(0, 0, 2048, 128) + "tcgen05.mma.cta_group::2.kind::f16 [taddr], d0, d0, 0x10080490, 0; ");
  bench.expectOnly(FindingKind::Operand);
}

} // namespace
