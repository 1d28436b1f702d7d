// The layout of scans: along the axis registers, then lanes, then repetitions of both; and coalesced layouts of any rank.
#include "headrace/Layout/Fragments.h"

#include "gtest/gtest.h"

using namespace headrace;

namespace {

using Coordinate = std::vector<int64_t>;

const std::vector<Coordinate> kShapes = {
    {1},        {2},       {3},        {24},          {40},          {64},           {112},       {128},
    {640},      {1, 96},   {40, 48},   {7, 24},       {112, 1},      {64, 3},        {24, 256},   {2, 48, 40},
    {3, 5, 24}, {1, 1, 8}, {8, 40, 3}, {2, 3, 4, 48}, {16, 3, 2, 8}, {1, 24, 1, 16}, {2, 2, 2, 2}};

/// Every element is held, and by exactly one writer.
void expectCovers(const TileLayout &layout, const Coordinate &shape, int64_t numWarps) {
  ASSERT_EQ(layout.shape(), shape);
  ASSERT_EQ(layout.numWarps(), numWarps) << layout.toString();
  std::vector<int> writes(static_cast<size_t>(productOf(shape)), 0);
  for (int64_t warp = 0; warp < numWarps; ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      if (layout.isWriter(lane, warp))
        for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
          ++writes[static_cast<size_t>(rowMajorIndex(layout.coordinate(reg, lane, warp), shape))];
  EXPECT_EQ(writes, std::vector<int>(writes.size(), 1)) << layout.toString();
}

template <typename Check> void forEachScan(Check check) {
  for (const Coordinate &shape : kShapes)
    for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
      for (int64_t numWarps : {1, 3, 4, 16}) {
        std::optional<TileLayout> layout = scannable(shape, numWarps, dim);
        ASSERT_TRUE(layout) << "extent " << shape[dim] << " along dimension " << dim;
        check(*layout, shape, dim, numWarps);
      }
}

/// The largest power of two that divides `extent`, at most `most`.
int64_t powerOfTwo(int64_t extent, int64_t most) {
  int64_t power = 1;
  while (power < most && extent % (2 * power) == 0)
    power *= 2;
  return power;
}

TEST(Scannable, CoversEveryTile) {
  forEachScan([](const TileLayout &layout, const Coordinate &shape, int64_t, int64_t numWarps) {
    expectCovers(layout, shape, numWarps);
  });
}

TEST(Scannable, RegistersThenLanesThenRepetitions) {
  forEachScan([](const TileLayout &layout, const Coordinate &shape, int64_t dim, int64_t numWarps) {
    int64_t run = powerOfTwo(shape[dim], 4), lanes = powerOfTwo(shape[dim] / run, 32);
    int64_t atomRegisters = layout.atom().size(InDim::Register);
    // Runs of registers lie along the axis alone.
    ASSERT_EQ(atomRegisters, run) << layout.toString();
    ASSERT_EQ(layout.atom().shape()[dim], run * lanes) << layout.toString();
    for (int64_t warp = 0; warp < numWarps; ++warp)
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
          int64_t repetition = rowMajorCoordinate(reg / atomRegisters, layout.repeat())[dim];
          ASSERT_EQ(layout.coordinate(reg, lane, warp)[dim], repetition * run * lanes + lane % lanes * run + reg % run)
              << layout.toString();
        }
  });
}

TEST(Scannable, WarpsHaveAllOfTheAxis) {
  forEachScan([](const TileLayout &layout, const Coordinate &, int64_t dim, int64_t) {
    EXPECT_EQ(layout.partsAlong(dim), 1) << layout.toString();
  });
}

TEST(Scannable, WarpsShareTheOtherDimensions) {
  EXPECT_EQ(scannable({64, 128}, 4, 1)->partsAlong(0), 4);
  EXPECT_EQ(scannable({96, 128}, 12, 1)->partsAlong(0), 12);
  EXPECT_TRUE(scannable({128}, 4, 0)->replicatedWarpBits() == (std::vector<int>{0, 1}));
  EXPECT_TRUE(scannable({64, 128}, 3, 1)->replicatesGroups());
}

TEST(Scannable, RefusesMoreThanAThreadHolds) {
  // 32 lanes of runs of 4, 64 times: 256 elements of the axis in a thread. One more repetition is too many.
  EXPECT_TRUE(scannable({8192}, 1, 0));
  EXPECT_FALSE(scannable({8192 + 128}, 1, 0));
  EXPECT_FALSE(scannable({257}, 1, 0));
  EXPECT_FALSE(scannable({2, 257}, 1, 1));
  // The other dimensions do not count.
  EXPECT_TRUE(scannable({257, 128}, 1, 1));
}

TEST(Scannable, CountsTheElementsOfOddExtents) {
  // Lanes have no share of these, and runs are of one element: a thread holds 65, 229 or 255 of them.
  EXPECT_TRUE(scannable({65}, 1, 0));
  EXPECT_TRUE(scannable({229}, 4, 0));
  EXPECT_TRUE(scannable({8, 255}, 1, 1));
}

TEST(Blocked, CoversTilesOfEveryRank) {
  for (const Coordinate &shape : kShapes)
    for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
      for (int64_t numWarps : {1, 3, 4, 16})
        for (int64_t vector : {1, 4})
          expectCovers(blocked(shape, vector, numWarps, dim), shape, numWarps);
}

TEST(Blocked, LanesRunAlongTheContiguousDimensionOfThree) {
  // 48 columns: four lanes of four elements a row, then eight rows.
  TileLayout layout = blocked({2, 16, 48}, 4, 2, 2);
  EXPECT_EQ(layout.contiguous(2), 4);
  for (int64_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(layout.threadOffset(lane, 0), (Coordinate{0, lane / 4, lane % 4 * 4}));
}

} // namespace
