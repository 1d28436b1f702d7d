// The order of warps: which of two may be faster, and by how much.
#include "headrace/Sim/Machine/Cluster.h"
#include "headrace/Sim/Machine/Program.h"
#include "headrace/Sim/Ptx/Parser.h"

#include "gtest/gtest.h"

using namespace headrace::sim;

namespace {

/// Two warps. The second arrives twice, with 2000 steps between; the first waits for the first of these phases, and
/// would do so for ever behind the second: a parity cannot tell a phase from the one after the next.
const char *const kOvertaken = R"(.version 9.0
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 smem[];
.visible .entry k() {
.reg .pred p; .reg .b32 tid, at, i; .reg .b64 from;
mov.u32 tid, %tid.x; mov.b64 from, smem; cvt.u32.u64 at, from; mov.b32 i, 0;
setp.ne.u32 p, tid, 0; @p bra READY; mbarrier.init.shared::cta.b64 [at], 1;
READY: bar.sync 0;
setp.lt.u32 p, tid, 32; @p bra WORK;
setp.ne.u32 p, tid, 32; @p bra END;
mbarrier.arrive.shared::cta.b64 _, [at];
FILL: add.u32 i, i, 1; setp.lt.u32 p, i, 666; @p bra FILL;
mbarrier.arrive.shared::cta.b64 _, [at];
bra END;
WORK: add.u32 i, i, 1; setp.lt.u32 p, i, 100; @p bra WORK;
WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [at], 0;
@!p bra WAIT;
END: ret;
}
)";

/// Whether the launch ends.
bool ends(Policy policy, uint64_t seed) {
  std::string error;
  ptx::ParseError parseError;
  auto module = ptx::parse(kOvertaken, "overtaken.ptx", parseError);
  auto program = Program::decode(*module, "k", error);
  GlobalMemory memory;
  Launch launch;
  launch.memory = &memory;
  launch.block = {64, 1, 1};
  launch.sharedBytes = 1024;
  launch.policy = policy;
  launch.seed = seed;
  Findings findings;
  Cluster cluster(*program, launch, 0, seed, findings);
  Cluster::State state = Cluster::State::Running;
  for (int turn = 0; turn < 1000 && state == Cluster::State::Running; ++turn)
    state = cluster.run(1 << 16);
  return state == Cluster::State::Finished;
}

TEST(Scheduler, AnyWarpMaySleepInRandomOrders) {
  int stuck = 0;
  for (uint64_t seed = 0; seed < 64; ++seed)
    stuck += !ends(Policy::Random, seed);
  EXPECT_GT(stuck, 0);
  EXPECT_LT(stuck, 64);
}

TEST(Scheduler, WarpsTakeTurnsInOtherOrders) {
  for (Policy policy : {Policy::Early, Policy::Late, Policy::Reversed})
    for (uint64_t seed = 0; seed < 16; ++seed)
      EXPECT_TRUE(ends(policy, seed));
}

} // namespace
