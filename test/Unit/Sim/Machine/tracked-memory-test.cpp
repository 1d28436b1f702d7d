// Every kind of accusation, and the twin that must not be accused.
#include "headrace/Sim/Machine/TrackedMemory.h"
#include "gtest/gtest.h"

#include <optional>

using namespace headrace::sim;

namespace {

constexpr Component kMe = 1, kOther = 2, kStream = 3;

class TrackedMemoryTest : public testing::Test {
protected:
  /// Component `component` at its first step, having seen what `seen` has.
  Agent agent(Component component, Clock seen = {}, View view = View::Generic) {
    Agent result;
    result.view = view;
    result.seen = std::make_shared<Clock>(std::move(seen));
    result.own = {component, 1};
    result.issuer = result.own;
    return result;
  }
  /// A clock that has component `component` in the named views.
  Clock clockOf(Component component, bool generic, bool async = false, bool tensor = false) {
    Clock clock;
    if (generic)
      clock.generic.raise({component, 1});
    if (async)
      clock.async.raise({component, 1});
    if (tensor)
      clock.tensor.raise({component, 1});
    return clock;
  }
  void write(const Agent &agent, int64_t offset, int64_t count) {
    std::vector<uint8_t> bytes(count, 7);
    memory.write(agent, offset, count, bytes.data());
  }
  void read(const Agent &agent, int64_t offset, int64_t count) {
    std::vector<uint8_t> bytes(count);
    memory.read(agent, offset, count, bytes.data());
  }
  std::optional<FindingKind> found() {
    auto entries = findings.sorted();
    return entries.empty() ? std::nullopt : std::optional<FindingKind>(entries.front().finding.kind);
  }

