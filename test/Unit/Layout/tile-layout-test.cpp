// Laws of tile layouts: the split into register and thread, slices, renaming, contiguity.
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
      *mmaOperandA(96, 48, 16, 16, 3, 2),
      *mmaOperandB(24, 32, 8, 32, 2, 3),
      *wgmmaAccumulator(128, 112, 2),
      *tmemAccumulator(128, 96, 2),
      blocked({29, 24}, 8, 4, 1),
      blocked({40, 80}, 4, 6, 0),
      blocked({1, 208}, 8, 3, 1),
      // Two groups on one dimension, and a replicated one between them.
      TileLayout(LinearLayout({2, 4}, {{0, 1}}, {{0, 2}, {1, 0}}, {}), {{2, 0}, {2, -1}, {3, 0}}, {1, 3}),
  };
}

template <typename Visit> void forEachThread(const TileLayout &layout, Visit visit) {
  for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
    for (int64_t lane = 0; lane < layout.atom().size(InDim::Lane); ++lane)
      visit(lane, warp);
}

TEST(TileLayout, PageTable) {
  TileLayout layout = *mmaAccumulator(64, 24, 2, 1);
  struct Line {
    int64_t warp, reg;
    Coordinate lane0, lane5;
  };
  for (const Line &line : std::vector<Line>{{0, 0, {0, 0}, {1, 2}},
                                            {0, 1, {0, 1}, {1, 3}},
                                            {0, 2, {8, 0}, {9, 2}},
                                            {0, 4, {0, 8}, {1, 10}},
                                            {0, 12, {16, 0}, {17, 2}},
                                            {0, 23, {24, 17}, {25, 19}},
                                            {1, 0, {32, 0}, {33, 2}}}) {
    EXPECT_EQ(layout.coordinate(line.reg, 0, line.warp), line.lane0);
    EXPECT_EQ(layout.coordinate(line.reg, 5, line.warp), line.lane5);
  }
  TileLayout sliced = layout.slice(1);
  EXPECT_EQ(sliced.numRegisters(), 4);
  for (int64_t reg = 0; reg < 4; ++reg)
    EXPECT_EQ(sliced.registerOffset(reg), Coordinate{8 * reg});
  EXPECT_EQ(sliced.threadOffset(5, 1), Coordinate{33});
  EXPECT_EQ(sliced.replicatedLaneBits(), (std::vector<int>{0, 1}));
  EXPECT_EQ(layout.toString(),
            "[64, 24] = {" + layout.atom().toString() + "} x repeat [2, 3] x groups [2 on 0, 1 on 1]");
}

TEST(TileLayout, CoordinateIsTheFormula) {
  for (const TileLayout &layout : someLayouts()) {
    Coordinate shape = layout.shape(), atom = layout.atom().shape();
    int64_t atomRegisters = layout.atom().size(InDim::Register);
    int64_t atomWarps = layout.atom().size(InDim::Warp);
    forEachThread(layout, [&](int64_t lane, int64_t warp) {
      Coordinate counts, group(layout.shape().size(), 0);
      for (const Group &g : layout.groups())
        counts.push_back(g.count);
      Coordinate place = rowMajorCoordinate(warp / atomWarps, counts);
      for (size_t i = 0; i < counts.size(); ++i)
        if (layout.groups()[i].dim >= 0) {
          int64_t &part = group[layout.groups()[i].dim];
          part = part * counts[i] + place[i];
        }
      for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
        Coordinate rep = rowMajorCoordinate(reg / atomRegisters, layout.repeat());
        Coordinate expected = layout.atom().apply(reg % atomRegisters, lane, warp % atomWarps);
        for (size_t d = 0; d < shape.size(); ++d) {
          expected[d] += atom[d] * rep[d] + atom[d] * layout.repeat()[d] * group[d];
          ASSERT_LT(expected[d], shape[d]);
        }
        ASSERT_EQ(layout.coordinate(reg, lane, warp), expected) << layout.toString();
      }
    });
  }
}

