// Bulk copies of ranges: what arrives where, who waits, what is refused.
#include "Bench.h"

using namespace headrace::sim;

namespace {

constexpr uint32_t kPeer = 1 << 24; // shared memory of CTA 1

struct BulkCopyTest : testing::Test {
  BulkCopyTest() : bench(Policy::Late, 2), array(512) {
    for (size_t i = 0; i < array.size(); ++i)
      array[i] = static_cast<uint8_t>(i * 7 + 1);
    address = bench.memory.map("A", array.data(), 512);
  }

  /// The text with $0, $1, ... replaced.
  static std::string with(std::string text, std::vector<uint64_t> values) {
    for (size_t i = 0; i < values.size(); ++i)
      if (size_t at = text.find("$" + std::to_string(i)); at != std::string::npos)
        text.replace(at, 2, std::to_string(values[i]));
    return text;
  }
  std::vector<uint8_t> slice(size_t first, size_t count) const {
    return {array.begin() + static_cast<long>(first), array.begin() + static_cast<long>(first + count)};
  }
  std::vector<uint8_t> shared(uint32_t offset, size_t count, uint32_t rank = 0) {
    return {bench.shared(offset, rank), bench.shared(offset, rank) + count};
  }

  Bench bench;
  std::vector<uint8_t> array;
  uint64_t address = 0;
};

const char *const kLoad = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3]";
const char *const kStore = "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2";

TEST_F(BulkCopyTest, LoadsAndCompletesBytes) {
  Mbarrier &barrier = bench.addMbarrier(1024);
  bench.run(with(kLoad, {2048, address + 16, 96, 1024}));
  EXPECT_EQ(barrier.pendingBytes(), 0);
  bench.finish();
  EXPECT_EQ(barrier.pendingBytes(), -96);
  EXPECT_EQ(shared(2048, 96), slice(16, 96));
  EXPECT_TRUE(bench.findings.empty());
}

TEST_F(BulkCopyTest, WhatLandedIsSeenAfterThePhase) {
  Mbarrier &barrier = bench.addMbarrier(1024);
  barrier.expectBytes(32);
  barrier.arrive(1, Clock());
  bench.run(with(kLoad, {2048, address, 32, 1024}));
  bench.finish();
  ASSERT_EQ(barrier.phase(), 1u);
  uint8_t out[32];
  Lanes lanes = bench.lanesOf(0, 2);
  lanes.loadShared(1, 2048, 16, out);
  EXPECT_EQ(bench.messages(FindingKind::ReadBeforeLanded).size(), 1u);
  lanes.acquire(1, barrier.passed());
  lanes.loadShared(1, 2064, 16, out);
  EXPECT_EQ(bench.messages(FindingKind::ReadBeforeLanded).size(), 1u);
}

TEST_F(BulkCopyTest, MulticastsToEachCtaOfTheMask) {
  Mbarrier &first = bench.addMbarrier(1024), &second = bench.addMbarrier(1024, 1, 1);
  bench.run(with("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint "
                 "[$0], [$1], 64, [1024], $2, 0",
                 {2048, address, 3}));
  bench.finish();
  EXPECT_EQ(first.pendingBytes(), -64);
  EXPECT_EQ(second.pendingBytes(), -64);
  EXPECT_EQ(shared(2048, 64, 0), slice(0, 64));
  EXPECT_EQ(shared(2048, 64, 1), slice(0, 64));
  EXPECT_TRUE(bench.findings.empty());
}

TEST_F(BulkCopyTest, CopiesToAPeer) {
  Mbarrier &barrier = bench.addMbarrier(1024, 1, 1);
  bench.store(4096, slice(0, 32));
  bench.fenceProxy();
  bench.run(with("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [$0], [4096], 32, [$1]",
                 {kPeer + 2048, kPeer + 1024}));
  bench.finish();
  EXPECT_EQ(barrier.pendingBytes(), -32);
  EXPECT_EQ(shared(2048, 32, 1), slice(0, 32));
  EXPECT_TRUE(bench.findings.empty());
}

