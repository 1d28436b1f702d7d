// What must stand between operations on tensor memory (hardware.md 7.12 and 8, rows 6 and 20 to 24): each kernel once
// as it must be, and once with one thing missing.
#include "TensorBench.h"

using namespace headrace::sim;

namespace {

constexpr Policy kPolicies[] = {Policy::Early, Policy::Late, Policy::Reversed, Policy::Random};

/// A bench with A of 128 x 16 and B of 16 x 16, all zero, and their descriptors in d0 and d1 of thread 0.
TensorBench matrices() {
  TensorBench bench;
  bench.input.resize(4096 + 512);
  return bench;
}
const std::string kDescriptors = descriptor(0, 0, 2048, 128) + descriptor(1, 4096, 256, 128);
/// bf16, 128 x 16, onto column 0.
std::string product(int accumulate) {
  return "tcgen05.mma.cta_group::1.kind::f16 [taddr], d0, d1, 0x08040490, " + std::to_string(accumulate) + "; ";
}

void expectClean(const std::string &body) {
  for (Policy policy : kPolicies) {
    TensorBench bench = matrices();
    bench.body = body;
    bench.policy = policy;
    bench.expectClean();
  }
}
void expectOnly(FindingKind kind, const std::string &body) {
  for (Policy policy : kPolicies) {
    TensorBench bench = matrices();
    bench.body = body;
    bench.policy = policy;
    bench.expectOnly(kind);
  }
}

TEST(Tcgen05Order, ResultIsReadAfterCommitWaitAndFence) {
  std::string mma = byOneThread(kDescriptors + product(0) + product(1) + kCommit);
  expectClean(mma + kAwait + kAfter + loadOutput(16));
  expectOnly(FindingKind::MissingTensorFence, mma + kAwait + loadOutput(16));
}

TEST(Tcgen05Order, ResultIsReadBeforeTheWait) {
  std::string mma = byOneThread(kDescriptors + product(0) + kCommit);
  for (Policy policy : kPolicies) {
    TensorBench bench = matrices();
    bench.body = mma + loadOutput(16) + kAwait;
    bench.policy = policy;
    bench.run();
    // Where nothing is there yet, it is read uninitialised, and the product then overwrites it.
    bench.found.erase(FindingKind::Uninitialised);
    bench.found.erase(FindingKind::Overwrite);
    EXPECT_TRUE(bench.found.empty() || bench.found == std::set{FindingKind::ReadBeforeLanded});
    EXPECT_FALSE(bench.messages.empty());
  }
}

TEST(Tcgen05Order, OperandsNeedAProxyFence) {
  for (Policy policy : kPolicies) {
    TensorBench bench = matrices();
    bench.body = byOneThread(kDescriptors + product(0) + kCommit) + kAwait;
    bench.policy = policy;
    bench.fencesOperands = false;
    bench.expectOnly(FindingKind::MissingProxyFence);
  }
}

/// Two rounds: the second product overwrites what the first one's readers have read.
std::string twoRounds(const std::string &waitForLoads, const std::string &before, const std::string &after) {
  return byOneThread(kDescriptors + product(0) + kCommit) + kAwait + kAfter +
         "tcgen05.ld.sync.aligned.32x32b.x16.b32 " + registers(16) + ", [quarter]; " + waitForLoads + before +
         "bar.sync 0; setp.ne.u32 q, tid, 0; @q bra AGAIN; " + after + product(0) + kCommit +
         "AGAIN: WAIT2: mbarrier.try_wait.parity.shared::cta.b64 q, [mbar], 1; @!q bra WAIT2; ";
}

TEST(Tcgen05Order, OverwritingNeedsWaitAndBothFences) {
  const std::string wait = "tcgen05.wait::ld.sync.aligned; ", before = "tcgen05.fence::before_thread_sync; ";
  expectClean(twoRounds(wait, before, kAfter));
  expectOnly(FindingKind::MissingTensorFence, twoRounds(wait, before, ""));
  expectOnly(FindingKind::Overwrite, twoRounds(wait, "", kAfter));
  for (Policy policy : kPolicies) { // without a wait either of the two may come first, in each warp
    TensorBench bench = matrices();
    bench.body = twoRounds("", before, kAfter) + wait;
    bench.policy = policy;
    bench.run();
    EXPECT_FALSE(bench.found.empty());
    for (FindingKind kind : bench.found)
      EXPECT_TRUE(kind == FindingKind::Overwrite || kind == FindingKind::ReadBeforeLanded) << nameOf(kind);
  }
}

/// A stored by the warps, then read by the product.
std::string storedOperand(const std::string &between) {
  return "mov.b32 r0, 0; tcgen05.st.sync.aligned.32x32b.x8.b32 [quarter+32], {r0, r0, r0, r0, r0, r0, r0, r0}; " +
         between +
         byOneThread(kDescriptors + kAfter +
                     "add.u32 r1, taddr, 32; "
                     "tcgen05.mma.cta_group::1.kind::f16 [taddr], [r1], d1, 0x08040490, 0; " +
                     kCommit) +
         kAwait;
}

TEST(Tcgen05Order, StoresNeedTheirWait) {
  const std::string before = "tcgen05.fence::before_thread_sync; ", wait = "tcgen05.wait::st.sync.aligned; ";
  expectClean(storedOperand(wait + before + "bar.sync 0; "));
  for (Policy policy : kPolicies) {
    TensorBench bench = matrices();
    bench.body = storedOperand(before + "bar.sync 0; ") + wait;
    bench.policy = policy;
    bench.run();
    EXPECT_FALSE(bench.found.empty());
  }
}

TEST(Tcgen05Order, CopyThenProductOfOneThread) {
  expectClean(byOneThread(kDescriptors +
                          "tcgen05.cp.cta_group::1.128x256b [taddr+32], d0; add.u32 r1, taddr, 32; "
                          "tcgen05.mma.cta_group::1.kind::f16 [taddr], [r1], d1, 0x08040490, 0; "
                          "tcgen05.cp.cta_group::1.128x256b [taddr+32], d0; " +
                          kCommit) +
              kAwait);
}

TEST(Tcgen05Order, RegistersOfALoadInFlight) {
  std::string mma = byOneThread(kDescriptors + product(0) + kCommit) + kAwait + kAfter;
  std::string load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [quarter]; ";
  expectClean(mma + load + "tcgen05.wait::ld.sync.aligned; add.u32 r1, r0, 1;");
  expectOnly(FindingKind::RegisterInFlight, mma + load + "add.u32 r1, r0, 1; tcgen05.wait::ld.sync.aligned;");
}

TEST(Tcgen05Order, MovesRenameRegistersInFlight) {
  TensorBench bench = matrices();
  bench.body = "mov.b32 r1, tid; tcgen05.st.sync.aligned.32x32b.x1.b32 [quarter], {r1}; tcgen05.wait::st.sync.aligned; "
               "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r2}, [quarter]; mov.b32 r0, r2; "
               "tcgen05.wait::ld.sync.aligned; " +
               storeOutput(1);
  for (Policy policy : kPolicies) {
    bench.policy = policy;
    bench.found.clear();
    bench.expectClean();
    EXPECT_EQ(bench.output[16 * 77], 77u);
  }
}

TEST(Tcgen05Order, OnlyOneThreadIssues) {
  expectOnly(FindingKind::Operand, kDescriptors + "setp.ge.u32 q, tid, 32; @q bra ISSUED; " + product(0) +
                                       "setp.ne.u32 q, tid, 0; @q bra ISSUED; " + kCommit + "ISSUED: " + kAwait);
}

} // namespace