  Findings findings;
  TrackedMemory memory{"shared memory", 256, findings};
};

TEST_F(TrackedMemoryTest, own_writes_are_seen) {
  write(agent(kMe), 4, 8);
  read(agent(kMe), 4, 8);
  EXPECT_EQ(found(), std::nullopt);
}

TEST_F(TrackedMemoryTest, read_of_unordered_write) {
  write(agent(kOther), 0, 16);
  read(agent(kMe), 0, 4);
  EXPECT_EQ(found(), FindingKind::ReadBeforeLanded);
}

TEST_F(TrackedMemoryTest, read_of_ordered_write) {
  write(agent(kOther), 0, 16);
  read(agent(kMe, clockOf(kOther, true)), 0, 4);
  EXPECT_EQ(found(), std::nullopt);
}

TEST_F(TrackedMemoryTest, neighbouring_bytes_stay_apart) {
  write(agent(kOther), 0, 2);
  write(agent(kMe), 2, 2);
  read(agent(kMe), 2, 2);
  EXPECT_EQ(found(), std::nullopt);
}

TEST_F(TrackedMemoryTest, two_unordered_writes) {
  write(agent(kOther), 0, 16);
  write(agent(kMe), 8, 16);
  EXPECT_EQ(found(), FindingKind::UnorderedWrites);
}

TEST_F(TrackedMemoryTest, overwrite_of_what_another_reads) {
  write(agent(kMe), 0, 16);
  read(agent(kOther, clockOf(kMe, true)), 0, 16);
  write(agent(kMe), 0, 16);
  EXPECT_EQ(found(), FindingKind::Overwrite);
}

TEST_F(TrackedMemoryTest, overwrite_after_the_reader_said_so) {
  write(agent(kMe), 0, 16);
  read(agent(kOther, clockOf(kMe, true)), 0, 16);
  write(agent(kMe, clockOf(kOther, true)), 0, 16);
  EXPECT_EQ(found(), std::nullopt);
}

TEST_F(TrackedMemoryTest, reads_of_one_thread_at_different_times_stay_apart) {
  Agent reader = agent(kOther, clockOf(kMe, true));
  write(agent(kMe), 0, 16);
  read(reader, 8, 4);
  reader.own.number = 2; // after a release
  read(reader, 0, 4);
  write(agent(kMe, clockOf(kOther, true)), 8, 4); // has seen the first read only
  EXPECT_EQ(found(), std::nullopt);
  write(agent(kMe, clockOf(kOther, true)), 0, 4);
  EXPECT_EQ(found(), FindingKind::Overwrite);
}

TEST_F(TrackedMemoryTest, async_read_of_generic_write_without_fence) {
  write(agent(kOther), 0, 16);
  read(agent(kStream, clockOf(kOther, true), View::Async), 0, 16);
  EXPECT_EQ(found(), FindingKind::MissingProxyFence);
}

TEST_F(TrackedMemoryTest, async_read_of_generic_write_with_fence) {
  write(agent(kOther), 0, 16);
  read(agent(kStream, clockOf(kOther, true, true), View::Async), 0, 16);
  EXPECT_EQ(found(), std::nullopt);
}

TEST_F(TrackedMemoryTest, async_read_of_async_write_needs_no_fence) {
  write(agent(kOther, {}, View::Async), 0, 16);
  read(agent(kStream, clockOf(kOther, true), View::Async), 0, 16);
  EXPECT_EQ(found(), std::nullopt);
}

// Measured on compute capability 9.0: an arrival does not wait for the loads before it.
TEST_F(TrackedMemoryTest, async_write_over_generic_read_without_fence) {
  write(agent(kMe), 0, 16);
  read(agent(kOther, clockOf(kMe, true)), 0, 16);
  Clock seen = clockOf(kMe, true, true);
  seen.generic.raise({kOther, 1});
  write(agent(kStream, seen, View::Async), 0, 16);
  EXPECT_EQ(found(), FindingKind::MissingProxyFence);
}

TEST_F(TrackedMemoryTest, async_write_over_generic_read_with_fence) {
  write(agent(kMe), 0, 16);
  read(agent(kOther, clockOf(kMe, true)), 0, 16);
  Clock seen = clockOf(kMe, true, true);
  seen.generic.raise({kOther, 1});
  seen.async.raise({kOther, 1});
  write(agent(kStream, seen, View::Async), 0, 16);
  EXPECT_EQ(found(), std::nullopt);
}

TEST_F(TrackedMemoryTest, an_operation_comes_after_its_issuer) {
  write(agent(kMe), 0, 16);
  Agent operation = agent(kStream, clockOf(kMe, false, true), View::Async);
  operation.issuer = {kMe, 1};
  read(operation, 0, 16);
  EXPECT_EQ(found(), std::nullopt);
}

TEST_F(TrackedMemoryTest, what_its_issuer_does_later_does_not) {
  Agent later = agent(kMe);
  later.own.number = 2;
  write(later, 0, 16);
  Agent operation = agent(kStream, {}, View::Async);
  operation.issuer = {kMe, 1};
  read(operation, 0, 16);
  EXPECT_EQ(found(), FindingKind::ReadBeforeLanded);
}

TEST_F(TrackedMemoryTest, tensor_memory_wants_its_own_fence) {
  write(agent(kOther, {}, View::Tensor), 0, 16);
  read(agent(kStream, clockOf(kOther, true), View::Tensor), 0, 16);
  EXPECT_EQ(found(), FindingKind::MissingTensorFence);
}

TEST_F(TrackedMemoryTest, tensor_memory_with_its_fence) {
  write(agent(kOther, {}, View::Tensor), 0, 16);
  read(agent(kStream, clockOf(kOther, true, false, true), View::Tensor), 0, 16);
  EXPECT_EQ(found(), std::nullopt);
}

TEST_F(TrackedMemoryTest, read_of_what_nobody_wrote) {
  write(agent(kMe), 0, 8);
  read(agent(kMe), 4, 8);
  EXPECT_EQ(found(), FindingKind::Uninitialised);
}

TEST_F(TrackedMemoryTest, forgotten_contents_are_unwritten) {
  write(agent(kMe), 0, 16);
  memory.forget(0, 16);
  read(agent(kMe), 0, 4);
  EXPECT_EQ(found(), FindingKind::Uninitialised);
}

} // namespace
