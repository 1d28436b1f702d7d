// Runs small kernels with tensor memory: PTX around a test's own instructions, one array in and one out.
#ifndef HEADRACE_TEST_UNIT_SIM_TENSORMEMORY_TENSORBENCH_H
#define HEADRACE_TEST_UNIT_SIM_TENSORMEMORY_TENSORBENCH_H

#include "headrace/Sim/Machine/Cluster.h"
#include "headrace/Sim/Machine/Program.h"
#include "headrace/Sim/Ptx/Parser.h"

#include "gtest/gtest.h"

#include <set>
#include <string>
#include <vector>

namespace headrace::sim {

/// A kernel of 128 threads for each CTA. Each CTA copies its part of the input to the start of its shared memory.
/// Registers for the test: r0 to r299, d0 to d29, p0 to p9; `tid`, `rank`, `base` (of shared memory), `mbar` (of one
/// arrival), `taddr` (of `columns` columns), `quarter` (of the warp, as a tensor memory address), `mine` (the thread's
/// part of the output, `outWords` words).
struct TensorBench {
  int ctas = 1;
  int columns = 128;
  int outWords = 16;
  std::vector<uint8_t> input; // of all CTAs, one behind the other, a multiple of 16 bytes each
  std::string body;
  std::string prologue = "tcgen05.relinquish_alloc_permit.cta_group::G.sync.aligned;"; // by the warp that allocates
  bool frees = true;
  bool fencesOperands = true; // fence.proxy.async behind the copy of the input
  Policy policy = Policy::Random;
  uint64_t seed = 0;

  // Results.
  std::vector<uint32_t> output; // [cta][thread][word]
  std::set<FindingKind> found;
  std::vector<std::string> messages;

  /// Runs `body`. Fails the test if it does not decode.
  void run() {
    std::string text = kernel(), error;
    ptx::ParseError parseError;
    auto module = ptx::parse(text, "bench.ptx", parseError);
    ASSERT_TRUE(module) << parseError.line << ": " << parseError.message;
    auto program = Program::decode(*module, "k", error);
    ASSERT_TRUE(program) << error;
    output.assign(size_t(ctas) * 128 * outWords, 0xDEADBEEF);
    GlobalMemory memory;
    Launch launch;
    uint64_t arrays[] = {memory.map("in", input.data(), int64_t(input.size())),
                         memory.map("out", reinterpret_cast<uint8_t *>(output.data()), int64_t(output.size()) * 4)};
    launch.parameters.assign(reinterpret_cast<uint8_t *>(arrays), reinterpret_cast<uint8_t *>(arrays + 2));
    launch.memory = &memory;
    launch.block = {128, 1, 1};
    launch.grid = launch.cluster = {uint32_t(ctas), 1, 1};
    launch.sharedBytes = kSharedBytes;
    launch.policy = policy;
    launch.seed = seed;
    Findings findings;
    Cluster cluster(*program, launch, 0, seed, findings);
    Cluster::State state = Cluster::State::Running;
    for (int turn = 0; turn < 1000 && state == Cluster::State::Running; ++turn)
      state = cluster.run(1 << 16);
    EXPECT_TRUE(state == Cluster::State::Finished || state == Cluster::State::Stuck);
    for (const Findings::Entry &entry : findings.sorted()) {
      found.insert(entry.finding.kind);
      messages.push_back(entry.finding.message);
    }
  }

  void expectClean() {
    run();
    EXPECT_TRUE(found.empty()) << ::testing::PrintToString(messages);
  }
  void expectOnly(FindingKind kind) {
    run();
    EXPECT_EQ(found, std::set{kind}) << nameOf(kind) << ", got " << ::testing::PrintToString(messages);
  }

  /// What the error is that stops `instruction` from being decoded.
  static std::string decodeError(const std::string &instruction) {
    TensorBench bench;
    bench.body = instruction;
    std::string text = bench.kernel(), error;
    ptx::ParseError parseError;
    auto module = ptx::parse(text, "bench.ptx", parseError);
    EXPECT_TRUE(module) << parseError.line << ": " << parseError.message;
    if (module)
      Program::decode(*module, "k", error);
    return error;
  }

private:
  static constexpr int kSharedBytes = 0x10000, kMbarrier = 0xF000, kAddress = 0xF010;

