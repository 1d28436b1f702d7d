// Accesses against a simulated ldmatrix and stmatrix, brute force, and known bank conflicts.
#include "headrace/Layout/Access.h"
#include "headrace/Layout/Fragments.h"

#include "gtest/gtest.h"

using namespace headrace;

namespace {

using Memory = std::vector<uint8_t>;

uint8_t patternByte(int64_t element, int64_t byte) {
  return static_cast<uint8_t>((element * 4 + byte) * 2654435761u >> 13);
}

/// A memory in which each element has a pattern of its own.
Memory patternOf(const SharedLayout &shared) {
  Memory memory(static_cast<size_t>(shared.bytes()));
  for (int64_t element = 0; element < productOf(shared.shape()); ++element) {
    int64_t offset = shared.offset(rowMajorCoordinate(element, shared.shape()));
    for (int64_t byte = 0; byte < shared.elementBits() / 8; ++byte)
      memory[static_cast<size_t>(offset + byte)] = patternByte(element, byte);
  }
  return memory;
}

/// The address of byte `byte` of result `j` of `lane`, given the row addresses of all lanes: the
/// text of PTX ISA 9.7.14.5.15 in 16-bit units.
int64_t matrixByte(const std::vector<int64_t> &address, bool trans, int64_t j, int64_t lane, int64_t byte) {
  int64_t g = lane / 4, q = lane % 4, half = byte / 2;
  int64_t row = trans ? 2 * q + half : g;
  int64_t column = trans ? g : 2 * q + half;
  return address[static_cast<size_t>(8 * j + row)] + 2 * column + byte % 2;
}

/// Runs the plan both ways: loads give every register its element; stores rebuild the memory.
void expectPlanMoves(const MatrixPlan &plan, const TileLayout &layout, const SharedLayout &shared) {
  const Memory memory = patternOf(shared);
  Memory stored(memory.size(), 0);
  int64_t bytes = shared.elementBits() / 8;
  for (int64_t warp = 0; warp < layout.numWarps(); ++warp) {
    std::vector<int> moved(static_cast<size_t>(layout.numRegisters()), 0);
    for (size_t i = 0; i < plan.instructions.size(); ++i) {
      std::vector<int64_t> address;
      for (int64_t lane = 0; lane < 32; ++lane) {
        auto [reg, source] = rowAddressSource(plan, static_cast<int64_t>(i), lane);
        address.push_back(shared.offset(layout.coordinate(reg, source, warp)));
        ASSERT_EQ(address.back() % 16, 0);
      }
      const auto &matrices = plan.instructions[i].registers;
      ASSERT_TRUE(matrices.size() == 1 || matrices.size() == 2 || matrices.size() == 4);
      for (size_t j = 0; j < matrices.size(); ++j) {
        ASSERT_EQ(static_cast<int64_t>(matrices[j].size()) * bytes, 4);
        for (int64_t reg : matrices[j])
          ++moved[static_cast<size_t>(reg)];
        for (int64_t lane = 0; lane < 32; ++lane)
          for (int64_t byte = 0; byte < 4; ++byte) {
            int64_t at = matrixByte(address, plan.transposed, static_cast<int64_t>(j), lane, byte);
            int64_t reg = matrices[j][static_cast<size_t>(byte / bytes)];
            int64_t element = rowMajorIndex(layout.coordinate(reg, lane, warp), layout.shape());
            uint8_t expected = patternByte(element, byte % bytes);
            ASSERT_EQ(memory[static_cast<size_t>(at)], expected);
            stored[static_cast<size_t>(at)] = expected;
          }
      }
    }
    EXPECT_EQ(moved, std::vector<int>(moved.size(), 1));
  }
  EXPECT_EQ(stored, memory);
}

/// Expects a plan of that kind for the layout, which must also be correct, without conflicts.
void expectPlan(const std::optional<TileLayout> &layout, int64_t bits, int64_t major, bool transposed) {
  ASSERT_TRUE(layout);
  int64_t swizzle = SharedLayout::widestSwizzle(layout->shape(), bits, major);
  SharedLayout shared(layout->shape(), bits, major, swizzle);
  auto plan = planMatrixAccess(*layout, shared);
  ASSERT_TRUE(plan) << layout->toString() << " in " << shared.toString();
  EXPECT_EQ(plan->transposed, transposed);
  expectPlanMoves(*plan, *layout, shared);
  EXPECT_EQ(matrixBankConflicts(*plan, *layout, shared), 0) << shared.toString();
}

TEST(MatrixPlan, PlainOperands) {
  for (int64_t k : {16, 32, 48, 64, 80, 96, 112, 128, 160, 176, 192, 208}) {
    expectPlan(mmaOperandA(32, k, 16, 16, 2, 1), 16, 1, false);
    expectPlan(mmaOperandB(24, k, 16, 16, 1, 3), 16, 1, false);
  }
  expectPlan(mmaOperandA(48, 24, 16, 8, 1, 1), 16, 1, false);
  expectPlan(mmaOperandA(32, 96, 8, 32, 2, 1), 8, 1, false);
  expectPlan(mmaOperandB(16, 48, 8, 16, 1, 1), 8, 1, false);
  expectPlan(mmaOperandA8(8, 48, 8, 16, 1, 1), 8, 1, false);
  expectPlan(mmaOperandA(32, 64, 32, 8, 2, 1), 32, 1, false);
  expectPlan(mmaOperandB(16, 8, 32, 4, 1, 1), 32, 1, false);
  expectPlan(wgmmaOperandA(128, 64, 16, 2), 16, 1, false);
}

TEST(MatrixPlan, TransposedOperands) {
  // A with M contiguous, B with N contiguous.
  for (int64_t extent : {32, 64, 96, 160, 192}) {
    expectPlan(mmaOperandA(extent, 48, 16, 16, 2, 1), 16, 0, true);
    expectPlan(mmaOperandB(extent, 48, 16, 16, 1, 2), 16, 0, true);
  }
  expectPlan(mmaOperandB(40, 16, 16, 16, 1, 1), 16, 0, true);
}

TEST(MatrixPlan, AccumulatorsStoreAs16Bits) {
  for (int64_t cols : {8, 24, 40, 48, 80, 96, 112, 160, 176, 192, 208, 256})
    expectPlan(wgmmaAccumulator(64, cols, 1), 16, 1, false);
  expectPlan(mmaAccumulator(64, 48, 2, 2), 16, 1, false);
  expectPlan(wgmmaAccumulator(128, 64, 1), 16, 0, true);
}

TEST(MatrixPlan, FollowsTheRecipeOfOperandA) {
  // x4 of a 16 x 16 tile: lane l addresses row l & 15, bytes 16 * (l >> 4).
  TileLayout layout = *mmaOperandA(16, 16, 16, 16, 1, 1);
  SharedLayout shared({16, 16}, 16, 1, 32);
  MatrixPlan plan = *planMatrixAccess(layout, shared);
  ASSERT_EQ(plan.instructions.size(), 1u);
  EXPECT_EQ(plan.instructions[0].registers, (std::vector<std::vector<int64_t>>{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  for (int64_t lane = 0; lane < 32; ++lane) {
    auto [reg, source] = rowAddressSource(plan, 0, lane);
    EXPECT_EQ(layout.coordinate(reg, source, 0), (std::vector<int64_t>{lane & 15, 8 * (lane >> 4)}));
  }
}

TEST(MatrixPlan, TailUsesSmallerInstructions) {
  // 7 words: x4, x2, x1; lanes beyond the matrices repeat addresses of lower lanes.
  TileLayout layout = *mmaOperandB(56, 8, 16, 8, 1, 1);
  MatrixPlan plan = *planMatrixAccess(layout, SharedLayout({56, 8}, 16, 1, 16));
  ASSERT_EQ(plan.instructions.size(), 3u);
  EXPECT_EQ(plan.instructions[0].registers.size(), 4u);
  EXPECT_EQ(plan.instructions[1].registers.size(), 2u);
  EXPECT_EQ(plan.instructions[2].registers.size(), 1u);
  for (int64_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(rowAddressSource(plan, 1, lane), rowAddressSource(plan, 1, lane & 15));
    EXPECT_EQ(rowAddressSource(plan, 2, lane), rowAddressSource(plan, 2, lane & 7));
  }
}

TEST(MatrixPlan, NoPlan) {
  auto plan = [](const TileLayout &layout, int64_t bits, int64_t major, int64_t swizzle) {
    return planMatrixAccess(layout, SharedLayout(layout.shape(), bits, major, swizzle));
  };
  TileLayout accumulator = *mmaAccumulator(64, 64, 1, 1);
  // Wrong lanes: pairs of f32; elements of f64; M contiguous but 8-bit; a thread's own row.
  EXPECT_FALSE(plan(accumulator, 32, 1, 128));
  EXPECT_FALSE(plan(*mmaOperandA(16, 16, 64, 16, 1, 1), 64, 1, 128));
  EXPECT_FALSE(plan(*mmaOperandA(32, 32, 8, 32, 1, 1), 8, 0, 32));
  EXPECT_FALSE(plan(*tmemAccumulator(128, 64, 1), 16, 1, 128));
  EXPECT_FALSE(plan(blocked({64, 64}, 8, 4, 1), 16, 1, 128));
  // Rows that start off 16 bytes: no panels.
  EXPECT_FALSE(plan(*mmaAccumulator(12 * 16, 8, 1, 1), 8, 1, 0));
  EXPECT_TRUE(plan(*mmaAccumulator(12 * 16, 8, 1, 1), 16, 1, 0));
}

/// sharedVectorBytes by its definition.
int64_t vectorBytesByForce(const TileLayout &layout, const SharedLayout &shared) {
  int64_t bytes = shared.elementBits() / 8, registers = layout.numRegisters();
  std::vector<int64_t> offsets; // of all threads, register fastest
  for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t reg = 0; reg < registers; ++reg)
        offsets.push_back(shared.offset(layout.coordinate(reg, lane, warp)));
  int64_t best = bytes;
  for (int64_t n = 2; n * bytes <= 16 && registers % n == 0; n *= 2) {
    for (size_t i = 0; i < offsets.size(); ++i) {
      int64_t inVector = static_cast<int64_t>(i) % n;
      int64_t first = offsets[i - static_cast<size_t>(inVector)];
      if (first % (n * bytes) != 0 || offsets[i] != first + inVector * bytes)
        return best;
    }
    best = n * bytes;
  }
  return best;
}

TEST(SharedVector, IsTheWidest) {
  for (int64_t cols : {8, 24, 40, 48, 80, 112, 176, 229}) {
    std::vector<TileLayout> layouts = {blocked({8, cols}, 8, 2, 1), blocked({24, cols}, 2, 3, 0),
                                       blocked({8, cols}, 4, 1, 1), *tmemAccumulator(128, 24, 1)};
    if (auto layout = mmaAccumulator(32, cols, 2, 1))
      layouts.push_back(*layout);
    for (const TileLayout &layout : layouts)
      for (int64_t bits : {8, 16, 32, 64})
        for (int64_t major : {0, 1}) {
          int64_t widest = SharedLayout::widestSwizzle(layout.shape(), bits, major);
          for (int64_t swizzle : {int64_t(0), widest}) {
            SharedLayout shared(layout.shape(), bits, major, swizzle);
            EXPECT_EQ(sharedVectorBytes(layout, shared), vectorBytesByForce(layout, shared))
                << layout.toString() << " in " << shared.toString();
          }
        }
  }
}

TEST(SharedVector, KnownWidths) {
  EXPECT_EQ(sharedVectorBytes(blocked({64, 64}, 8, 4, 1), SharedLayout({64, 64}, 16, 1, 128)), 16);
  EXPECT_EQ(sharedVectorBytes(blocked({64, 64}, 8, 4, 1), SharedLayout({64, 64}, 16, 0, 128)), 2);
  EXPECT_EQ(sharedVectorBytes(*mmaAccumulator(16, 8, 1, 1), SharedLayout({16, 8}, 32, 1, 32)), 8);
  EXPECT_EQ(sharedVectorBytes(*mmaAccumulator(16, 8, 1, 1), SharedLayout({16, 8}, 4, 1, 0)), 1);
  EXPECT_EQ(sharedVectorBytes(blocked({229}, 8, 4, 0), SharedLayout({229}, 16, 0, 0)), 2);
}

TEST(BankConflicts, OfMatrices) {
  auto conflicts = [](int64_t columns, int64_t swizzle) {
    TileLayout layout = *mmaOperandA(16, columns, 16, 16, 1, 1);
    SharedLayout shared({16, columns}, 16, 1, swizzle);
    return matrixBankConflicts(*planMatrixAccess(layout, shared), layout, shared);
  };
  // Rows of 128 bytes: all eight rows in the same banks unless swizzled.
  EXPECT_EQ(conflicts(64, 128), 0);
  EXPECT_EQ(conflicts(64, 0), 7);
  EXPECT_EQ(conflicts(32, 64), 0);
  EXPECT_EQ(conflicts(32, 0), 3);
  EXPECT_EQ(conflicts(16, 32), 0);
  EXPECT_EQ(conflicts(16, 0), 1);
  EXPECT_EQ(conflicts(64, 16), 0);
  EXPECT_EQ(conflicts(64, 64), 0);
  // A pitch of 144 bytes spreads rows without a swizzle.
  EXPECT_EQ(matrixBankConflicts(MatrixPlan{false, {{{{0, 1}}}}}, *mmaOperandB(8, 72, 16, 8, 1, 1),
                                SharedLayout({8, 72}, 16, 1, 0)),
            0);
}

TEST(BankConflicts, OfVectors) {
  // Eight lanes of 16 bytes along a row of 128: every phase is one row.
  TileLayout rows = blocked({64, 64}, 8, 4, 1);
  EXPECT_EQ(bankConflicts(rows, SharedLayout({64, 64}, 16, 1, 128), 16), 0);
  EXPECT_EQ(bankConflicts(rows, SharedLayout({64, 64}, 16, 1, 0), 16), 0);
  // Eight lanes down a column of 16-byte vectors.
  TileLayout own = *tmemAccumulator(128, 64, 1);
  EXPECT_EQ(bankConflicts(own, SharedLayout({128, 64}, 16, 1, 0), 16), 7);
  EXPECT_EQ(bankConflicts(own, SharedLayout({128, 64}, 16, 1, 128), 16), 0);
  // 32 lanes down a column, elementwise: all in one bank; swizzled, eight chunks.
  EXPECT_EQ(bankConflicts(own, SharedLayout({128, 64}, 16, 1, 0), 4), 31);
  EXPECT_EQ(bankConflicts(own, SharedLayout({128, 64}, 16, 1, 128), 4), 3);
  // f32 accumulator pairs: half a warp takes 4 rows x 32 bytes; rows of 128 bytes collide fourfold.
  TileLayout accumulator = *mmaAccumulator(16, 32, 1, 1);
  EXPECT_EQ(bankConflicts(accumulator, SharedLayout({16, 32}, 32, 1, 0), 8), 3);
  EXPECT_EQ(bankConflicts(accumulator, SharedLayout({16, 32}, 32, 1, 128), 8), 1);
  // Lanes of one 4-byte word do not conflict: replicas, and neighbours of 16 bits.
  EXPECT_EQ(bankConflicts(blocked({1}, 1, 4, 0), SharedLayout({1}, 32, 0, 0), 4), 0);
  EXPECT_EQ(bankConflicts(blocked({64}, 1, 1, 0), SharedLayout({64}, 16, 0, 16), 2), 0);
}

} // namespace
