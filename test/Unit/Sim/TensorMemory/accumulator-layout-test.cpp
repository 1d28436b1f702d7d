// Accumulators and scale factors in tensor memory: all elements against the formulas of hardware.md 7.6 and 7.8.
#include "headrace/Sim/TensorMemory/AccumulatorLayout.h"
#include "headrace/Sim/TensorMemory/ScaleLayout.h"

#include "gtest/gtest.h"

#include <set>
#include <tuple>

using namespace headrace::sim;

namespace {

using Place = std::tuple<int, int, int>; // CTA, lane, column

/// Checks that D has each element once, at formula(m, n), and no place twice.
template <typename Formula> void expectLayout(int ctaGroup, bool weightStationary, int m, int n, Formula formula) {
  std::set<Place> places;
  std::set<std::pair<int, int>> elements;
  for (const AccumulatorRun &run : accumulatorRuns(ctaGroup, weightStationary, m, n)) {
    for (int i = 0; i < run.count; ++i) {
      Place place = {run.cta, run.lane, i};
      EXPECT_EQ(place, formula(run.row, run.firstN + i)) << run.row << " " << run.firstN + i;
      places.insert(place);
      elements.insert({run.row, run.firstN + i});
    }
  }
  EXPECT_EQ(places.size(), size_t(m) * n);
  EXPECT_EQ(elements.size(), size_t(m) * n);
}

TEST(AccumulatorLayout, D) {
  auto formula = [](int m, int n) { return Place{0, m, n}; };
  expectLayout(1, false, 128, 48, formula);
  expectLayout(1, true, 128, 64, formula);
}

TEST(AccumulatorLayout, F) {
  expectLayout(1, false, 64, 8, [](int m, int n) { return Place{0, 32 * (m / 16) + m % 16, n}; });
}

TEST(AccumulatorLayout, A) {
  expectLayout(2, false, 256, 32, [](int m, int n) { return Place{m / 128, m % 128, n}; });
}

TEST(AccumulatorLayout, B) {
  for (int columns : {16, 64})
    expectLayout(2, false, 128, columns, [columns](int m, int n) {
      return Place{m / 64, m % 64 + 64 * (n >= columns / 2), n % (columns / 2)};
    });
}

TEST(AccumulatorLayout, E) {
  expectLayout(1, true, 64, 64, [](int m, int n) { return Place{0, m + 64 * (n >= 32), n % 32}; });
}

TEST(AccumulatorLayout, G) {
  expectLayout(1, true, 32, 128, [](int m, int n) { return Place{0, m + 32 * (n / 32), n % 32}; });
}

TEST(AccumulatorLayout, OnlyLayoutFLeavesLanesFree) {
  EXPECT_TRUE(mayStartAtLane16(1, false, 64));
  EXPECT_FALSE(mayStartAtLane16(1, false, 128));
  EXPECT_FALSE(mayStartAtLane16(1, true, 64));
  EXPECT_FALSE(mayStartAtLane16(2, false, 128));
}

TEST(ScaleLayout, ReplicatedInFourGroups) {
  std::set<std::pair<int, int>> places;
  for (int row = 0; row < 256; ++row) {
    ScalePlace place = scalePlace(row);
    EXPECT_EQ(place.lane, row % 32);
    EXPECT_EQ(place.column, row / 32);
    for (int copy = 0; copy < place.copies; ++copy)
      places.insert({place.lane + 32 * copy, place.column});
  }
  EXPECT_EQ(places.size(), 128u * 8);
}

TEST(ScaleLayout, SplitBetweenTheHalvesOfTheLanes) {
  constexpr int kColumns = 256;
  std::set<std::pair<int, int>> places;
  for (int n = 0; n < kColumns; ++n) {
    ScalePlace place = splitScalePlace(n, kColumns);
    EXPECT_EQ(place.lane, n % 128 % 32 + (n >= 128 ? 64 : 0));
    EXPECT_EQ(place.column, n % 128 / 32);
    for (int copy = 0; copy < place.copies; ++copy)
      places.insert({place.lane + 32 * copy, place.column});
  }
  EXPECT_EQ(places.size(), 128u * 4);
}

} // namespace
