// cp.async: what arrives, who may see it when, and what is refused.
#include "Bench.h"

using namespace headrace::sim;

namespace {

struct CpAsyncTest : testing::Test {
  CpAsyncTest() : source(256) {
    for (size_t i = 0; i < source.size(); ++i)
      source[i] = static_cast<uint8_t>(i + 1);
    address = bench.memory.map("A", source.data(), 256);
  }

  std::string copy(const std::string &rest, uint32_t to = 2048, uint64_t from = 0) {
    return "cp.async.ca.shared.global [" + std::to_string(to) + "], [" + std::to_string(address + from) + "], " + rest;
  }
  std::vector<uint8_t> arrived(int count, uint32_t offset = 2048) {
    return {bench.shared(offset), bench.shared(offset) + count};
  }

  Bench bench;
  std::vector<uint8_t> source;
  uint64_t address = 0;
};

TEST_F(CpAsyncTest, CopiesAndFillsWithZeros) {
  bench.run(copy("16", 2048));
  bench.run(copy("8, 3", 2064, 32));
  bench.run(copy("4, 0", 2072));
  bench.setPredicate(true);
  bench.run(copy("4, %p1", 2076));
  bench.run(copy("4, !%p1", 2080));
  bench.finish();
  EXPECT_EQ(arrived(16), std::vector<uint8_t>(source.begin(), source.begin() + 16));
  EXPECT_EQ(arrived(8, 2064), (std::vector<uint8_t>{33, 34, 35, 0, 0, 0, 0, 0}));
  EXPECT_EQ(arrived(4, 2072), std::vector<uint8_t>(4, 0));
  EXPECT_EQ(arrived(4, 2076), std::vector<uint8_t>(4, 0));
  EXPECT_EQ(arrived(4, 2080), (std::vector<uint8_t>{1, 2, 3, 4}));
  EXPECT_TRUE(bench.findings.empty());
}

TEST_F(CpAsyncTest, ReadsNothingThatItIgnores) {
  bench.setPredicate(true);
  bench.run(copy("16, %p1", 2048, 1 << 20));
  bench.run(copy("16, 0", 2064, 1 << 20));
  bench.finish();
  EXPECT_TRUE(bench.findings.empty());
  bench.run(copy("16", 2048, 1 << 20));
  bench.finish();
  EXPECT_EQ(bench.messages(FindingKind::OutOfBounds).size(), 1u);
}

TEST_F(CpAsyncTest, TakesHints) {
  for (const char *text : {"cp.async.cg.shared::cta.global.L2::128B [2048], [%g], 16",
                           "cp.async.ca.shared.global.L2::cache_hint.L2::64B [2064], [%g], 4, 2, 0",
                           "cp.async.cg.shared.global.L2::cache_hint [2080], [%g], 16, 0"}) {
    std::string at = text;
    bench.run(at.replace(at.find("%g"), 2, std::to_string(address)));
  }
  bench.finish();
  EXPECT_TRUE(bench.findings.empty());
}

TEST_F(CpAsyncTest, RefusesOtherForms) {
  EXPECT_EQ(bench.refusal("cp.async.cg.shared.global [2048], [0], 8"), "expected 16 bytes, got 8");
  EXPECT_EQ(bench.refusal("cp.async.ca.shared.global [2048], [0], 12"), "expected 4, 8 or 16 bytes, got 12");
  EXPECT_EQ(bench.refusal("cp.async.ca.shared.shared [2048], [0], 4"), "expected a copy of global to shared memory");
  EXPECT_EQ(bench.refusal("cp.async.ca.shared.global.L2::32B [2048], [0], 4"),
            "'.L2::32B' is not understood in cp.async");
  EXPECT_EQ(bench.refusal("cp.async.ca.shared.global [2048], [0], 4, 4, 0"),
            "expected 3 operands, a src-size or ignore-src, and a policy with .L2::cache_hint, got 5 operands");
  EXPECT_EQ(bench.refusal("cp.sync"), "expected cp.async or cp.reduce.async.bulk, got 'cp.sync'");
  EXPECT_EQ(bench.refusal("cp.async.wait_group.read 0"), "expected nothing after 'cp.async.wait_group', got '.read'");
}

TEST_F(CpAsyncTest, WaitGroupWaitsForAllButTheNewest) {
  bench.run(copy("16", 2048));
  bench.run("cp.async.commit_group");
  bench.run("cp.async.commit_group"); // empty, and counts
  bench.run(copy("16", 2064));
  bench.run("cp.async.commit_group");
  EXPECT_EQ(bench.run("cp.async.wait_group 3"), Step::Done);
  EXPECT_EQ(bench.run("cp.async.wait_group 2"), Step::Blocked);
  bench.cluster->engine.performOne();
  EXPECT_EQ(bench.run("cp.async.wait_group 1"), Step::Done);
  EXPECT_EQ(bench.run("cp.async.wait_group 0"), Step::Blocked);
  EXPECT_EQ(bench.run("cp.async.wait_all"), Step::Blocked);
  bench.finish();
  EXPECT_EQ(bench.run("cp.async.wait_all"), Step::Done);
}

TEST_F(CpAsyncTest, EachThreadHasItsGroups) {
  bench.run(copy("16", 2048), 0, 2);
  bench.run("cp.async.commit_group", 0, 3);
  EXPECT_EQ(bench.run("cp.async.wait_group 0", 0, 1), Step::Done);
  EXPECT_EQ(bench.run("cp.async.wait_group 0", 0, 2), Step::Blocked);
  EXPECT_EQ(bench.run("cp.async.wait_group 0", 0, 3), Step::Blocked);
}

TEST_F(CpAsyncTest, IsSeenAfterTheWaitAndNotBefore) {
  Lanes lanes = bench.lanesOf();
  uint8_t out[16];
  bench.run(copy("16"));
  bench.run("cp.async.commit_group");
  bench.finish();
  lanes.loadShared(0, 2048, 16, out);
  EXPECT_EQ(bench.messages(FindingKind::ReadBeforeLanded).size(), 1u);

  Bench twin;
  address = twin.memory.map("A", source.data(), 256);
  Lanes same = twin.lanesOf();
  twin.run(copy("16"));
  twin.run("cp.async.commit_group");
  twin.finish();
  EXPECT_EQ(twin.run("cp.async.wait_group 0"), Step::Done);
  same.loadShared(0, 2048, 16, out);
  EXPECT_TRUE(twin.findings.empty());
}

/// hardware.md section 8, row 5.
TEST_F(CpAsyncTest, NeedsAProxyFenceBeforeTheAsyncProxyReads) {
  bench.run(copy("16"));
  bench.run("cp.async.wait_all");
  bench.finish();
  EXPECT_EQ(bench.run("cp.async.wait_all"), Step::Done);
  std::string store = "cp.async.bulk.global.shared::cta.bulk_group [" + std::to_string(address + 64) + "], [2048], 16";
  bench.fenceProxy();
  bench.run(store);
  bench.finish();
  EXPECT_TRUE(bench.findings.empty());

  Bench twin;
  address = twin.memory.map("A", source.data(), 256);
  twin.run(copy("16"));
  twin.finish();
  twin.run("cp.async.wait_all");
  twin.run("cp.async.bulk.global.shared::cta.bulk_group [" + std::to_string(address + 64) + "], [2048], 16");
  twin.finish();
  EXPECT_EQ(twin.messages(FindingKind::MissingProxyFence).size(), 1u);
}

TEST_F(CpAsyncTest, ArrivesOnAnMbarrierWhenTheCopiesAreDone) {
  Mbarrier &barrier = bench.addMbarrier(1024, 2);
  bench.run(copy("16", 2048));
  bench.run(copy("16", 2064));
  bench.run("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [1024]");
  bench.run(copy("16", 2080)); // not waited for
  EXPECT_EQ(barrier.pendingArrivals(), 2u);
  bench.cluster->engine.performOne();
  EXPECT_EQ(barrier.pendingArrivals(), 2u);
  bench.finish();
  EXPECT_EQ(barrier.pendingArrivals(), 1u);
  EXPECT_EQ(barrier.phase(), 0u);
  barrier.arrive(1, Clock());
  EXPECT_EQ(barrier.phase(), 1u);
  // Another lane that waits sees the copies that came before the arrival, and only those.
  Lanes other = bench.lanesOf(0, 2);
  other.acquire(1, barrier.passed());
  uint8_t out[32];
  other.loadShared(1, 2048, 32, out);
  EXPECT_TRUE(bench.findings.empty());
  other.loadShared(1, 2080, 16, out);
  EXPECT_EQ(bench.messages(FindingKind::ReadBeforeLanded).size(), 1u);
}

TEST_F(CpAsyncTest, AnArrivalWithoutNoincIsAwaitedInAddition) {
  Mbarrier &barrier = bench.addMbarrier(1024, 1);
  bench.run(copy("16"));
  bench.run("cp.async.mbarrier.arrive.shared.b64 [1024]");
  bench.run("cp.async.mbarrier.arrive.b64 [" + std::to_string(kSharedWindow + 1024) + "]");
  EXPECT_EQ(barrier.pendingArrivals(), 3u);
  bench.finish();
  EXPECT_EQ(barrier.pendingArrivals(), 1u);
  EXPECT_EQ(barrier.phase(), 0u);
}

TEST_F(CpAsyncTest, ReportsOperandsTheIsaForbids) {
  bench.run(copy("16", 2056));
  bench.run(copy("8", 2048, 4));
  bench.run(copy("8, 9", 2048));
  bench.run(copy("16", 1 << 24));
  bench.run("cp.async.mbarrier.arrive.shared.b64 [1032]");
  bench.run("cp.async.mbarrier.arrive.b64 [1024]");
  std::string at = std::to_string(address);
  EXPECT_EQ(bench.messages(FindingKind::Misaligned).size(), 2u);
  EXPECT_EQ(bench.messages(FindingKind::Misaligned)[0], "expected a destination at a multiple of 16 bytes, got 0x808");
  EXPECT_EQ(bench.messages(FindingKind::Operand).size(), 3u);
  EXPECT_EQ(bench.messages(FindingKind::Barrier),
            std::vector<std::string>{"arrives on mbarrier 0x408, where no mbarrier is initialised"});
}

} // namespace
