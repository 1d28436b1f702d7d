// Every fragment against the closed formulas of the PTX ISA, for all lanes and registers.
#include "headrace/Layout/Fragments.h"

#include "gtest/gtest.h"

#include <set>

using namespace headrace;

namespace {

using Coordinate = std::vector<int64_t>;

/// Checks layout.coordinate(reg, lane, warp) == formula(reg, lane / 4, lane % 4, warp) everywhere.
template <typename Formula> void expectFormula(const std::optional<TileLayout> &layout, Formula formula) {
  ASSERT_TRUE(layout);
  for (int64_t warp = 0; warp < layout->numWarps(); ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t reg = 0; reg < layout->numRegisters(); ++reg)
        ASSERT_EQ(layout->coordinate(reg, lane, warp), formula(reg, lane >> 2, lane & 3, warp))
            << layout->toString() << " reg " << reg << " lane " << lane << " warp " << warp;
}

TEST(Mma, Accumulator16x8) {
  expectFormula(mmaAccumulator(16, 8, 1, 1),
                [](int64_t c, int64_t g, int64_t q, int64_t) { return Coordinate{g + 8 * (c >> 1), 2 * q + (c & 1)}; });
}

TEST(Mma, AccumulatorRepeatsColumnsThenRows) {
  // 96 x 80 over 3 x 2 warps: 2 x 5 atoms each.
  expectFormula(mmaAccumulator(96, 80, 3, 2), [](int64_t reg, int64_t g, int64_t q, int64_t warp) {
    int64_t atom = reg / 4, c = reg % 4;
    return Coordinate{32 * (warp / 2) + 16 * (atom / 5) + g + 8 * (c >> 1),
                      40 * (warp % 2) + 8 * (atom % 5) + 2 * q + (c & 1)};
  });
}

TEST(Mma, Accumulator8x8) {
  expectFormula(mmaAccumulator8x8(8, 8, 1, 1),
                [](int64_t c, int64_t g, int64_t q, int64_t) { return Coordinate{g, 2 * q + c}; });
}

TEST(Mma, OperandA16Bit) {
  for (int64_t atomK : {8, 16})
    expectFormula(mmaOperandA(16, atomK, 16, atomK, 1, 1), [](int64_t e, int64_t g, int64_t q, int64_t) {
      int64_t r = e / 2, i = e % 2;
      return Coordinate{g + 8 * (r & 1), 2 * q + 8 * (r >> 1) + i};
    });
}

TEST(Mma, OperandB16Bit) {
  for (int64_t atomK : {8, 16})
    expectFormula(mmaOperandB(8, atomK, 16, atomK, 1, 1), [](int64_t e, int64_t g, int64_t q, int64_t) {
      int64_t r = e / 2, i = e % 2;
      return Coordinate{g, 2 * q + 8 * r + i};
    });
}

TEST(Mma, Operands8Bit) {
  for (int64_t atomK : {16, 32}) {
    expectFormula(mmaOperandA(16, atomK, 8, atomK, 1, 1), [](int64_t e, int64_t g, int64_t q, int64_t) {
      int64_t r = e / 4, i = e % 4;
      return Coordinate{g + 8 * (r & 1), 4 * q + 16 * (r >> 1) + i};
    });
    expectFormula(mmaOperandB(8, atomK, 8, atomK, 1, 1), [](int64_t e, int64_t g, int64_t q, int64_t) {
      int64_t r = e / 4, i = e % 4;
      return Coordinate{g, 4 * q + 16 * r + i};
    });
  }
}

TEST(Mma, Operands4Bit) {
  for (int64_t atomK : {32, 64}) {
    expectFormula(mmaOperandA(16, atomK, 4, atomK, 1, 1), [](int64_t e, int64_t g, int64_t q, int64_t) {
      int64_t r = e / 8, i = e % 8;
      return Coordinate{g + 8 * (r & 1), 8 * q + 32 * (r >> 1) + i};
    });
    expectFormula(mmaOperandB(8, atomK, 4, atomK, 1, 1), [](int64_t e, int64_t g, int64_t q, int64_t) {
      int64_t r = e / 8, i = e % 8;
      return Coordinate{g, 8 * q + 32 * r + i};
    });
  }
}

TEST(Mma, OperandsTf32AndF64) {
  for (auto [bits, atomK] : std::vector<std::pair<int64_t, int64_t>>{{32, 4}, {32, 8}, {64, 4}, {64, 8}, {64, 16}}) {
    expectFormula(mmaOperandA(16, atomK, bits, atomK, 1, 1), [](int64_t r, int64_t g, int64_t q, int64_t) {
      return Coordinate{g + 8 * (r & 1), q + 4 * (r >> 1)};
    });
    expectFormula(mmaOperandB(8, atomK, bits, atomK, 1, 1),
                  [](int64_t r, int64_t g, int64_t q, int64_t) { return Coordinate{g, q + 4 * r}; });
  }
}

TEST(Mma, Operands8x8) {
  auto bytes = [](int64_t i, int64_t g, int64_t q, int64_t) { return Coordinate{g, 4 * q + i}; };
  expectFormula(mmaOperandA8(8, 16, 8, 16, 1, 1), bytes);
  expectFormula(mmaOperandB8(8, 16, 8, 16, 1, 1), bytes);
  auto doubles = [](int64_t, int64_t g, int64_t q, int64_t) { return Coordinate{g, q}; };
  expectFormula(mmaOperandA8(8, 4, 64, 4, 1, 1), doubles);
  expectFormula(mmaOperandB8(8, 4, 64, 4, 1, 1), doubles);
}

TEST(Mma, OperandsFollowTheWarpsOfTheAccumulator) {
  TileLayout c = *mmaAccumulator(96, 64, 3, 2);
  TileLayout a = *mmaOperandA(96, 32, 16, 16, 3, 2), b = *mmaOperandB(64, 32, 16, 16, 3, 2);
  ASSERT_EQ(c.numWarps(), 6);
  ASSERT_EQ(a.numWarps(), 6);
  ASSERT_EQ(b.numWarps(), 6);
  for (int64_t warp = 0; warp < 6; ++warp) {
    EXPECT_EQ(a.threadOffset(0, warp)[0], c.threadOffset(0, warp)[0]);
    EXPECT_EQ(b.threadOffset(0, warp)[0], c.threadOffset(0, warp)[1]);
  }
  EXPECT_TRUE(a.replicatesGroups());
  EXPECT_TRUE(b.replicatesGroups());
}

TEST(Mma, RefusesWhatDoesNotDivide) {
  EXPECT_FALSE(mmaAccumulator(24, 8, 1, 1));
  EXPECT_FALSE(mmaAccumulator(32, 24, 1, 2));
  EXPECT_FALSE(mmaAccumulator(229, 8, 1, 1));
  EXPECT_FALSE(mmaAccumulator(0, 8, 1, 1));
  EXPECT_FALSE(mmaAccumulator(16, 8, 0, 1));
  EXPECT_FALSE(mmaAccumulator8x8(12, 8, 1, 1));
  EXPECT_FALSE(mmaOperandA(16, 24, 16, 16, 1, 1));
  EXPECT_FALSE(mmaOperandA(16, 32, 16, 32, 1, 1));
  EXPECT_FALSE(mmaOperandB(8, 8, 8, 8, 1, 1));
  EXPECT_FALSE(mmaOperandA(16, 16, 12, 16, 1, 1));
  EXPECT_FALSE(mmaOperandA8(8, 16, 16, 16, 1, 1));
}

TEST(Wgmma, Accumulator) {
  for (int64_t cols : {8, 24, 40, 96, 112, 160, 176, 208, 256})
    expectFormula(wgmmaAccumulator(64, cols, 1), [](int64_t i, int64_t g, int64_t q, int64_t w) {
      return Coordinate{16 * w + g + 8 * (i >> 1 & 1), 8 * (i >> 2) + 2 * q + (i & 1)};
    });
}

TEST(Wgmma, AccumulatorBlocksOfRowsAreConsecutive) {
  expectFormula(wgmmaAccumulator(256, 48, 2), [](int64_t reg, int64_t g, int64_t q, int64_t warp) {
    int64_t block = reg / 24, i = reg % 24, w = warp % 4;
    return Coordinate{128 * (warp / 4) + 64 * block + 16 * w + g + 8 * (i >> 1 & 1), 8 * (i >> 2) + 2 * q + (i & 1)};
  });
}

TEST(Wgmma, OperandA) {
  for (int64_t bits : {8, 16, 32}) {
    int64_t n = 32 / bits, atomK = 256 / bits;
    expectFormula(wgmmaOperandA(64, 3 * atomK, bits, 1), [=](int64_t e, int64_t g, int64_t q, int64_t w) {
      int64_t step = e / (4 * n), r = e / n % 4, i = e % n;
      return Coordinate{16 * w + g + 8 * (r & 1), step * atomK + n * q + 4 * n * (r >> 1) + i};
    });
  }
  EXPECT_FALSE(wgmmaOperandA(64, 8, 16, 1));
  EXPECT_FALSE(wgmmaOperandA(64, 32, 64, 1));
  EXPECT_FALSE(wgmmaAccumulator(96, 64, 1));
}

TEST(Tmem, ThreadHoldsColumnsOfItsRow) {
  for (int64_t groups : {1, 2})
    for (int64_t cols : {8, 16, 24, 40, 48, 80, 96, 112, 160, 176, 192, 208, 256}) {
      auto layout = tmemAccumulator(128, cols, groups);
      ASSERT_TRUE(layout);
      ASSERT_EQ(layout->shape(), (Coordinate{128, cols}));
      expectFormula(layout, [=](int64_t j, int64_t g, int64_t q, int64_t warp) {
        return Coordinate{32 * (warp % 4) + 4 * g + q, warp / 4 * (cols / groups) + j};
      });
    }
  EXPECT_FALSE(tmemAccumulator(64, 64, 1));
  EXPECT_FALSE(tmemAccumulator(128, 25, 2));
}

const std::vector<int64_t> kExtents = {1, 2, 3, 8, 24, 40, 48, 64, 80, 96, 112, 160, 176, 192, 208, 229};

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

TEST(Blocked, CoversEveryVector) {
  for (int64_t extent : kExtents)
    for (int64_t numWarps : {1, 3, 4, 6, 12})
      for (int64_t vector : {1, 3, 8})
        expectCovers(blocked({extent}, vector, numWarps, 0), {extent}, numWarps);
}

TEST(Blocked, CoversEveryTile) {
  for (int64_t rows : kExtents)
    for (int64_t cols : {1, 24, 64})
      for (int64_t numWarps : {1, 4, 15})
        for (int64_t dim : {0, 1})
          expectCovers(blocked({rows, cols}, 8, numWarps, dim), {rows, cols}, numWarps);
}

TEST(Blocked, WarpReadsContiguousElements) {
  // 64 bf16 columns: eight lanes of eight elements a row, four rows a warp.
  TileLayout layout = blocked({128, 64}, 8, 4, 1);
  EXPECT_EQ(layout.repeat(), (Coordinate{8, 1}));
  EXPECT_EQ(layout.contiguous(1), 8);
  for (int64_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(layout.threadOffset(lane, 0), (Coordinate{lane / 8, 8 * (lane % 8)}));
  EXPECT_EQ(layout.threadOffset(0, 3), (Coordinate{12, 0}));
  // The same with the first dimension contiguous.
  layout = blocked({64, 128}, 8, 4, 0);
  for (int64_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(layout.threadOffset(lane, 0), (Coordinate{8 * (lane % 8), lane / 8}));
}

TEST(Blocked, SpareThreadsAreReplicas) {
  TileLayout layout = blocked({64}, 4, 4, 0);
  EXPECT_EQ(layout.numRegisters(), 4);
  EXPECT_EQ(layout.replicatedLaneBits(), (std::vector<int>{4}));
  EXPECT_EQ(layout.replicatedWarpBits(), (std::vector<int>{0, 1}));
  // Three groups of warps divide 96 rows, but not 64.
  EXPECT_EQ(blocked({96, 64}, 8, 12, 1).groups(), (std::vector<Group>{{3, 0}}));
  EXPECT_EQ(blocked({64, 64}, 8, 12, 1).groups(), (std::vector<Group>{{3, -1}}));
}

} // namespace