  std::string kernel() const {
    const std::string sync =
        ctas == 1 ? "bar.sync 0;" : "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
    std::string text = R"(.version 9.0
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .pred p<10>, q; .reg .b32 r<300>; .reg .b64 d<30>; .reg .b128 h;
.reg .b32 tid, rank, base, mbar, taddr, quarter, i, at; .reg .b64 mine, from;
mov.u32 tid, %tid.x; mov.u32 rank, %cluster_ctarank;
mov.b64 from, smem; cvt.u32.u64 base, from; add.u32 mbar, base, MBAR;
ld.param.u64 from, [in]; mad.wide.u32 from, rank, BYTES, from;
shl.b32 i, tid, 4;
COPY: setp.ge.u32 q, i, BYTES; @q bra COPIED;
cvt.u64.u32 mine, i; add.s64 mine, mine, from; ld.global.v4.b32 {r0, r1, r2, r3}, [mine];
add.u32 at, base, i; st.shared.v4.b32 [at], {r0, r1, r2, r3}; add.u32 i, i, 2048; bra COPY;
COPIED: PROXY
setp.ne.u32 q, tid, 0; @q bra READY; mbarrier.init.shared::cta.b64 [mbar], 1; fence.mbarrier_init.release.cluster;
READY: setp.ge.u32 q, tid, 32; @q bra ALLOCATED;
tcgen05.alloc.cta_group::G.sync.aligned.shared::cta.b32 [base+ADDR], COLUMNS; PROLOGUE
ALLOCATED: tcgen05.fence::before_thread_sync; SYNC tcgen05.fence::after_thread_sync;
ld.shared.b32 taddr, [base+ADDR];
shr.u32 quarter, tid, 5; shl.b32 quarter, quarter, 21; add.u32 quarter, quarter, taddr;
mad.lo.u32 i, rank, 128, tid; ld.param.u64 mine, [out]; mad.wide.u32 mine, i, OUT, mine;
BODY
tcgen05.fence::before_thread_sync; SYNC tcgen05.fence::after_thread_sync;
setp.ge.u32 q, tid, 32; @q bra END; FREE
END: ret;
}
)";
    replace(text, "BODY", body);
    replace(text, "FREE", frees ? "tcgen05.dealloc.cta_group::G.sync.aligned.b32 taddr, COLUMNS;" : "");
    replace(text, "PROLOGUE", prologue);
    replace(text, "PROXY", fencesOperands ? "fence.proxy.async.shared::cta;" : "");
    replace(text, "SYNC", sync);
    replace(text, "cta_group::G", "cta_group::" + std::to_string(ctas));
    replace(text, "MBAR", std::to_string(kMbarrier));
    replace(text, "ADDR", std::to_string(kAddress));
    replace(text, "COLUMNS", std::to_string(columns));
    replace(text, "BYTES", std::to_string(input.size() / ctas));
    replace(text, "OUT", std::to_string(outWords * 4));
    return text;
  }

  static void replace(std::string &text, const std::string &what, const std::string &by) {
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
      text.replace(at, what.size(), by);
  }
};

// Pieces of bodies.

/// Only thread 0, of the first CTA, runs `instructions`.
inline std::string byOneThread(const std::string &instructions) {
  return "or.b32 i, tid, rank; setp.ne.u32 q, i, 0; @q bra ISSUED; " + instructions + " ISSUED: ";
}
/// d<number> = a descriptor without swizzle of what is at `offset`.
inline std::string descriptor(int number, int offset, int leading, int stride) {
  std::string name = "d" + std::to_string(number);
  uint64_t fields = uint64_t(leading / 16) << 16 | uint64_t(stride / 16) << 32 | uint64_t(1) << 46;
  return "add.u32 at, base, " + std::to_string(offset) + "; and.b32 at, at, 0x3FFFF; shr.u32 at, at, 4; cvt.u64.u32 " +
         name + ", at; or.b64 " + name + ", " + name + ", " + std::to_string(fields) + "; ";
}
/// Waits for the first phase of `mbar`.
inline const char *const kAwait = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 q, [mbar], 0; @!q bra WAIT; ";
inline const char *const kCommit = "tcgen05.commit.cta_group::G.mbarrier::arrive::one.shared::cluster.b64 [mbar]; ";
inline const char *const kAfter = "tcgen05.fence::after_thread_sync; ";

/// "{r0, r1, ...}"
inline std::string registers(int count, int first = 0) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i ? ", r" : "r") + std::to_string(first + i);
  return text + "}";
}
/// Stores r0, r1, ... to the thread's part of the output.
inline std::string storeOutput(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "st.global.b32 [mine+" + std::to_string(4 * i) + "], r" + std::to_string(i) + "; ";
  return text;
}
/// Reads `count` columns of the thread's lane, from `column` on, to the output.
inline std::string loadOutput(int count, int column = 0) {
  return "tcgen05.ld.sync.aligned.32x32b.x" + std::to_string(count) + ".b32 " + registers(count) + ", [quarter+" +
         std::to_string(column) + "]; tcgen05.wait::ld.sync.aligned; " + storeOutput(count);
}

} // namespace headrace::sim

#endif
