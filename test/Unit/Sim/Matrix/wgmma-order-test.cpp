// Registers of wgmma in flight: what is accused, and what is not.
#include "WgmmaRun.h"

using namespace headrace::sim;

namespace {

constexpr OperandLayout kA = {128, false, 0x2000}, kB = {128, false, 0x10000};
constexpr Policy kPolicies[] = {Policy::Early, Policy::Late, Policy::Reversed, Policy::Random};

class WgmmaOrderTest : public testing::Test {
protected:
  /// Runs `body` under each policy, with the operands of `run`.
  template <typename Check> void underAllPolicies(const std::string &body, Check check) {
    for (Policy policy : kPolicies) {
      MatrixMachine machine(body, {4, "sm_90a", policy});
      ASSERT_EQ(machine.error, "");
      run.load(machine);
      for (int reg = 210; reg < 220; ++reg)
        machine.setAll("%r" + std::to_string(reg), 0x1234567 * reg);
      machine.run();
      check(machine);
    }
  }
  void expectProducts(const std::string &body, double factor, int first = 0) {
    underAllPolicies(body, [&](MatrixMachine &machine) {
      run.expectProduct(machine, factor, 1, first);
      machine.expectNoFindings();
    });
  }
  void expectFindingIn(const std::string &body, const std::string &message) {
    underAllPolicies(body, [&](MatrixMachine &machine) { machine.expectFinding(message); });
  }
  void expectFineIn(const std::string &body) {
    underAllPolicies(body, [&](MatrixMachine &machine) { machine.expectNoFindings(); });
  }
  /// Copies of all accumulators, as LLVM makes them for the operands of inline PTX.
  std::string moves(int to, int from) const {
    std::string result;
    for (int reg = 0; reg < run.form.registersOfD(); ++reg)
      result += "mov.b32 %r" + std::to_string(to + reg) + ", %r" + std::to_string(from + reg) + ";\n";
    return result;
  }

