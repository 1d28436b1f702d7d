// Registers in flight: a move renames, and values follow.
#include "headrace/Sim/Machine/Warp.h"
#include "gtest/gtest.h"

using namespace headrace::sim;

namespace {

class WarpTest : public testing::Test {
protected:
  void set(ptx::RegId reg, uint64_t value) { warp.cells(reg)[0] = value; }
  uint64_t get(ptx::RegId reg) { return warp.cells(reg)[0]; }

  Warp warp{0, ~LaneMask(0), 8};
};

TEST_F(WarpTest, a_copy_gets_the_value_that_arrives_later) {
  warp.takeOff(0, Flight::Accumulator);
  EXPECT_TRUE(warp.renameInFlight(0, 1));
  EXPECT_EQ(warp.flight(1), Flight::Accumulator);
  set(0, 42);
  warp.arrive(0);
  EXPECT_EQ(get(1), 42u);
  warp.land(0);
  EXPECT_EQ(warp.flight(0), Flight::None);
  EXPECT_EQ(warp.flight(1), Flight::None);
  EXPECT_FALSE(warp.anyInFlight());
}

TEST_F(WarpTest, a_copy_that_another_operation_continues_keeps_its_value) {
  warp.takeOff(0, Flight::Accumulator); // first operation
  EXPECT_TRUE(warp.renameInFlight(0, 1));
  warp.takeOff(1, Flight::Accumulator); // second, on the copy
  set(0, 10);
  warp.arrive(0);
  set(1, get(1) + 5);
  warp.arrive(1);
  warp.land(0);
  EXPECT_EQ(get(1), 15u);
  EXPECT_EQ(warp.flight(1), Flight::Accumulator);
  warp.land(1);
  EXPECT_EQ(get(1), 15u);
  EXPECT_FALSE(warp.anyInFlight());
}

TEST_F(WarpTest, a_copy_made_after_the_value_arrived_has_it_at_once) {
  warp.takeOff(0, Flight::Accumulator);
  set(0, 9);
  warp.arrive(0);
  EXPECT_TRUE(warp.renameInFlight(0, 1));
  EXPECT_EQ(get(1), 9u);
  EXPECT_EQ(warp.flight(1), Flight::Accumulator);
}

TEST_F(WarpTest, moving_a_copy_back_changes_nothing) {
  warp.takeOff(0, Flight::Accumulator);
  EXPECT_TRUE(warp.renameInFlight(0, 1));
  EXPECT_TRUE(warp.renameInFlight(1, 0));
  set(0, 3);
  warp.arrive(0);
  EXPECT_EQ(get(1), 3u);
}

TEST_F(WarpTest, a_copy_may_be_overwritten_an_accumulator_may_not) {
  warp.takeOff(0, Flight::Accumulator);
  EXPECT_TRUE(warp.renameInFlight(0, 1));
  EXPECT_TRUE(warp.overwrite(1));
  EXPECT_EQ(warp.flight(1), Flight::None);
  EXPECT_FALSE(warp.overwrite(0));
  set(1, 77);
  set(0, 3);
  warp.arrive(0);
  EXPECT_EQ(get(1), 77u);
}

TEST_F(WarpTest, an_accumulator_is_in_flight_until_its_last_operation_lands) {
  warp.takeOff(0, Flight::Accumulator);
  warp.takeOff(0, Flight::Accumulator);
  warp.arrive(0);
  warp.arrive(0);
  warp.land(0);
  EXPECT_EQ(warp.flight(0), Flight::Accumulator);
  warp.land(0);
  EXPECT_EQ(warp.flight(0), Flight::None);
}

} // namespace
