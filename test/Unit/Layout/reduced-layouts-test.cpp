// Laws of the layouts that reductions pass through: gathered dimensions, parts of warps, and what each warp is left with.
#include "headrace/Layout/Fragments.h"

#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace headrace;

namespace {

using Coordinate = std::vector<int64_t>;

std::vector<TileLayout> someLayouts() {
  return {
      *mmaAccumulator(64, 24, 2, 1),
      *mmaAccumulator(48, 40, 1, 5),
      *mmaAccumulator8x8(24, 16, 3, 2),
      *mmaOperandA(96, 48, 16, 16, 3, 2),
      *wgmmaAccumulator(128, 24, 2),
      *tmemAccumulator(128, 24, 2),
      blocked({29, 24}, 8, 4, 1),
      blocked({40, 48}, 4, 6, 0),
      blocked({96, 64}, 4, 12, 1),
      blocked({1, 112}, 8, 3, 1),
      blocked({229, 1}, 4, 2, 0),
      *scannable({40, 24}, 4, 1),
      // Two groups on one dimension, and a replicated one between them.
      TileLayout(LinearLayout({2, 4}, {{0, 1}}, {{0, 2}, {1, 0}}, {}), {{2, 0}, {2, -1}, {3, 0}}, {1, 3}),
  };
}

template <typename Visit> void forEachThread(const TileLayout &layout, Visit visit) {
  for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
    for (int64_t lane = 0; lane < layout.atom().size(InDim::Lane); ++lane)
      visit(lane, warp);
}

Coordinate without(Coordinate coordinate, int64_t dim) {
  coordinate.erase(coordinate.begin() + dim);
  return coordinate;
}

/// What a thread holds.
std::set<Coordinate> elementsOf(const TileLayout &layout, int64_t lane, int64_t warp) {
  std::set<Coordinate> elements;
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
    elements.insert(layout.coordinate(reg, lane, warp));
  return elements;
}

/// The coordinates along `dim` that the threads of a warp hold together.
std::set<int64_t> spanOf(const TileLayout &layout, int64_t dim, int64_t warp) {
  std::set<int64_t> span;
  for (int64_t lane = 0; lane < layout.atom().size(InDim::Lane); ++lane)
    for (const Coordinate &element : elementsOf(layout, lane, warp))
      span.insert(element[dim]);
  return span;
}

TEST(Gather, EachThreadHoldsAllOfTheDimension) {
  for (const TileLayout &layout : someLayouts())
    for (int64_t dim : {0, 1})
      for (int64_t count : {1, 3, 4}) {
        TileLayout gathered = layout.gather(dim, count);
        Coordinate shape = layout.shape();
        shape[dim] = count;
        ASSERT_EQ(gathered.shape(), shape) << layout.toString();
        ASSERT_EQ(gathered.numWarps(), layout.numWarps());
        ASSERT_EQ(gathered.numRegisters(), count * layout.slice(dim).numRegisters());
        forEachThread(layout, [&](int64_t lane, int64_t warp) {
          std::set<Coordinate> expected;
          for (Coordinate element : elementsOf(layout, lane, warp))
            for (element[dim] = 0; element[dim] < count; ++element[dim])
              expected.insert(element);
          ASSERT_EQ(elementsOf(gathered, lane, warp), expected) << layout.toString();
        });
      }
}

TEST(Gather, SliceForgetsIt) {
  for (const TileLayout &layout : someLayouts())
    for (int64_t dim : {0, 1})
      for (int64_t count : {1, 4})
        EXPECT_EQ(layout.gather(dim, count).slice(dim), layout.slice(dim)) << layout.toString();
}

TEST(Gather, OnceIsEnough) {
  for (const TileLayout &layout : someLayouts())
    for (int64_t dim : {0, 1})
      EXPECT_EQ(layout.gather(dim, 3).gather(dim, 4), layout.gather(dim, 4)) << layout.toString();
}

TEST(Gather, NothingIsSpreadAfterwards) {
  for (const TileLayout &layout : someLayouts())
    for (int64_t dim : {0, 1})
      EXPECT_EQ(layout.gather(dim, 4).partsAlong(dim), 1) << layout.toString();
}

TEST(Parts, AreTheSpansOfWarps) {
  for (const TileLayout &layout : someLayouts())
    for (int64_t dim : {0, 1}) {
      std::set<std::set<int64_t>> spans;
      size_t elements = 0;
      for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
        if (spans.insert(spanOf(layout, dim, warp)).second)
          elements += spanOf(layout, dim, warp).size();
      EXPECT_EQ(layout.partsAlong(dim), static_cast<int64_t>(spans.size())) << layout.toString();
      // Parts have nothing in common, and are all of it.
      EXPECT_EQ(static_cast<int64_t>(elements), layout.shape()[dim]) << layout.toString();
    }
}

TEST(Parts, OfKnownLayouts) {
  EXPECT_EQ(mmaAccumulator(64, 64, 4, 1)->partsAlong(0), 4);
  EXPECT_EQ(mmaAccumulator(64, 64, 4, 1)->partsAlong(1), 1);
  EXPECT_EQ(mmaAccumulator(64, 64, 2, 2)->partsAlong(1), 2);
  // Four warps of a warpgroup, times two warpgroups.
  EXPECT_EQ(wgmmaAccumulator(128, 64, 2)->partsAlong(0), 8);
  EXPECT_EQ(wgmmaAccumulator(128, 64, 2)->partsAlong(1), 1);
  EXPECT_EQ(tmemAccumulator(128, 64, 2)->partsAlong(1), 2);
  // Operand A is the same for all groups along N.
  EXPECT_EQ(mmaOperandA(64, 32, 16, 16, 2, 2)->partsAlong(0), 2);
  EXPECT_EQ(blocked({64}, 1, 1, 0).partsAlong(0), 1);
  EXPECT_EQ(blocked({229}, 4, 4, 0).partsAlong(0), 1);
}

TEST(ReduceWithinWarps, HasOneElementForEachPart) {
  for (const TileLayout &layout : someLayouts())
    for (int64_t dim : {0, 1}) {
      TileLayout reduced = layout.reduceWithinWarps(dim);
      Coordinate shape = layout.shape();
      shape[dim] = layout.partsAlong(dim);
      ASSERT_EQ(reduced.shape(), shape) << layout.toString();
      ASSERT_EQ(reduced.numWarps(), layout.numWarps());
      ASSERT_EQ(reduced.partsAlong(dim), layout.partsAlong(dim));
      // Warps that had the same span have the same part, others another one.
      std::map<std::set<int64_t>, int64_t> partOf;
      std::set<int64_t> parts;
      for (int64_t warp = 0; warp < layout.numWarps(); ++warp) {
        std::set<int64_t> own = spanOf(reduced, dim, warp);
        ASSERT_EQ(own.size(), 1u) << reduced.toString();
        auto [known, isNew] = partOf.emplace(spanOf(layout, dim, warp), *own.begin());
        EXPECT_EQ(known->second, *own.begin()) << layout.toString();
        EXPECT_EQ(parts.insert(*own.begin()).second, isNew) << layout.toString();
      }
    }
}

TEST(ReduceWithinWarps, RegistersAreThoseOfTheSlice) {
  for (const TileLayout &layout : someLayouts())
    for (int64_t dim : {0, 1}) {
      TileLayout reduced = layout.reduceWithinWarps(dim), sliced = layout.slice(dim);
      ASSERT_EQ(reduced.numRegisters(), sliced.numRegisters()) << layout.toString();
      forEachThread(layout, [&](int64_t lane, int64_t warp) {
        for (int64_t reg = 0; reg < sliced.numRegisters(); ++reg)
          ASSERT_EQ(without(reduced.coordinate(reg, lane, warp), dim), sliced.coordinate(reg, lane, warp))
              << layout.toString();
      });
    }
}

TEST(ReduceWithinWarps, RowsComeInTheOrderOfRegisters) {
  // What a reduction makes of the registers, row by row as they come, are the registers of the result.
  for (const TileLayout &layout : someLayouts())
    for (int64_t dim : {0, 1}) {
      int64_t next = 0;
      for (int64_t reg : layout.sliceRegisters(dim)) {
        ASSERT_LE(reg, next) << layout.toString();
        next += reg == next;
      }
      EXPECT_EQ(next, layout.slice(dim).numRegisters()) << layout.toString();
    }
}

TEST(ReduceWithinWarps, AllPartsReduceToTheSlice) {
  for (const TileLayout &layout : someLayouts())
    for (int64_t dim : {0, 1}) {
      int64_t parts = layout.partsAlong(dim);
      EXPECT_EQ(layout.gather(dim, parts).shape(), layout.reduceWithinWarps(dim).shape()) << layout.toString();
      EXPECT_EQ(layout.gather(dim, parts).slice(dim), layout.slice(dim)) << layout.toString();
    }
}

TEST(ReduceWithinWarps, ChangesNothingButTheDimensionInOneWarp) {
  for (int64_t dim : {0, 1})
    for (const TileLayout &layout : {blocked({24, 40}, 4, 1, 1), *scannable({24, 40}, 1, 1)})
      EXPECT_EQ(layout.reduceWithinWarps(dim), layout.gather(dim, 1)) << layout.toString();
}

} // namespace