TEST_F(BulkCopyTest, ReducesIntoAPeer) {
  Mbarrier &barrier = bench.addMbarrier(1024, 1, 1);
  bench.store(4096, {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0});
  bench.fenceProxy();
  bench.store(2048, {10, 0, 0, 0, 20, 0, 0, 0, 30, 0, 0, 0, 255, 0, 0, 0}, 1);
  bench.fenceProxy(1);
  bench.lanesOf().acquire(0, bench.lanesOf(1).release(0)); // as after a cluster barrier
  bench.run(
      with("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [$0], [4096], 16, "
           "[$1]",
           {kPeer + 2048, kPeer + 1024}));
  bench.finish();
  EXPECT_EQ(shared(2048, 16, 1), (std::vector<uint8_t>{11, 0, 0, 0, 22, 0, 0, 0, 33, 0, 0, 0, 3, 1, 0, 0}));
  EXPECT_EQ(barrier.pendingBytes(), -16);
  EXPECT_TRUE(bench.findings.empty());
}

TEST_F(BulkCopyTest, StoresInGroups) {
  bench.store(2048, slice(0, 32));
  bench.fenceProxy();
  bench.run(with(kStore, {address + 256, 2048, 32}));
  bench.run("cp.async.bulk.commit_group");
  EXPECT_EQ(bench.run("cp.async.bulk.wait_group.read 0"), Step::Blocked);
  EXPECT_EQ(bench.run("cp.async.bulk.wait_group 1"), Step::Done);
  bench.finish();
  EXPECT_EQ(bench.run("cp.async.bulk.wait_group.read 0"), Step::Done);
  EXPECT_EQ(slice(256, 32), slice(0, 32));
  bench.store(2048, slice(64, 32)); // reuse after the wait
  EXPECT_TRUE(bench.findings.empty());
}

/// hardware.md section 8, row 13.
TEST_F(BulkCopyTest, TheSourceMustNotBeOverwrittenBeforeTheWait) {
  for (Policy policy : {Policy::Early, Policy::Late}) {
    Bench early(policy);
    uint64_t to = early.memory.map("A", array.data(), 512);
    early.store(2048, slice(0, 32));
    early.fenceProxy();
    early.run(with(kStore, {to + 256, 2048, 32}));
    early.run("cp.async.bulk.commit_group");
    early.store(2048, slice(64, 32));
    early.finish();
    EXPECT_FALSE(early.findings.empty());
  }
}

/// hardware.md section 8, row 6.
TEST_F(BulkCopyTest, TheSourceNeedsAProxyFence) {
  bench.store(2048, slice(0, 32));
  bench.run(with(kStore, {address + 256, 2048, 32}));
  bench.finish();
  EXPECT_EQ(bench.messages(FindingKind::MissingProxyFence).size(), 1u);
}

TEST_F(BulkCopyTest, StoresTheBytesOfTheMask) {
  std::vector<uint8_t> before = slice(256, 32);
  bench.store(2048, slice(0, 32));
  bench.fenceProxy();
  bench.run(with("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [$0], [2048], 32, 0, 33153",
                 {address + 256})); // 0x8181
  bench.finish();
  for (size_t i = 0; i < 32; ++i)
    EXPECT_EQ(array[256 + i], 0x8181 >> i % 16 & 1 ? array[i] : before[i]);
}

TEST_F(BulkCopyTest, ReducesIntoGlobalMemory) {
  float values[4] = {1.5f, -2, 3, 1e30f}, into[4] = {1, 2, 0.25f, 1e30f};
  std::memcpy(array.data(), into, 16);
  std::vector<uint8_t> bytes(16);
  std::memcpy(bytes.data(), values, 16);
  bench.store(2048, bytes);
  bench.fenceProxy();
  bench.run(with("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [$0], [2048], 16", {address}));
  bench.finish();
  std::memcpy(into, array.data(), 16);
  EXPECT_EQ(into[0], 2.5f);
  EXPECT_EQ(into[1], 0.0f);
  EXPECT_EQ(into[2], 3.25f);
  EXPECT_EQ(into[3], 2e30f);
}

