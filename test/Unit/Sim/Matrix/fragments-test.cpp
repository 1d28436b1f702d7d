// Fragment maps: every element of a matrix is in one register of one lane, and is where the PTX ISA says.
#include "headrace/Sim/Matrix/Fragments.h"
#include "headrace/Sim/Matrix/MmaForm.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

using namespace headrace::sim;

namespace {

/// How often each place of a matrix comes up.
class Coverage {
public:
  Coverage(int rows, int columns) : rows(rows), columns(columns), counts(rows * columns) {}

  void add(MatrixPlace place) {
    ASSERT_TRUE(place.row >= 0 && place.row < rows && place.column >= 0 && place.column < columns)
        << place.row << ", " << place.column << " in " << rows << " x " << columns;
    ++counts[place.row * columns + place.column];
  }
  bool isExact() const {
    for (int count : counts)
      if (count != 1)
        return false;
    return true;
  }

private:
  int rows, columns;
  std::vector<int> counts;
};

struct Named {
  const char *shape;
  int perWord;
};

// All shapes of hardware.md 5.1, with the elements in a register.
const Named kShapes[] = {{"m16n8k8", 2},  {"m16n8k16", 2},  {"m16n8k4", 1},  {"m16n8k8", 1},    {"m16n8k16", 1},
                         {"m8n8k16", 4},  {"m16n8k16", 4},  {"m16n8k32", 4}, {"m8n8k32", 8},    {"m16n8k32", 8},
                         {"m16n8k64", 8}, {"m8n8k128", 32}, {"m8n8k4", 1},   {"m16n8k128", 32}, {"m16n8k256", 32}};

TEST(Fragments, CoverA) {
  for (const Named &named : kShapes) {
    MatrixShape shape = *matrixShapeNamed(named.shape);
    Coverage coverage(shape.m, shape.k);
    for (int reg = 0; reg < shape.m / 8 * shape.k / (4 * named.perWord); ++reg)
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < named.perWord; ++i)
          coverage.add(placeInA(shape.m, named.perWord, reg, i, lane));
    EXPECT_TRUE(coverage.isExact()) << named.shape << " of " << named.perWord;
  }
}

TEST(Fragments, CoverB) {
  for (const Named &named : kShapes) {
    MatrixShape shape = *matrixShapeNamed(named.shape);
    Coverage coverage(shape.k, shape.n);
    for (int reg = 0; reg < shape.k / (4 * named.perWord); ++reg)
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < named.perWord; ++i)
          coverage.add(placeInB(named.perWord, reg, i, lane));
    EXPECT_TRUE(coverage.isExact()) << named.shape << " of " << named.perWord;
  }
}

TEST(Fragments, CoverC) {
  for (int rows : {8, 16}) {
    Coverage coverage(rows, 8);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < rows / 4; ++i)
        coverage.add(placeInC(rows, i, lane));
    EXPECT_TRUE(coverage.isExact()) << rows;
  }
}

TEST(Fragments, CoverWarpgroup) {
  for (int n = 8; n <= 256; n += 8) {
    Coverage coverage(64, n);
    for (int warp = 0; warp < 4; ++warp)
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < n / 2; ++i)
          coverage.add(placeInWarpgroupD(warp, i, lane));
    EXPECT_TRUE(coverage.isExact()) << n;
  }
  for (int perWord : {1, 2, 4, 32}) {
    Coverage coverage(64, 8 * perWord);
    for (int warp = 0; warp < 4; ++warp)
      for (int lane = 0; lane < 32; ++lane)
        for (int reg = 0; reg < 4; ++reg)
          for (int i = 0; i < perWord; ++i)
            coverage.add(placeInWarpgroupA(warp, perWord, reg, i, lane));
    EXPECT_TRUE(coverage.isExact()) << perWord;
  }
}

void expectPlace(MatrixPlace got, int row, int column) {
  EXPECT_EQ(got.row, row);
  EXPECT_EQ(got.column, column);
}

// The closed formulas of PTX ISA 9.7.14.5, for all lanes.
TEST(Fragments, AreWhereTheIsaSays) {
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane >> 2, q = lane & 3;
    for (int i = 0; i < 2; ++i) {
      expectPlace(placeInA(16, 2, 0, i, lane), g, 2 * q + i);
      expectPlace(placeInA(16, 2, 1, i, lane), g + 8, 2 * q + i);
      expectPlace(placeInA(16, 2, 2, i, lane), g, 2 * q + 8 + i);
      expectPlace(placeInA(16, 2, 3, i, lane), g + 8, 2 * q + 8 + i);
      expectPlace(placeInB(2, 1, i, lane), 2 * q + 8 + i, g);
    }
    for (int j = 0; j < 8; ++j) // f64 m16n8k16
      expectPlace(placeInA(16, 1, j, 0, lane), g + 8 * (j & 1), q + 4 * (j >> 1));
    for (int i = 0; i < 4; ++i) {
      expectPlace(placeInA(16, 4, 3, i, lane), g + 8, 4 * q + 16 + i);
      expectPlace(placeInA(8, 4, 0, i, lane), g, 4 * q + i);
      expectPlace(placeInC(16, i, lane), g + 8 * (i >> 1), 2 * q + (i & 1));
    }
    expectPlace(placeInA(16, 8, 2, 7, lane), g, 8 * q + 32 + 7);
    expectPlace(placeInA(16, 32, 1, 31, lane), g + 8, 32 * q + 31);
    for (int i = 0; i < 128; ++i)
      expectPlace(placeInWarpgroupD(3, i, lane), 48 + g + 8 * ((i >> 1) & 1), 8 * (i >> 2) + 2 * q + (i & 1));
  }
}

// Lane q even of the selected pair has rows g, q odd rows g + 8; for B the selected lane has column g.
TEST(Fragments, ScaleLanes) {
  for (int selector = 0; selector < 2; ++selector)
    for (int g = 0; g < 8; ++g) {
      EXPECT_EQ(laneOfScaleA(g, selector), 4 * g + 2 * selector);
      EXPECT_EQ(laneOfScaleA(g + 8, selector), 4 * g + 2 * selector + 1);
    }
  for (int selector = 0; selector < 4; ++selector)
    for (int g = 0; g < 8; ++g)
      EXPECT_EQ(laneOfScaleB(g, selector), 4 * g + selector);
}

} // namespace
