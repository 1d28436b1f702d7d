// Laws of reshaped layouts: every element stays in its thread, whichever extents it is counted in.
#include "headrace/Layout/Fragments.h"

#include "gtest/gtest.h"

#include <set>

using namespace headrace;

namespace {

using Coordinate = std::vector<int64_t>;

std::vector<TileLayout> someLayouts() {
  return {
      *mmaAccumulator(64, 24, 2, 1),
      *mmaAccumulator(48, 40, 1, 5),
      *mmaOperandA(96, 48, 16, 16, 3, 2),
      *wgmmaAccumulator(128, 24, 2),
      *tmemAccumulator(128, 24, 2),
      blocked({29, 24}, 8, 4, 1),
      blocked({40, 48}, 4, 6, 0),
      blocked({96, 64}, 4, 12, 1),
      blocked({1, 112}, 8, 3, 1),
      blocked({8, 128}, 8, 4, 1),
      blocked({4, 6, 32}, 4, 8, 2),
      *scannable({40, 24}, 4, 1),
      // Two groups on one dimension, and a replicated one between them.
      TileLayout(LinearLayout({2, 4}, {{0, 1}}, {{0, 2}, {1, 0}}, {}), {{2, 0}, {2, -1}, {3, 0}}, {1, 3}),
  };
}

/// All shapes of up to three extents with this product.
std::vector<Coordinate> shapesOf(int64_t count) {
  std::vector<Coordinate> shapes = {{count}};
  for (int64_t first = 1; first <= count; ++first)
    if (count % first == 0) {
      shapes.push_back({first, count / first});
      for (int64_t second = 1; second <= count / first; ++second)
        if (count / first % second == 0)
          shapes.push_back({first, second, count / first / second});
    }
  return shapes;
}

/// The row-major numbers of what a thread holds.
std::set<int64_t> numbersOf(const TileLayout &layout, int64_t lane, int64_t warp) {
  std::set<int64_t> numbers;
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
    numbers.insert(rowMajorIndex(layout.coordinate(reg, lane, warp), layout.shape()));
  return numbers;
}

TEST(Reshape, EveryElementStaysInItsThread) {
  int64_t possible = 0, asked = 0;
  for (const TileLayout &layout : someLayouts())
    for (const Coordinate &shape : shapesOf(productOf(layout.shape()))) {
      ++asked;
      std::optional<TileLayout> reshaped = layout.reshape(shape);
      if (!reshaped)
        continue;
      ++possible;
      ASSERT_EQ(reshaped->shape(), shape) << layout.toString();
      ASSERT_EQ(reshaped->numWarps(), layout.numWarps());
      ASSERT_EQ(reshaped->numRegisters(), layout.numRegisters());
      for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
        for (int64_t lane : {0, 1, 2, 4, 8, 16, 21, 31}) // single bits, and several
          ASSERT_EQ(numbersOf(*reshaped, lane, warp), numbersOf(layout, lane, warp))
              << layout.toString() << " to " << printList(shape);
    }
  // Not the empty truth: powers of two always split, and some factors come in the order of the dimensions.
  EXPECT_GT(possible * 10, asked);
}

TEST(Reshape, IsARenaming) {
  for (const TileLayout &layout : someLayouts())
    for (const Coordinate &shape : shapesOf(productOf(layout.shape())))
      if (std::optional<TileLayout> reshaped = layout.reshape(shape)) {
        std::optional<std::vector<int64_t>> names = TileLayout::renaming(layout, *reshaped);
        ASSERT_TRUE(names) << layout.toString() << " to " << printList(shape);
        for (int64_t reg = 0; reg < reshaped->numRegisters(); ++reg)
          ASSERT_EQ(rowMajorIndex(reshaped->registerOffset(reg), shape),
                    rowMajorIndex(layout.registerOffset((*names)[reg]), layout.shape()));
      }
}

TEST(Reshape, UnitsComeAndGoInEveryLayout) {
  for (const TileLayout &layout : someLayouts()) {
    Coordinate shape = layout.shape();
    for (size_t place = 0; place <= shape.size(); ++place) {
      Coordinate wide = shape;
      wide.insert(wide.begin() + place, 1);
      std::optional<TileLayout> with = layout.reshape(wide);
      ASSERT_TRUE(with) << layout.toString();
      EXPECT_EQ(with->reshape(shape), layout);
    }
    EXPECT_EQ(layout.reshape(shape), layout);
  }
}

// What interleaved pairs need: split off at the fine end of vectors, and merged again.
TEST(Reshape, SplitsInsideTheAtomAndBack) {
  for (const TileLayout &layout : {blocked({8, 128}, 8, 4, 1), blocked({3, 48}, 4, 2, 1), *wgmmaAccumulator(128, 24, 2),
                                   *mmaOperandA(96, 48, 16, 16, 3, 2)}) {
    Coordinate shape = layout.shape();
    std::optional<TileLayout> pairs = layout.reshape({shape[0], shape[1] / 2, 2});
    ASSERT_TRUE(pairs) << layout.toString();
    EXPECT_TRUE(pairs->isWithinThreads(2));
    EXPECT_EQ(pairs->reshape(shape), layout);
    EXPECT_EQ(pairs->slice(2).pair(), *pairs) << "the vectors' lowest bit is that of the pair";
  }
}

TEST(Reshape, RepetitionBelowBitsOfTheAtomIsNoLayout) {
  // Rows of 24 columns, 8 of them in the atom: lanes of the next row would lie above a repetition of 3.
  EXPECT_FALSE(mmaAccumulator(64, 24, 2, 1)->reshape({64 * 24}));
  // A repetition that is a power of two becomes bits of the atom.
  EXPECT_TRUE(mmaAccumulator(64, 32, 2, 1)->reshape({64 * 32}));
  // 6 columns end inside of the vectors' 4.
  EXPECT_FALSE(blocked({8, 96}, 4, 2, 1).reshape({8, 16, 6}));
}

TEST(Pair, BothElementsLieInNeighbouringRegisters) {
  for (const TileLayout &layout : someLayouts()) {
    TileLayout pairs = layout.pair();
    int64_t last = layout.rank();
    Coordinate shape = layout.shape();
    shape.push_back(2);
    ASSERT_EQ(pairs.shape(), shape);
    ASSERT_EQ(pairs.slice(last), layout);
    ASSERT_TRUE(pairs.isWithinThreads(last));
    ASSERT_EQ(pairs.numRegisters(), 2 * layout.numRegisters());
    for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
      for (int64_t half : {0, 1}) {
        Coordinate expected = layout.registerOffset(reg);
        expected.push_back(half);
        ASSERT_EQ(pairs.registerOffset(2 * reg + half), expected) << layout.toString();
      }
  }
}

TEST(IsWithinThreads, SaysWhetherAThreadHoldsTheWholeDimension) {
  for (const TileLayout &layout : someLayouts())
    for (int64_t dim = 0; dim < layout.rank(); ++dim) {
      bool all = true;
      for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
        for (int64_t lane = 0; lane < layout.atom().size(InDim::Lane); ++lane) {
          std::set<int64_t> places;
          for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
            places.insert(layout.coordinate(reg, lane, warp)[dim]);
          all &= int64_t(places.size()) == layout.shape()[dim];
        }
      EXPECT_EQ(layout.isWithinThreads(dim), all) << layout.toString() << " along " << dim;
    }
}

} // namespace