TEST(TileLayout, WritersHoldEveryElementOnce) {
  for (const TileLayout &layout : someLayouts()) {
    for (const TileLayout &variant : {layout, layout.slice(0), layout.slice(1)}) {
      std::set<Coordinate> all, written;
      int64_t writes = 0;
      forEachThread(variant, [&](int64_t lane, int64_t warp) {
        for (int64_t reg = 0; reg < variant.numRegisters(); ++reg) {
          all.insert(variant.coordinate(reg, lane, warp));
          if (variant.isWriter(lane, warp)) {
            written.insert(variant.coordinate(reg, lane, warp));
            ++writes;
          }
        }
      });
      int64_t elements = productOf(variant.shape());
      EXPECT_EQ(static_cast<int64_t>(all.size()), elements) << variant.toString();
      EXPECT_EQ(static_cast<int64_t>(written.size()), elements) << variant.toString();
      EXPECT_EQ(writes, elements) << variant.toString();
    }
  }
}

TEST(TileLayout, SliceRegistersHoldTheSameCoordinates) {
  for (const TileLayout &layout : someLayouts()) {
    for (int64_t dim : {0, 1}) {
      TileLayout sliced = layout.slice(dim);
      std::vector<int64_t> map = layout.sliceRegisters(dim);
      forEachThread(layout, [&](int64_t lane, int64_t warp) {
        for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
          Coordinate element = layout.coordinate(reg, lane, warp);
          element.erase(element.begin() + dim);
          ASSERT_EQ(sliced.coordinate(map[reg], lane, warp), element) << layout.toString();
        }
      });
    }
  }
}

TEST(TileLayout, SliceRenumbersGroups) {
  TileLayout layout = *mmaAccumulator(64, 64, 2, 2);
  EXPECT_EQ(layout.slice(0).groups(), (std::vector<Group>{{2, -1}, {2, 0}}));
  EXPECT_EQ(layout.slice(1).groups(), (std::vector<Group>{{2, 0}, {2, -1}}));
  EXPECT_FALSE(layout.replicatesGroups());
  EXPECT_TRUE(layout.slice(0).replicatesGroups());
  EXPECT_FALSE(mmaAccumulator(64, 64, 1, 4)->slice(0).replicatesGroups());
  EXPECT_EQ(wgmmaAccumulator(64, 64, 1)->slice(0).replicatedWarpBits(), (std::vector<int>{0, 1}));
}

TEST(TileLayout, SliceToAScalar) {
  TileLayout scalar = mmaAccumulator(32, 24, 2, 1)->slice(1).slice(0);
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.numRegisters(), 1);
  EXPECT_EQ(scalar.coordinate(0, 31, 1), Coordinate{});
  EXPECT_TRUE(scalar.isWriter(0, 0));
  EXPECT_FALSE(scalar.isWriter(0, 1));
}

TEST(TileLayout, ExpandIsUndoneBySlice) {
  for (const TileLayout &layout : someLayouts()) {
    for (int64_t dim : {0, 1, 2}) {
      TileLayout expanded = layout.expand(dim);
      EXPECT_EQ(expanded.shape()[dim], 1);
      EXPECT_EQ(expanded.slice(dim), layout);
      Coordinate element = layout.coordinate(layout.numRegisters() - 1, 3, layout.numWarps() - 1);
      element.insert(element.begin() + dim, 0);
      EXPECT_EQ(expanded.coordinate(layout.numRegisters() - 1, 3, layout.numWarps() - 1), element);
    }
  }
}

TEST(TileLayout, TransposeHoldsTheTransposedElements) {
  for (const TileLayout &layout : someLayouts()) {
    TileLayout transposed = layout.transpose({1, 0});
    EXPECT_EQ(transposed.transpose({1, 0}), layout);
    forEachThread(layout, [&](int64_t lane, int64_t warp) {
      std::set<Coordinate> expected, held;
      for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
        Coordinate element = layout.coordinate(reg, lane, warp);
        expected.insert({element[1], element[0]});
        held.insert(transposed.coordinate(reg, lane, warp));
      }
      ASSERT_EQ(held, expected);
    });
  }
}

/// The renaming found by looking at every thread.
std::optional<std::vector<int64_t>> renamingByForce(const TileLayout &from, const TileLayout &to) {
  if (from.shape() != to.shape() || from.numWarps() != to.numWarps())
    return std::nullopt;
  std::vector<int64_t> result;
  for (int64_t reg = 0; reg < to.numRegisters(); ++reg) {
    for (int64_t source = 0; source < from.numRegisters(); ++source) {
      bool same = true;
      forEachThread(to, [&](int64_t lane, int64_t warp) {
        same = same && to.coordinate(reg, lane, warp) == from.coordinate(source, lane, warp);
      });
      if (same) {
        result.push_back(source);
        break;
      }
    }
    if (static_cast<int64_t>(result.size()) != reg + 1)
      return std::nullopt;
  }
  return result;
}