  WgmmaRun run{"m64n16k16.f32.bf16.bf16", kA, kB};
  WgmmaRun wide{"m64n32k16.f32.bf16.bf16", kA, kB};
  const std::string mma = run.text();
  const std::string wait1 = "wgmma.wait_group.sync.aligned 1;\n";
  const std::string ofRegisters = run.text("{%r200, %r201, %r202, %r203}");
};

TEST_F(WgmmaOrderTest, ChainsAccumulate) {
  expectProducts(kWgmmaFence + mma + mma + mma + kWgmmaCommit + kWgmmaWait, 3);
}

TEST_F(WgmmaOrderTest, ChainsNeedNoFenceAcrossGroups) {
  expectProducts(kWgmmaFence + mma + kWgmmaCommit + mma + kWgmmaCommit + wait1 + mma + kWgmmaCommit + kWgmmaWait, 3);
}

TEST_F(WgmmaOrderTest, AccumulatorsThatStayedNeedNoFence) {
  expectProducts(kWgmmaFence + mma + kWgmmaCommit + kWgmmaWait + mma + kWgmmaCommit + kWgmmaWait, 2);
}

TEST_F(WgmmaOrderTest, CopiesInFlightGoOn) {
  expectProducts(kWgmmaFence + mma + moves(40, 0) + run.text("%d0", "", 40) + kWgmmaCommit + kWgmmaWait, 2, 40);
}

TEST_F(WgmmaOrderTest, CopiesKeepTheirValue) {
  // %r40.. is what the first left, though a second goes on in %r0.. before anything has landed.
  std::string body = kWgmmaFence + mma + moves(40, 0) + mma + kWgmmaCommit + kWgmmaWait;
  expectProducts(body, 1, 40);
  expectProducts(body, 2, 0);
}

TEST_F(WgmmaOrderTest, CopiesGoRoundALoop) {
  std::string trip = run.text("%d0", "", 40) + kWgmmaCommit + moves(0, 40) + moves(40, 0);
  expectProducts(moves(40, 0) + kWgmmaFence + trip + trip + trip + kWgmmaWait, 3, 0);
}

TEST_F(WgmmaOrderTest, TiedCopiesNeedNoFence) {
  expectProducts(kWgmmaFence + moves(40, 0) + run.text("%d0", "", 40) + kWgmmaCommit + kWgmmaWait + moves(80, 40) +
                     run.text("%d0", "", 80) + kWgmmaCommit + kWgmmaWait,
                 2, 80);
}

TEST_F(WgmmaOrderTest, FirstNeedsFence) {
  expectFindingIn(mma + kWgmmaCommit + kWgmmaWait, "wgmma uses registers without a wgmma.fence before");
}

TEST_F(WgmmaOrderTest, WrittenAccumulatorNeedsFence) {
  std::string write = "add.u32 %r3, %r3, 4096;\n";
  std::string first = kWgmmaFence + mma + kWgmmaCommit + kWgmmaWait + write;
  expectFindingIn(first + mma + kWgmmaCommit + kWgmmaWait, "wgmma uses %r3, written since the last wgmma.fence");
  expectFineIn(first + kWgmmaFence + mma + kWgmmaCommit + kWgmmaWait);
}

TEST_F(WgmmaOrderTest, ZeroedAccumulatorNeedsFence) {
  std::string first = "mov.b32 %r3, 0;\n" + kWgmmaFence + mma + kWgmmaCommit + kWgmmaWait + "mov.b32 %r3, 0;\n";
  expectFindingIn(first + mma + kWgmmaCommit + kWgmmaWait, "wgmma uses %r3, written since the last wgmma.fence");
  expectFineIn(first + kWgmmaFence + mma + kWgmmaCommit + kWgmmaWait);
}

TEST_F(WgmmaOrderTest, OverwrittenAccumulatorNeedsNoneWithoutScaleD) {
  expectFineIn(kWgmmaFence + mma + kWgmmaCommit + kWgmmaWait + "mov.b32 %r3, 0;\n" +
               run.text("%d0", ", 0, 1, 1, 0, 0") + kWgmmaCommit + kWgmmaWait);
}

TEST_F(WgmmaOrderTest, WrittenRegisterOfANeedsFence) {
  std::string write = "add.u32 %r201, %r201, 4096;\n", end = kWgmmaCommit + kWgmmaWait;
  expectFindingIn(kWgmmaFence + write + ofRegisters + end, "wgmma uses %r201, written since the last wgmma.fence");
  expectFineIn(write + kWgmmaFence + ofRegisters + end);
}

TEST_F(WgmmaOrderTest, AccumulatorReadInFlight) {
  std::string start = kWgmmaFence + mma + kWgmmaCommit, read = "add.u32 %r210, %r3, 1;\n";
  expectFindingIn(start + read + kWgmmaWait, "reads %r3 in the hands of wgmma");
  expectFineIn(start + kWgmmaWait + read);
}

TEST_F(WgmmaOrderTest, WaitLandsOnlyOlderGroups) {
  std::string start = kWgmmaFence + mma + kWgmmaCommit + run.text("%d0", "", 40) + kWgmmaCommit + wait1;
  auto body = [&](const char *read) { return start + read + kWgmmaWait; };
  for (Policy policy : kPolicies) {
    for (const char *read : {"add.u32 %r210, %r3, 1;\n", "add.u32 %r210, %r43, 1;\n"}) {
      MatrixMachine machine(body(read), {4, "sm_90a", policy});
      run.load(machine, 40);
      run.load(machine, 0);
      machine.run();
      if (std::string(read).find("%r43") != std::string::npos)
        machine.expectFinding("reads %r43 in the hands of wgmma");
      else
        machine.expectNoFindings();
    }
  }
}

TEST_F(WgmmaOrderTest, WriteOfRegisterOfAInFlight) {
  std::string start = kWgmmaFence + ofRegisters + kWgmmaCommit, write = "add.u32 %r201, %r210, 1;\n";
  expectFindingIn(start + write + kWgmmaWait, "writes %r201 in the hands of wgmma");
  expectFineIn(start + kWgmmaWait + write);
}

TEST_F(WgmmaOrderTest, UncommittedIsNotWaitedFor) {
  expectFindingIn(kWgmmaFence + mma + kWgmmaWait + "add.u32 %r210, %r3, 1;\n", "reads %r3 in the hands of wgmma");
}

TEST_F(WgmmaOrderTest, AccumulatorsOfAnotherShape) {
  std::string end = kWgmmaCommit + kWgmmaWait;
  std::string other = wide.text("%d0", ", 0, 1, 1, 0, 0");
  expectFindingIn(kWgmmaFence + mma + kWgmmaCommit + other + end,
                  "wgmma of m64n32k16 has %r0 as accumulator 0, a pending one of m64n16k16 at PTX line");
  expectFineIn(kWgmmaFence + mma + end + other + end);
}

TEST_F(WgmmaOrderTest, AccumulatorsInAnotherOrder) {
  expectFindingIn(kWgmmaFence + mma + run.text("%d0", "", 1) + kWgmmaCommit + kWgmmaWait,
                  "has %r1 as accumulator 0, a pending one of m64n16k16 at PTX line");
}

TEST_F(WgmmaOrderTest, AccumulatorAsA) {
  std::string end = kWgmmaCommit + kWgmmaWait;
  std::string next = run.text("{%r0, %r1, %r2, %r3}", "", 40);
  expectFindingIn(moves(40, 0) + kWgmmaFence + mma + next + end, "wgmma reads %r0 as A");
  expectFineIn(moves(40, 0) + kWgmmaFence + mma + end + kWgmmaFence + next + end);
}

TEST_F(WgmmaOrderTest, RegisterOfAAsAccumulator) {
  std::string next = run.text("%d0", ", 0, 1, 1, 0, 0", 200);
  expectFindingIn(kWgmmaFence + ofRegisters + next + kWgmmaCommit + kWgmmaWait,
                  "wgmma writes %r200, which a pending wgmma reads as A");
}

TEST_F(WgmmaOrderTest, UndefinedAccumulator) {
  std::string end = kWgmmaCommit + kWgmmaWait;
  expectFindingIn(kWgmmaFence + run.text("%d0", "", 60) + end, "reads %r60, which has no value");
  expectFineIn(kWgmmaFence + run.text("%d0", ", 0, 1, 1, 0, 0", 60) + end);
}

TEST_F(WgmmaOrderTest, DescriptorsMustAgree) {
  for (Policy policy : kPolicies) {
    MatrixMachine machine(kWgmmaFence + mma + kWgmmaCommit + kWgmmaWait, {4, "sm_90a", policy});
    run.load(machine);
    machine.cells("%d1", 2)[9] += 2;
    machine.run();
    machine.expectFinding("operand: expected one descriptor of B in all threads of the warpgroup");
  }
}

TEST_F(WgmmaOrderTest, DescriptorBits) {
  MatrixMachine machine(kWgmmaFence + mma + kWgmmaCommit + kWgmmaWait, {4, "sm_90a", Policy::Early});
  run.load(machine);
  machine.setAll("%d1", run.b.descriptor() | uint64_t(1) << 46);
  machine.run();
  machine.expectFinding("has bits that must be 0: 0x0000400000000000");
}

TEST_F(WgmmaOrderTest, SharedMemoryOverwrittenInFlight) {
  const std::string write = "st.shared.b32 [%r220], %r210;\n", start = kWgmmaFence + mma + kWgmmaCommit;
  for (Policy policy : kPolicies) {
    for (bool waits : {false, true}) {
      MatrixMachine machine(waits ? start + kWgmmaWait + write : start + write + kWgmmaWait, {4, "sm_90a", policy});
      ASSERT_EQ(machine.error, "");
      run.load(machine);
      machine.setAll("%r210", 0);
      for (int thread = 0; thread < 4 * kLanes; ++thread)
        machine.cells("%r220", thread / kLanes)[thread % kLanes] = kB.base + 4 * thread;
      machine.define("%r220");
      machine.run();
      if (waits)
        machine.expectNoFindings();
      else // whichever of the two was performed first
        EXPECT_FALSE(machine.findings.empty());
    }
  }
}

} // namespace
