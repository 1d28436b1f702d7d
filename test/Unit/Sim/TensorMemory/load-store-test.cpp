// tcgen05.ld, st, cp and shift in kernels, and the spellings that are refused.
#include "TensorBench.h"

#include <cstring>

using namespace headrace::sim;

namespace {

TensorBench bench(const std::string &body, int words) {
  TensorBench result;
  result.input.resize(16);
  result.body = body;
  result.outWords = words;
  return result;
}

/// r<i> = thread << 8 | i.
std::string numbered(int count) {
  std::string text = "shl.b32 i, tid, 8; ";
  for (int i = 0; i < count; ++i)
    text += "or.b32 r" + std::to_string(i) + ", i, " + std::to_string(i) + "; ";
  return text;
}
const std::string kStored = "tcgen05.wait::st.sync.aligned; ", kLoaded = "tcgen05.wait::ld.sync.aligned; ";

TEST(Tcgen05LoadStore, ComesBackInEveryShape) {
  struct Case {
    const char *shape;
    int registers;
    const char *split;
  };
  for (Case test : {Case{"32x32b.x8", 8, ""}, Case{"16x64b.x8", 8, ""}, Case{"16x128b.x4", 8, ""},
                    Case{"16x256b.x2", 8, ""}, Case{"16x32bx2.x8", 8, ", 64"}}) {
    const std::string shape = std::string(test.shape), list = registers(test.registers);
    TensorBench run = bench(numbered(8) + "tcgen05.st.sync.aligned." + shape + ".b32 [quarter]" + test.split + ", " +
                                list + "; " + kStored + "tcgen05.ld.sync.aligned." + shape + ".b32 " + list +
                                ", [quarter]" + test.split + "; " + kLoaded + storeOutput(8),
                            8);
    run.expectClean();
    for (uint32_t thread = 0; thread < 128; ++thread)
      for (uint32_t i = 0; i < 8; ++i)
        ASSERT_EQ(run.output[thread * 8 + i], thread << 8 | i) << shape;
  }
}

TEST(Tcgen05LoadStore, ShapesSeeTheSameMemory) {
  // Stored row by row; a row of 8 columns is then a row of an mma fragment.
  TensorBench run = bench(numbered(8) + "tcgen05.st.sync.aligned.32x32b.x8.b32 [quarter], " + registers(8) + "; " +
                              kStored + "add.u32 r9, quarter, 0x100000; tcgen05.ld.sync.aligned.16x256b.x1.b32 " +
                              registers(4) + ", [r9]; " + kLoaded + storeOutput(4),
                          4);
  run.expectClean();
  for (uint32_t thread = 0; thread < 128; ++thread)
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t lane = thread % 32, row = thread / 32 * 32 + 16 + lane / 4 + 8 * (i / 2),
               column = 2 * (lane % 4) + i % 2;
      ASSERT_EQ(run.output[thread * 4 + i], row << 8 | column);
    }
}

TEST(Tcgen05LoadStore, Packing) {
  TensorBench run = bench("mov.b32 r0, 0x00020001; mov.b32 r1, 0x00040003; "
                          "tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [quarter], {r0, r1}; " +
                              kStored +
                              "tcgen05.ld.sync.aligned.32x32b.x4.b32 {r0, r1, r2, r3}, [quarter]; "
                              "tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {r4, r5}, [quarter]; " +
                              kLoaded + storeOutput(6),
                          6);
  run.expectClean();
  const uint32_t expected[] = {1, 2, 3, 4, 0x00020001, 0x00040003};
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(run.output[6 * 50 + i], expected[i]);
}

TEST(Tcgen05Copy, ScaleFactors) {
  TensorBench run;
  run.input.resize(512);
  for (size_t i = 0; i < run.input.size(); ++i)
    run.input[i] = uint8_t(i * 7);
  run.outWords = 4;
  run.body = byOneThread(descriptor(0, 0, 16, 128) + "tcgen05.cp.cta_group::1.32x128b.warpx4 [taddr], d0; " + kCommit) +
             kAwait + kAfter + loadOutput(4);
  run.expectClean();
  for (int thread = 0; thread < 128; ++thread) // row r % 32 of each 512 bytes has 16 bytes (hardware.md 7.8)
    EXPECT_EQ(0, std::memcmp(&run.output[thread * 4], &run.input[thread % 32 * 16], 16)) << thread;
}

TEST(Tcgen05Shift, RowsMoveWithin32Lanes) {
  TensorBench run = bench(numbered(8) + "tcgen05.st.sync.aligned.32x32b.x8.b32 [quarter], " + registers(8) + "; " +
                              kStored + "tcgen05.fence::before_thread_sync; bar.sync 0; " +
                              byOneThread(kAfter + std::string("tcgen05.shift.cta_group::1.down [taddr]; ") + kCommit) +
                              kAwait + kAfter + loadOutput(8),
                          8);
  run.expectClean();
  for (uint32_t lane = 0; lane < 128; ++lane)
    EXPECT_EQ(run.output[lane * 8 + 5], (lane % 32 == 31 ? lane : lane + 1) << 8 | 5);
}

TEST(Tcgen05Spelling, Refused) {
  auto expectError = [](const std::string &instruction, const std::string &part) {
    EXPECT_NE(TensorBench::decodeError(instruction).find(part), std::string::npos)
        << TensorBench::decodeError(instruction);
  };
  expectError("tcgen05.mma.sp.cta_group::1.kind::f16 [r0], d0, d1, [r1], r2, 0;", "sparse");
  expectError("tcgen05.mma.cta_group::1.kind::f64 [r0], d0, d1, r2, 0;", "expected .kind::");
  expectError("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [r0], d0, d1, r2, [r3], [r4], 0;", "block16");
  expectError("tcgen05.mma.cta_group::1.kind::f8f6f4 [r0], d0, d1, r2, 0, 3;", "scale-input-d");
  expectError("tcgen05.mma.cta_group::1.kind::f16.collector::b0::fill [r0], d0, d1, r2, 0;", "collector");
  expectError("tcgen05.cp.cta_group::1.32x128b [r0], d0;", "expected a shape");
  expectError("tcgen05.cp.cta_group::1.128x256b.b8x16.b4x16_p64 [r0], d0;", "decompression");
  expectError("tcgen05.ld.sync.aligned.32x32b.x3.b32 {r0, r1, r2}, [r3];", "expected a shape");
  expectError("tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0}, [r3];", "expected 2 registers");
  expectError("tcgen05.ld.red.sync.aligned.32x32b.x2.b32 {r0, r1}, [r3];", "expected .sync");
  expectError("tcgen05.frob;", "tcgen05.frob is not known");
}

TEST(LaunchControl, EveryRequestFails) {
  TensorBench run = bench(byOneThread("mbarrier.arrive.expect_tx.shared::cta.b64 _, [mbar], 16; "
                                      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                                      ".b128 [base+61472], [mbar]; ") +
                              kAwait +
                              "ld.shared.v2.b64 {d0, d1}, [base+61472]; mov.b128 h, {d0, d1}; "
                              "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 q, h; selp.b32 r0, 1, 0, q; " +
                              storeOutput(1),
                          1);
  run.expectClean();
  EXPECT_EQ(run.output[100], 0u);
}

} // namespace
