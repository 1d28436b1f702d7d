// PTX ISA 9.7.13.15: phases complete when neither arrivals nor bytes are outstanding.
#include "headrace/Sim/Machine/Mbarrier.h"
#include "gtest/gtest.h"

using namespace headrace::sim;

namespace {

const Epoch kInit{0, 1};

TEST(Mbarrier, fresh_barrier_has_completed_the_phase_of_parity_1) {
  Mbarrier barrier(5, 1, kInit);
  EXPECT_TRUE(barrier.completed(1));
  EXPECT_FALSE(barrier.completed(0));
}

TEST(Mbarrier, phase_completes_with_its_last_arrival) {
  Mbarrier barrier(5, 2, kInit);
  EXPECT_EQ(barrier.arrive(1, {}), "");
  EXPECT_FALSE(barrier.completed(0));
  EXPECT_EQ(barrier.arrive(1, {}), "");
  EXPECT_TRUE(barrier.completed(0));
  EXPECT_FALSE(barrier.completed(1));
  EXPECT_EQ(barrier.pendingArrivals(), 2u);
}

TEST(Mbarrier, bytes_hold_the_phase_open) {
  Mbarrier barrier(5, 1, kInit);
  EXPECT_EQ(barrier.expectBytes(128), "");
  EXPECT_EQ(barrier.arrive(1, {}), "");
  EXPECT_FALSE(barrier.completed(0));
  EXPECT_EQ(barrier.completeBytes(64), "");
  EXPECT_FALSE(barrier.completed(0));
  EXPECT_EQ(barrier.completeBytes(64), "");
  EXPECT_TRUE(barrier.completed(0));
}

TEST(Mbarrier, bytes_may_land_before_they_are_expected) {
  Mbarrier barrier(5, 1, kInit);
  EXPECT_EQ(barrier.completeBytes(128), "");
  EXPECT_EQ(barrier.pendingBytes(), -128);
  EXPECT_EQ(barrier.expectBytes(128), "");
  EXPECT_FALSE(barrier.completed(0));
  EXPECT_EQ(barrier.arrive(1, {}), "");
  EXPECT_TRUE(barrier.completed(0));
}

TEST(Mbarrier, one_arrival_too_many_is_named) {
  Mbarrier barrier(5, 1, kInit);
  EXPECT_EQ(barrier.expectBytes(16), "");
  EXPECT_EQ(barrier.arrive(1, {}), "");
  EXPECT_EQ(barrier.arrive(1, {}), "1 arrivals where phase 0 awaits 0 of 1 (its transaction bytes are still 16 short)");
}

TEST(Mbarrier, dropped_arrivals_are_not_awaited_again) {
  Mbarrier barrier(5, 2, kInit);
  EXPECT_EQ(barrier.arriveAndDrop(1, {}), "");
  EXPECT_EQ(barrier.arrive(1, {}), "");
  EXPECT_TRUE(barrier.completed(0));
  barrier.noteSeen({});
  EXPECT_EQ(barrier.arrive(1, {}), "");
  EXPECT_TRUE(barrier.completed(1));
}

// PTX ISA 9.7.13.15.4.
TEST(Mbarrier, a_phase_that_nobody_saw_may_not_be_followed) {
  Mbarrier barrier(5, 1, kInit);
  EXPECT_EQ(barrier.arrive(1, {}), "");
  EXPECT_EQ(barrier.arrive(1, {}), "arrives on phase 1 though nobody has waited for phase 0");
  barrier.noteSeen({});
  EXPECT_EQ(barrier.arrive(1, {}), "");
}

TEST(Mbarrier, waiters_get_what_arrivals_and_bytes_bring) {
  Mbarrier barrier(5, 1, kInit);
  Clock clock;
  clock.generic.raise({3, 7});
  EXPECT_TRUE(barrier.landing().component == 5 && barrier.landing().number == 1);
  EXPECT_EQ(barrier.arrive(1, clock), "");
  EXPECT_TRUE(barrier.passed()->generic.has({3, 7}));
  EXPECT_FALSE(barrier.passed()->async.has({3, 7}));
  EXPECT_TRUE(barrier.passed()->generic.has({5, 1}));
  EXPECT_TRUE(barrier.passed()->async.has({5, 1}));
}

TEST(Mbarrier, nobody_may_be_left_behind_by_two_phases) {
  Mbarrier barrier(5, 1, kInit);
  EXPECT_EQ(barrier.arrive(1, {}), "");
  barrier.noteSeen({3, 7});
  EXPECT_EQ(barrier.arrive(1, {}), "phase 1 completes with nothing between it and the waits for phase 0: a slow waiter "
                                   "would sleep through both");
  barrier.noteSeen({3, 8});
  Clock clock;
  clock.generic.raise({3, 8});
  EXPECT_EQ(barrier.arrive(1, clock), "");
}

} // namespace