TEST_F(BulkCopyTest, ReportsAlignmentAndSizes) {
  bench.addMbarrier(1024);
  bench.run(with(kLoad, {2056, address, 24, 1024}));
  EXPECT_EQ(bench.messages(FindingKind::Misaligned),
            std::vector<std::string>{"expected a destination at a multiple of 16 bytes, got 0x808"});
  EXPECT_EQ(bench.messages(FindingKind::Operand),
            std::vector<std::string>{"expected a size that is a multiple of 16 bytes, got 24"});
  bench.run(with("cp.async.bulk.prefetch.L2.global [$0], 8", {address + 4}));
  EXPECT_EQ(bench.messages(FindingKind::Misaligned).size(), 2u);
  EXPECT_EQ(bench.messages(FindingKind::Operand).size(), 2u);
  bench.run(with(kLoad, {2048, address, 1 << 20, 1024}));
  EXPECT_EQ(bench.messages(FindingKind::OutOfBounds).size(), 1u);
}

TEST_F(BulkCopyTest, ReportsWrongPlaces) {
  bench.addMbarrier(1024);
  bench.addMbarrier(1024, 1, 1);
  bench.run(with(kLoad, {kPeer + 2048, address, 16, kPeer + 1024}));
  EXPECT_EQ(
      bench.messages(FindingKind::Operand).back(),
      "expected a destination in the executing CTA (shared::cta), 0 of the cluster, got 0x1000800 in CTA 1 of the "
      "cluster");
  bench.run(with(kStore, {address, kPeer + 2048, 16}));
  EXPECT_EQ(bench.messages(FindingKind::Operand).back(),
            "expected a source in the executing CTA (shared::cta), 0 of the cluster, got 0x1000800 in CTA 1 of the "
            "cluster");
  bench.run("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [2048], [4096], 16, [1024]");
  EXPECT_EQ(bench.messages(FindingKind::Operand).back(),
            "expected a destination in another CTA (PTX ISA 9.7.9.25.4.1), got 0x800 in the executing one");
  EXPECT_TRUE(bench.cluster->engine.idle());
}

TEST_F(BulkCopyTest, ReportsMissingMbarriersAndMasks) {
  bench.addMbarrier(1024);
  bench.run(with(kLoad, {2048, address, 16, 1032}));
  EXPECT_EQ(bench.messages(FindingKind::Barrier).back(),
            "completes on mbarrier 0x408, where no mbarrier is initialised");
  std::string multicast = with("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                               "[2048], [$0], 64, [1024], ",
                               {address});
  bench.run(multicast + "5");
  EXPECT_EQ(bench.messages(FindingKind::Operand).back(),
            "expected a destination among the 2 CTAs of the cluster, got 0x2000800 in CTA 2 of the cluster");
  bench.run(multicast + "0");
  EXPECT_EQ(bench.messages(FindingKind::Operand).back(), "expected a multicast mask with a CTA in it, got 0");
  bench.run(multicast + "2");
  EXPECT_EQ(bench.messages(FindingKind::Barrier).size(), 2u);
}

TEST_F(BulkCopyTest, RefusesWrongOperands) {
  EXPECT_EQ(bench.refusal("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [0], [0], 16"),
            "expected an address as operand 4");
  EXPECT_EQ(bench.refusal("cp.async.bulk.global.shared::cta.bulk_group [0], [0], 16, 0"), "expected 3 operands, got 4");
  EXPECT_EQ(bench.refusal("cp.async.bulk.wait_group.read.write 0"),
            "expected nothing after 'cp.async.bulk.wait_group.read', got '.write'");
  EXPECT_EQ(bench.refusal("tensormap.replace.tile.rank.shared::cta.b1024.b32 [0], 1"),
            "tensor maps that a kernel edits are not simulated");
}

} // namespace
