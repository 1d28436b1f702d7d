// Control flow, and what lanes of a warp tell each other.
#include "Running.h"

#include "headrace/Sim/Numerics/Float.h"

using namespace headrace::sim;

namespace {

/// The result of each lane of a shfl of lane + 100; the predicate in bit 32.
Snippet shuffle(const std::string &mode, int b, int c) {
  return Snippet("add.s32 %r1, %r30, 100;\nshfl.sync." + mode + ".b32 %r2|%p1, %r1, " + std::to_string(b) + ", " +
                 std::to_string(c) + ", -1;\nselp.b32 %r3, 1, 0, %p1;\nmov.b64 %d31, {%r2, %r3};");
}

void expectShuffle(const Snippet &run, int lane, int from, bool inRange) {
  EXPECT_EQ(run.result(lane), static_cast<uint64_t>(from + 100) | uint64_t(inRange) << 32) << "lane " << lane;
}

TEST(ScalarWarp, ShufflesInEveryMode) {
  Snippet index = shuffle("idx", 5, 31), up = shuffle("up", 3, 0), down = shuffle("down", 3, 31),
          butterfly = shuffle("bfly", 16, 31);
  for (int lane = 0; lane < 32; ++lane) {
    expectShuffle(index, lane, 5, true);
    expectShuffle(up, lane, lane < 3 ? lane : lane - 3, lane >= 3);
    expectShuffle(down, lane, lane > 28 ? lane : lane + 3, lane <= 28);
    expectShuffle(butterfly, lane, lane ^ 16, true);
  }
}

TEST(ScalarWarp, ShufflesWithinSegments) {
  const int segments = 0x1800 | 7; // of eight lanes
  Snippet index = shuffle("idx", 10, segments), down = shuffle("down", 1, segments);
  Snippet up = shuffle("up", 1, 0x1800);
  for (int lane = 0; lane < 32; ++lane) {
    expectShuffle(index, lane, (lane & 24) | 2, true);
    expectShuffle(down, lane, lane % 8 == 7 ? lane : lane + 1, lane % 8 != 7);
    expectShuffle(up, lane, lane % 8 == 0 ? lane : lane - 1, lane % 8 != 0);
  }
}

TEST(ScalarWarp, WaitsForTheLanesOfTheMask) {
  // Odd lanes take another way and come later.
  Snippet run(
      "and.b32 %r1, %r30, 1;\nsetp.eq.u32 %p1, %r1, 0;\nmov.b32 %r2, %r30;\n@%p1 bra JOIN;\nadd.s32 %r2, %r2, 1000;\n"
      "add.s32 %r2, %r2, 1000;\nJOIN:\nshfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\ncvt.u64.u32 %d31, %r3;");
  EXPECT_EQ(run.messages(), "");
  EXPECT_EQ(run.result(0), 2001u);
  EXPECT_EQ(run.result(1), 0u);
}

TEST(ScalarWarp, GroupsWithMasksOfTheirOwnNeedNotMeet) {
  Snippet run(
      "setp.lt.u32 %p1, %r30, 16;\n@!%p1 bra HIGH;\nshfl.sync.idx.b32 %r3, %r30, 3, 31, 0xFFFF;\nbra DONE;\nHIGH:\n"
      "shfl.sync.idx.b32 %r3, %r30, 20, 31, 0xFFFF0000;\nDONE:\ncvt.u64.u32 %d31, %r3;");
  EXPECT_EQ(run.messages(), "");
  EXPECT_EQ(run.result(0), 3u);
  EXPECT_EQ(run.result(31), 20u);
}

TEST(ScalarWarp, ALaneThatNeverComesIsADeadlock) {
  Snippet run("setp.eq.u32 %p1, %r30, 0;\n@%p1 bra SKIP;\nshfl.sync.idx.b32 %r3, %r30, 3, 31, -1;\nSKIP:\n"
              "shfl.sync.idx.b32 %r4, %r30, 3, 31, -1;");
  ASSERT_FALSE(run.findings.empty());
  EXPECT_EQ(run.findings.sorted().front().finding.kind, FindingKind::Deadlock);
}

TEST(ScalarWarp, LanesThatExitedAreNotAwaited) {
  Snippet run("setp.lt.u32 %p1, %r30, 8;\n@%p1 exit;\nvote.sync.ballot.b32 %r1, 1, -1;\ncvt.u64.u32 %d31, %r1;");
  EXPECT_EQ(run.messages(), "");
  EXPECT_EQ(run.result(20), 0xFFFFFF00u);
}

TEST(ScalarWarp, ReportsMasksAndSourcesThatAreWrong) {
  EXPECT_NE(Snippet("shfl.sync.idx.b32 %r1, %r30, 20, 31, 0xFFFF;").messages().find("membermask"), std::string::npos);
  EXPECT_EQ(Snippet("setp.lt.u32 %p1, %r30, 4;\n@%p1 vote.sync.any.pred %p2, %p1, 0xF;").messages(), "");
}

TEST(ScalarWarp, Votes) {
  const std::string setup = "setp.lt.u32 %p1, %r30, 5;\nsetp.lt.u32 %p2, %r30, 99;\n";
  EXPECT_EQ(resultOf(setup + "vote.sync.ballot.b32 %r1, %p1, -1;\ncvt.u64.u32 %d31, %r1;"), 31u);
  EXPECT_EQ(resultOf(setup + "vote.sync.ballot.b32 %r1, !%p1, -1;\ncvt.u64.u32 %d31, %r1;"), 0xFFFFFFE0u);
  EXPECT_TRUE(predicateOf(setup + "vote.sync.any.pred %p15, %p1, -1;"));
  EXPECT_FALSE(predicateOf(setup + "vote.sync.all.pred %p15, %p1, -1;"));
  EXPECT_TRUE(predicateOf(setup + "vote.sync.all.pred %p15, %p2, -1;"));
  EXPECT_FALSE(predicateOf(setup + "vote.sync.uni.pred %p15, %p1, -1;"));
  EXPECT_TRUE(predicateOf(setup + "vote.sync.uni.pred %p15, !%p2, -1;"));
}

TEST(ScalarWarp, MatchesValues) {
  Snippet any("and.b32 %r1, %r30, 3;\nmatch.any.sync.b32 %r2, %r1, -1;\ncvt.u64.u32 %d31, %r2;");
  EXPECT_EQ(any.result(0), 0x11111111u);
  EXPECT_EQ(any.result(7), 0x88888888u);
  Snippet all(
      "and.b32 %r1, %r30, 3;\nmatch.all.sync.b32 %r2|%p1, %r1, -1;\nselp.b32 %r3, 1, 0, %p1;\nmov.b64 %d31, {%r2, "
      "%r3};");
  EXPECT_EQ(all.result(0), 0u);
  EXPECT_EQ(resultOf("match.all.sync.b64 %r2|%p1, %d30, -1;\ncvt.u64.u32 %d31, %r2;"), 0xFFFFFFFFu);
}

TEST(ScalarWarp, Reduces) {
  EXPECT_EQ(wordOf("redux.sync.add.s32 %r31, %r30, -1;"), 496u);
  EXPECT_EQ(wordOf("neg.s32 %r1, %r30;\nredux.sync.min.s32 %r31, %r1, -1;"), static_cast<uint32_t>(-31));
  EXPECT_EQ(wordOf("neg.s32 %r1, %r30;\nredux.sync.max.u32 %r31, %r1, -1;"), 0xFFFFFFFFu);
  EXPECT_EQ(wordOf("redux.sync.or.b32 %r31, %r30, -1;"), 31u);
  EXPECT_EQ(wordOf("redux.sync.xor.b32 %r31, %r30, -1;"), 0u);
  EXPECT_EQ(
      wordOf("cvt.rn.f32.s32 %f1, %r30;\nneg.f32 %f1, %f1;\nredux.sync.max.abs.f32 %f2, %f1, -1;\nmov.b32 %r31, %f2;"),
      bitsOfFloat(31));
}

TEST(ScalarWarp, ActiveLanes) {
  Snippet run("mov.b32 %r1, 0;\nsetp.lt.u32 %p1, %r30, 4;\n@%p1 activemask.b32 %r1;\ncvt.u64.u32 %d31, %r1;");
  EXPECT_EQ(run.result(0), 15u);
  EXPECT_EQ(run.result(4), 0u);
}

TEST(ScalarControl, LoopsAndBranches) {
  EXPECT_EQ(resultOf("mov.b32 %r1, 0;\nmov.b32 %r2, 0;\nLOOP:\nadd.s32 %r2, %r2, %r1;\nadd.s32 %r1, %r1, 1;\n"
                     "setp.lt.s32 %p1, %r1, 10;\n@%p1 bra LOOP;\ncvt.u64.u32 %d31, %r2;"),
            45u);
  Snippet run(
      "and.b32 %r1, %r30, 1;\nts: .branchtargets EVEN, ODD;\nbrx.idx %r1, ts;\nEVEN:\nmov.b64 %d31, 10;\nbra.uni "
      "DONE;\n"
      "ODD:\nmov.b64 %d31, 11;\nDONE:");
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.result(4), 10u);
  EXPECT_EQ(run.result(5), 11u);
}

TEST(ScalarControl, TrapsAreFound) {
  Snippet run("setp.eq.u32 %p1, %r30, 3;\n@%p1 trap;");
  EXPECT_EQ(run.messages(), "operand: runs into a trap\n");
  EXPECT_EQ(refusalOf("nanosleep.u32 20;"), "");
}

} // namespace
