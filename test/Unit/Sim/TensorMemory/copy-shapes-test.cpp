// Rows of tcgen05.cp: each lane gets one row at most.
#include "headrace/Sim/TensorMemory/CopyShapes.h"

#include "gtest/gtest.h"

#include <set>

using namespace headrace::sim;

namespace {

struct Named {
  const char *shape;
  const char *multicast;
  int rows;
  int bytes;
  size_t lanes;
};
constexpr Named kShapes[] = {{"128x256b", "", 128, 32, 128},
                             {"128x128b", "", 128, 16, 128},
                             {"4x256b", "", 4, 32, 4},
                             {"64x128b", "warpx2::02_13", 64, 16, 128},
                             {"64x128b", "warpx2::01_23", 64, 16, 128},
                             {"32x128b", "warpx4", 32, 16, 128}};

TEST(CopyShapes, LanesGetOneRow) {
  for (const Named &named : kShapes) {
    auto shape = copyShapeOf(named.shape, named.multicast);
    ASSERT_TRUE(shape) << named.shape;
    EXPECT_EQ(rowsOf(*shape), named.rows);
    EXPECT_EQ(rowBytesOf(*shape), named.bytes);
    std::multiset<int> lanes;
    for (int row = 0; row < named.rows; ++row)
      for (int lane : lanesOf(*shape, row))
        lanes.insert(lane);
    EXPECT_EQ(lanes.size(), named.lanes) << named.shape;
    EXPECT_EQ(std::set<int>(lanes.begin(), lanes.end()).size(), named.lanes) << named.shape;
    EXPECT_LT(*lanes.rbegin(), 128);
  }
}

TEST(CopyShapes, Multicasts) {
  EXPECT_EQ(lanesOf(*copyShapeOf("64x128b", "warpx2::02_13"), 40), (std::vector<int>{40, 104}));
  EXPECT_EQ(lanesOf(*copyShapeOf("64x128b", "warpx2::01_23"), 5), (std::vector<int>{5, 37}));
  EXPECT_EQ(lanesOf(*copyShapeOf("64x128b", "warpx2::01_23"), 40), (std::vector<int>{72, 104}));
  EXPECT_EQ(lanesOf(*copyShapeOf("32x128b", "warpx4"), 7), (std::vector<int>{7, 39, 71, 103}));
}

TEST(CopyShapes, MulticastBelongsToItsShape) {
  EXPECT_FALSE(copyShapeOf("32x128b", ""));
  EXPECT_FALSE(copyShapeOf("64x128b", ""));
  EXPECT_FALSE(copyShapeOf("128x128b", "warpx4"));
}

} // namespace
