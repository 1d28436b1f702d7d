// Laws of linear layouts, on all points of all layouts of a small family.
#include "headrace/Layout/LinearLayout.h"

#include "gtest/gtest.h"

#include <map>

using namespace headrace;

namespace {

using Coordinate = std::vector<int64_t>;

/// All layouts of a [4, 2] tile with two register bits, one lane bit and one warp bit.
std::vector<LinearLayout> allSmallLayouts() {
  LinearLayout::Bases choices;
  for (int64_t row : {0, 1, 2})
    for (int64_t column : {0, 1})
      choices.push_back({row, column});
  std::vector<LinearLayout> layouts;
  for (const auto &r0 : choices)
    for (const auto &r1 : choices)
      for (const auto &lane : choices)
        for (const auto &warp : choices)
          layouts.push_back(LinearLayout({4, 2}, {r0, r1}, {lane}, {warp}));
  return layouts;
}

/// Calls `visit` with every place, the lowest first.
template <typename Visit> void forEachPlace(const LinearLayout &layout, Visit visit) {
  for (int64_t warp = 0; warp < layout.size(InDim::Warp); ++warp)
    for (int64_t lane = 0; lane < layout.size(InDim::Lane); ++lane)
      for (int64_t reg = 0; reg < layout.size(InDim::Register); ++reg)
        visit(Place{reg, lane, warp});
}

Coordinate at(const LinearLayout &layout, const Place &place) {
  return layout.apply(place.reg, place.lane, place.warp);
}

std::map<Coordinate, std::vector<Place>> holders(const LinearLayout &layout) {
  std::map<Coordinate, std::vector<Place>> result;
  forEachPlace(layout, [&](Place place) { result[at(layout, place)].push_back(place); });
  return result;
}

const LinearLayout kAccumulator({16, 8}, {{0, 1}, {8, 0}}, {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}, {});

TEST(LinearLayout, PageExample) {
  EXPECT_EQ(kAccumulator.apply(3, 9, 0), (Coordinate{10, 3}));
  EXPECT_EQ(kAccumulator.toString(), "[16, 8] register [0, 1] [8, 0] lane [0, 2] [0, 4] [1, 0] [2, 0] [4, 0] warp");
}

TEST(LinearLayout, SurjectiveAndInjectiveByCounting) {
  for (const LinearLayout &layout : allSmallLayouts()) {
    auto places = holders(layout);
    EXPECT_EQ(layout.isSurjective(), places.size() == 8) << layout.toString();
    EXPECT_EQ(layout.isInjective(), places.size() == 16) << layout.toString();
  }
  EXPECT_TRUE(kAccumulator.isSurjective());
  EXPECT_TRUE(kAccumulator.isInjective());
}

TEST(LinearLayout, InverseIsTheLowestPlace) {
  int surjective = 0;
  for (const LinearLayout &layout : allSmallLayouts()) {
    if (!layout.isSurjective())
      continue;
    ++surjective;
    InverseLayout inverse = layout.invert();
    for (const auto &[element, places] : holders(layout))
      EXPECT_EQ(inverse.apply(element), places.front()) << layout.toString();
  }
  EXPECT_GT(surjective, 100);
}

TEST(LinearLayout, SplitMeansAddition) {
  for (const LinearLayout &layout : allSmallLayouts()) {
    if (!layout.isSplit())
      continue;
    forEachPlace(layout, [&](Place place) {
      Coordinate reg = layout.apply(place.reg, 0, 0);
      Coordinate thread = layout.apply(0, place.lane, place.warp);
      EXPECT_EQ(at(layout, place), (Coordinate{reg[0] + thread[0], reg[1] + thread[1]}));
    });
  }
  EXPECT_FALSE(LinearLayout({4}, {{1}}, {{1}}, {}).isSplit());
}

TEST(LinearLayout, SliceDropsTheCoordinate) {
  for (const LinearLayout &layout : allSmallLayouts()) {
    for (int64_t dim : {0, 1}) {
      LinearLayout sliced = layout.slice(dim);
      EXPECT_EQ(sliced.numBits(InDim::Lane), layout.numBits(InDim::Lane));
      EXPECT_EQ(sliced.numBits(InDim::Warp), layout.numBits(InDim::Warp));
      for (const auto &basis : sliced.bases(InDim::Register))
        EXPECT_NE(basis[0], 0);
      // A thread holds the same set of elements as before, without the coordinate.
      for (int64_t thread = 0; thread < 4; ++thread) {
        std::map<Coordinate, int> before, after;
        for (int64_t reg = 0; reg < layout.size(InDim::Register); ++reg) {
          Coordinate element = layout.apply(reg, thread & 1, thread >> 1);
          element.erase(element.begin() + dim);
          before[element] = 1;
        }
        for (int64_t reg = 0; reg < sliced.size(InDim::Register); ++reg)
          after[sliced.apply(reg, thread & 1, thread >> 1)] = 1;
        EXPECT_EQ(before, after) << layout.toString();
      }
    }
  }
}

TEST(LinearLayout, SliceToRankZero) {
  LinearLayout scalar = LinearLayout({4}, {{1}}, {{2}}, {}).slice(0);
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.numBits(InDim::Register), 0);
  EXPECT_EQ(scalar.apply(0, 1, 0), Coordinate{});
  EXPECT_TRUE(scalar.isSurjective());
}

TEST(LinearLayout, TransposePermutesCoordinates) {
  for (const LinearLayout &layout : allSmallLayouts()) {
    LinearLayout transposed = layout.transpose({1, 0});
    forEachPlace(layout, [&](Place place) {
      Coordinate element = at(layout, place);
      EXPECT_EQ(at(transposed, place), (Coordinate{element[1], element[0]}));
    });
    EXPECT_EQ(transposed.transpose({1, 0}), layout);
  }
}

TEST(LinearLayout, ProductRepeatsTheLeft) {
  LinearLayout high({4, 2}, {{2, 0}}, {{0, 1}}, {{1, 0}});
  LinearLayout product = kAccumulator * high;
  EXPECT_EQ(product.shape(), (Coordinate{64, 16}));
  forEachPlace(product, [&](Place place) {
    Coordinate low = kAccumulator.apply(place.reg % 4, place.lane % 32, 0);
    Coordinate outer = high.apply(place.reg / 4, place.lane / 32, place.warp);
    EXPECT_EQ(at(product, place), (Coordinate{low[0] + 16 * outer[0], low[1] + 8 * outer[1]}));
  });
}

TEST(LinearLayout, ProductIsAssociative) {
  std::vector<LinearLayout> all = allSmallLayouts();
  for (size_t i = 0; i < all.size(); i += 7) {
    const LinearLayout &a = all[i], &b = all[(i * 5 + 3) % all.size()], &c = all[(i * 11 + 1) % all.size()];
    EXPECT_EQ((a * b) * c, a * (b * c));
  }
  LinearLayout one({1, 1}, {}, {}, {});
  EXPECT_EQ(one * kAccumulator, kAccumulator);
  EXPECT_EQ(kAccumulator * one, kAccumulator);
}

TEST(Grid, RowMajorRoundTrip) {
  for (int64_t index = 0; index < 24; ++index)
    EXPECT_EQ(rowMajorIndex(rowMajorCoordinate(index, {2, 3, 4}), {2, 3, 4}), index);
  EXPECT_EQ(rowMajorCoordinate(7, {2, 3, 4}), (Coordinate{0, 1, 3}));
  EXPECT_EQ(productOf({}), 1);
}

} // namespace
