// mov of registers that an asynchronous operation has in its hands.
#include "headrace/Sim/Machine/Lanes.h"
#include "headrace/Sim/Machine/Program.h"
#include "headrace/Sim/Ptx/Parser.h"

#include "gtest/gtest.h"

using namespace headrace::sim;

namespace {

/// One warp in front of one instruction.
class MovInFlight : public testing::Test {
protected:
  void load(const std::string &instruction) {
    ptx::ParseError parseError;
    module = ptx::parse(".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<4>;\n" +
                            instruction + "\n}\n",
                        "test.ptx", parseError);
    ASSERT_TRUE(module) << parseError.message;
    std::string error;
    program = Program::decode(*module, "k", error);
    ASSERT_TRUE(program) << error;
    launch.memory = &memory;
    launch.block = {32, 1, 1};
    cluster = std::make_unique<Cluster>(*program, launch, 0, 1, findings);
    for (int lane = 0; lane < kLanes; ++lane)
      warp().cells(1)[lane] = 7;
    warp().define(1, ~LaneMask(0));
  }
  void run() {
    Lanes lanes(*cluster, *cluster->ctas[0], warp(), ~LaneMask(0), program->function->instructions[0]);
    EXPECT_EQ(program->code[0].run(lanes), Step::Done);
  }
  Warp &warp() { return *cluster->ctas[0]->warps[0]; }

  std::optional<ptx::Module> module;
  std::optional<Program> program;
  GlobalMemory memory;
  Launch launch;
  Findings findings;
  std::unique_ptr<Cluster> cluster;
};

TEST_F(MovInFlight, Renames) {
  load("mov.b32 %r2, %r1;");
  warp().takeOff(1, Flight::Accumulator);
  run();
  EXPECT_TRUE(findings.empty());
  EXPECT_EQ(warp().flight(2), Flight::Accumulator);
  warp().cells(1)[5] = 99; // the operation is performed
  warp().arrive(1);
  warp().land(1);
  EXPECT_EQ(warp().cells(2)[5], 99u);
  EXPECT_EQ(warp().flight(2), Flight::None);
}

TEST_F(MovInFlight, OntoAnAccumulatorIsAFinding) {
  load("mov.b32 %r2, 0;");
  warp().takeOff(2, Flight::Accumulator);
  run();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.sorted().front().finding.kind, FindingKind::RegisterInFlight);
}

TEST_F(MovInFlight, OntoACopyLetsItGo) {
  load("mov.b32 %r2, 3;");
  warp().takeOff(1, Flight::Accumulator);
  ASSERT_TRUE(warp().renameInFlight(1, 2));
  run();
  EXPECT_TRUE(findings.empty());
  EXPECT_EQ(warp().flight(2), Flight::None);
  EXPECT_EQ(warp().cells(2)[0], 3u);
}

TEST_F(MovInFlight, OfOtherRegistersIsAMov) {
  load("mov.b32 %r2, %r1;");
  warp().takeOff(3, Flight::Load);
  run();
  EXPECT_TRUE(findings.empty());
  EXPECT_EQ(warp().cells(2)[31], 7u);
  EXPECT_EQ(warp().flight(2), Flight::None);
}

} // namespace
