// wgmma.mma_async on random matrices in every layout, against a product of the matrices.
#include "WgmmaRun.h"

using namespace headrace::sim;

namespace {

const MatrixMachine::Options kWarpgroup = {4, "sm_90a", Policy::Random};
constexpr OperandLayout kA = {128, false, 0x2000}, kB = {128, false, 0x10000};

std::string grouped(const std::string &instructions) { return kWgmmaFence + instructions + kWgmmaCommit + kWgmmaWait; }

TEST(Wgmma, MultipliesAllTypes) {
  for (const char *rest : {"m64n8k16.f32.f16.f16", "m64n24k16.f16.f16.f16", "m64n256k16.f32.bf16.bf16",
                           "m64n40k8.f32.tf32.tf32", "m64n64k32.f32.e4m3.e5m2", "m64n16k32.f16.e5m2.e4m3",
                           "m64n32k32.s32.s8.u8", "m64n48k32.s32.u8.s8.satfinite", "m64n16k256.s32.b1.b1.and.popc"})
    for (uint32_t swizzle : {0u, 32u, 64u, 128u}) {
      WgmmaRun run(rest, {swizzle, false, 0x2000}, {swizzle, false, 0x10000});
      MatrixMachine machine(grouped(run.text()), kWarpgroup);
      ASSERT_EQ(machine.error, "") << rest;
      run.load(machine);
      machine.run();
      run.expectProduct(machine);
      machine.expectNoFindings();
    }
}

TEST(Wgmma, MultipliesRegistersOfA) {
  for (const char *rest : {"m64n8k16.f32.f16.f16", "m64n64k16.f32.bf16.bf16", "m64n16k8.f32.tf32.tf32",
                           "m64n24k32.f32.e4m3.e4m3", "m64n32k32.s32.s8.s8", "m64n8k256.s32.b1.b1.and.popc"}) {
    WgmmaRun run(rest, kA, kB);
    MatrixMachine machine(grouped(run.text("{%r200, %r201, %r202, %r203}")), kWarpgroup);
    ASSERT_EQ(machine.error, "") << rest;
    run.load(machine);
    machine.run();
    run.expectProduct(machine);
    machine.expectNoFindings();
  }
}

TEST(Wgmma, ReadsBothMajors) {
  for (uint32_t swizzle : {0u, 32u, 64u, 128u})
    for (bool transposesA : {false, true})
      for (bool transposesB : {false, true}) {
        WgmmaRun run("m64n96k16.f32.bf16.bf16", {swizzle, transposesA, 0x2000}, {swizzle, transposesB, 0x10000});
        MatrixMachine machine(grouped(run.text()), kWarpgroup);
        ASSERT_EQ(machine.error, "");
        run.load(machine);
        machine.run();
        run.expectProduct(machine);
        machine.expectNoFindings();
      }
}

TEST(Wgmma, ObeysImmediates) {
  WgmmaRun run("m64n16k16.f32.f16.f16", kA, kB);
  const struct {
    const char *rest;
    double factor, scaleOfC;
  } cases[] = {{", 0, 1, 1, 0, 0", 1, 0},   {", 1, -1, 1, 0, 0", -1, 1}, {", 1, 1, -1, 0, 0", -1, 1},
               {", 1, -1, -1, 0, 0", 1, 1}, {", %p0, 1, 1, 0, 0", 1, 0}, {", !%p0, 1, 1, 0, 0", 1, 1}};
  for (const auto &each : cases) {
    MatrixMachine machine(grouped(run.text("%d0", each.rest)), kWarpgroup);
    ASSERT_EQ(machine.error, "") << each.rest;
    run.load(machine);
    machine.setAll("%p0", 0);
    machine.run();
    run.expectProduct(machine, each.factor, each.scaleOfC);
    machine.expectNoFindings();
  }
}

// Descriptors have 18 bits of address: they mean the memory of the CTA that executes the wgmma.
TEST(Wgmma, ReadsItsOwnCta) {
  WgmmaRun run("m64n32k16.f32.bf16.bf16", kA, kB), other("m64n32k16.f32.bf16.bf16", kA, kB);
  other.a.at(5, 7) += 1;
  MatrixMachine machine(grouped(run.text()), {4, "sm_90a", Policy::Random, 2});
  ASSERT_EQ(machine.error, "");
  run.load(machine, 0, 0);
  other.load(machine, 0, 1);
  machine.run();
  run.expectProduct(machine, 1, 1, 0, 0);
  other.expectProduct(machine, 1, 1, 0, 1);
  machine.expectNoFindings();
}

TEST(Wgmma, RefusesOperands) {
  WgmmaRun run("m64n16k16.f32.f16.f16", kA, kB), bytes("m64n16k32.f32.e4m3.e4m3", kA, kB);
  for (const std::string &text :
       {run.text("%d0", ", 1, 1, 1, 0"), run.text("%d0", ", 1, 2, 1, 0, 0"), run.text("%d0", ", 1, 1, 1, 0, 2"),
        run.text("{%r200, %r201}"), bytes.text("%d0", ", 1, 1, 1, 0, 0"), run.text("{%r200, %r201, %r202, 0}")})
    EXPECT_NE(MatrixMachine(text, kWarpgroup).error, "") << text;
  EXPECT_NE(MatrixMachine("wgmma.wait_group.sync.aligned -1;", kWarpgroup).error, "");
  EXPECT_NE(MatrixMachine("wgmma.fence.aligned;", kWarpgroup).error, "");
  EXPECT_NE(MatrixMachine("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r0, %r1, %r2, %r3}, %d0, %d1, %r9, "
                          "0, 1, 1, 1, 0, 0;",
                          kWarpgroup)
                .error.find("got 'sp'"),
            std::string::npos);
}

} // namespace
