// Columns of tensor memory: first fit, alone and in a pair of CTAs.
#include "headrace/Sim/TensorMemory/ColumnAllocation.h"

#include "gtest/gtest.h"

using namespace headrace::sim;

namespace {

TEST(ColumnAllocation, Sizes) {
  for (int64_t count = 0; count <= 1024; ++count)
    EXPECT_EQ(isAllocationSize(count), count == 32 || count == 64 || count == 128 || count == 256 || count == 512);
}

TEST(ColumnAllocation, FirstFit) {
  TensorAllocator own;
  EXPECT_EQ(findColumns(own, nullptr, 512), 0);
  own.live = {{0, 128, nullptr}, {256, 64, nullptr}};
  EXPECT_EQ(freeColumns(own), 320);
  EXPECT_EQ(findColumns(own, nullptr, 128), 128);
  EXPECT_EQ(findColumns(own, nullptr, 32), 128);
  EXPECT_EQ(findColumns(own, nullptr, 256), std::nullopt);
}

TEST(ColumnAllocation, PairGetsTheSameColumns) {
  TensorAllocator even, odd;
  even.live = {{0, 256, nullptr}};
  EXPECT_EQ(findColumns(odd, &even, 256), 0); // what the even CTA got
  odd.live = {{0, 256, nullptr}};
  EXPECT_EQ(findColumns(even, &odd, 128), 256);
  odd.live.clear(); // the odd CTA freed its columns already
  EXPECT_EQ(findColumns(odd, &even, 128), 256);
}

} // namespace