TEST(TileLayout, RenamingAgreesWithForce) {
  std::vector<TileLayout> layouts = {
      *mmaAccumulator(32, 32, 2, 1),
      *mmaOperandA(32, 32, 16, 16, 2, 1),
      *mmaOperandA(32, 32, 16, 8, 2, 1),
      *mmaOperandA(32, 32, 8, 32, 2, 1),
      mmaAccumulator(32, 32, 1, 2)->transpose({1, 0}),
      *mmaOperandB(32, 32, 16, 16, 1, 2),
      *mmaOperandB(32, 32, 16, 16, 2, 1),
      blocked({32, 32}, 4, 2, 1),
      blocked({32, 32}, 2, 2, 1),
      TileLayout(LinearLayout({8, 8}, {{0, 1}}, {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}, {}), {{2, 0}}, {2, 4}),
  };
  int found = 0;
  for (const TileLayout &from : layouts) {
    for (const TileLayout &to : layouts) {
      auto renaming = TileLayout::renaming(from, to);
      EXPECT_EQ(renaming, renamingByForce(from, to)) << from.toString() << "\n" << to.toString();
      found += renaming.has_value();
    }
  }
  EXPECT_GT(found, static_cast<int>(layouts.size()));
}

TEST(TileLayout, AccumulatorRenamesToTheNextOperandA) {
  // Chained wgmma: k-step t takes d[8t..8t+7] in order (PTX ISA 9.7.15.5.1.1).
  auto renaming = TileLayout::renaming(*wgmmaAccumulator(128, 64, 2), *wgmmaOperandA(128, 64, 16, 2));
  ASSERT_TRUE(renaming);
  for (int64_t reg = 0; reg < 32; ++reg)
    EXPECT_EQ((*renaming)[reg], reg);
  // With 8-bit operands the columns belong to other lanes.
  EXPECT_FALSE(TileLayout::renaming(*wgmmaAccumulator(64, 64, 1), *wgmmaOperandA(64, 64, 8, 1)));
}

TEST(TileLayout, RenamingNeedsEqualShapesAndWarps) {
  EXPECT_FALSE(TileLayout::renaming(*mmaAccumulator(32, 32, 1, 1), *mmaAccumulator(32, 16, 1, 1)));
  EXPECT_FALSE(TileLayout::renaming(*mmaAccumulator(32, 32, 1, 1), *mmaAccumulator(32, 32, 2, 1)));
}

/// The definition of contiguous, on every thread.
bool holdsRuns(const TileLayout &layout, int64_t dim, int64_t length) {
  bool runs = layout.numRegisters() % length == 0;
  forEachThread(layout, [&](int64_t lane, int64_t warp) {
    for (int64_t reg = 0; runs && reg < layout.numRegisters(); ++reg) {
      Coordinate first = layout.coordinate(reg - reg % length, lane, warp);
      runs = first[dim] % length == 0;
      first[dim] += reg % length;
      runs = runs && layout.coordinate(reg, lane, warp) == first;
    }
  });
  return runs;
}

TEST(TileLayout, ContiguousIsTheLongestRun) {
  for (const TileLayout &layout : someLayouts()) {
    for (int64_t dim : {0, 1}) {
      int64_t length = layout.contiguous(dim);
      EXPECT_TRUE(holdsRuns(layout, dim, length)) << layout.toString();
      EXPECT_FALSE(holdsRuns(layout, dim, 2 * length)) << layout.toString();
    }
  }
  EXPECT_EQ(mmaAccumulator(16, 8, 1, 1)->contiguous(1), 2);
  EXPECT_EQ(mmaAccumulator(16, 8, 1, 1)->contiguous(0), 1);
  EXPECT_EQ(tmemAccumulator(128, 96, 2)->contiguous(1), 16);
  EXPECT_EQ(blocked({64, 64}, 8, 4, 1).contiguous(1), 8);
  EXPECT_EQ(blocked({229}, 8, 4, 0).contiguous(0), 1);
}

} // namespace
