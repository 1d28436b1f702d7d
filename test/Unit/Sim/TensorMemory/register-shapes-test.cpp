// Registers of tcgen05.ld and tcgen05.st: every register has a word of its own, and all together are a rectangle.
#include "headrace/Sim/TensorMemory/RegisterShapes.h"

#include "gtest/gtest.h"

#include <set>

using namespace headrace::sim;

namespace {

constexpr RegisterShape kShapes[] = {RegisterShape::Lanes32, RegisterShape::Bits64, RegisterShape::Bits128,
                                     RegisterShape::Bits256, RegisterShape::Split32};

/// Columns of a row at `.x<repeats>` (the shapes' names say how many bits a repeat is wide).
int columnsOf(RegisterShape shape, int repeats) { return 32 * registersOf(shape, repeats) / rowsOf(shape); }

TEST(RegisterShapes, Names) {
  EXPECT_EQ(registerShapeOf("32x32b"), RegisterShape::Lanes32);
  EXPECT_EQ(registerShapeOf("16x64b"), RegisterShape::Bits64);
  EXPECT_EQ(registerShapeOf("16x128b"), RegisterShape::Bits128);
  EXPECT_EQ(registerShapeOf("16x256b"), RegisterShape::Bits256);
  EXPECT_EQ(registerShapeOf("16x32bx2"), RegisterShape::Split32);
  EXPECT_FALSE(registerShapeOf("8x32b"));
}

TEST(RegisterShapes, Repeats) {
  EXPECT_EQ(registersOf(RegisterShape::Lanes32, 128), 128);
  EXPECT_EQ(registersOf(RegisterShape::Bits128, 64), 128);
  EXPECT_EQ(registersOf(RegisterShape::Bits256, 32), 128);
  EXPECT_EQ(registersOf(RegisterShape::Bits128, 128), 0);
  EXPECT_EQ(registersOf(RegisterShape::Bits256, 64), 0);
  for (int repeats : {0, 3, 96, 256, -1})
    EXPECT_EQ(registersOf(RegisterShape::Lanes32, repeats), 0) << repeats;
}

TEST(RegisterShapes, FillARectangle) {
  for (RegisterShape shape : kShapes)
    for (int repeats = 1; registersOf(shape, repeats); repeats *= 2) {
      const int split = shape == RegisterShape::Split32 ? repeats : 0; // the second half right behind the first
      std::set<std::pair<int, int>> words;
      for (int lane = 0; lane < 32; ++lane)
        for (int reg = 0; reg < registersOf(shape, repeats); ++reg) {
          RegisterPlace place = registerPlace(shape, lane, reg, split);
          EXPECT_LT(place.row, rowsOf(shape));
          EXPECT_LT(place.column, columnsOf(shape, repeats));
          words.insert({place.row, place.column});
        }
      EXPECT_EQ(words.size(), 32u * registersOf(shape, repeats));
    }
}

TEST(RegisterShapes, Bits256IsAnMmaFragment) {
  for (int lane = 0; lane < 32; ++lane)
    for (int reg = 0; reg < 4; ++reg) {
      RegisterPlace place = registerPlace(RegisterShape::Bits256, lane, reg);
      EXPECT_EQ(place.row, lane / 4 + 8 * (reg / 2)); // hardware.md 5.2: C of m16n8
      EXPECT_EQ(place.column, 2 * (lane % 4) + reg % 2);
    }
}

TEST(RegisterShapes, RunsCoverWhatRegistersTouch) {
  for (RegisterShape shape : kShapes)
    for (bool packed : {false, true})
      for (int repeats = 1; registersOf(shape, repeats); repeats *= 4) {
        int words = 0;
        auto runs = touchedColumns(shape, repeats, repeats, packed);
        for (const ColumnRun &run : runs)
          words += run.count;
        EXPECT_EQ(words, 32 * registersOf(shape, repeats) * (packed ? 2 : 1));
        EXPECT_EQ(int(runs.size()), rowsOf(shape));
      }
}

TEST(RegisterShapes, SplitHasTwoRunsARow) {
  auto runs = touchedColumns(RegisterShape::Split32, 4, 64, false);
  ASSERT_EQ(runs.size(), 32u);
  EXPECT_EQ(runs[0].column, 0);
  EXPECT_EQ(runs[0].count, 4);
  EXPECT_EQ(runs[1].column, 64);
  EXPECT_EQ(runs[1].row, 0);
}

} // namespace
