// Tensor maps against the rules of cuTensorMapEncodeTiled: each broken alone.
#include "headrace/Sim/Copies/TensorMap.h"

#include "gtest/gtest.h"

using namespace headrace::sim;

namespace {

/// 48 x 40 bf16 in rows of 96 bytes, boxes of 32 x 8.
TensorMap legalMap() {
  TensorMap map;
  map.name = "A";
  map.type = ElementType::BF16;
  map.address = 0x7000;
  map.sizes = {48, 40};
  map.strides = {96};
  map.box = {32, 8};
  map.elementStrides = {1, 1};
  map.swizzle = 64;
  return map;
}

TEST(TensorMap, AcceptsALegalMap) { EXPECT_EQ(legalMap().invalid(), ""); }

TEST(TensorMap, BytesOfBoxes) {
  TensorMap map = legalMap();
  EXPECT_EQ(map.boxBytes(), 32 * 8 * 2);
  map.elementStrides = {7, 3}; // ignored along dimension 0; ceil(8 / 3) = 3 rows
  EXPECT_EQ(map.boxExtent(0), 32);
  EXPECT_EQ(map.boxExtent(1), 3);
  EXPECT_EQ(map.boxBytes(), 32 * 3 * 2);
}

TEST(TensorMap, BytesOfElements) {
  TensorMap map;
  for (auto [type, bytes] : std::vector<std::pair<ElementType, int>>{{ElementType::U8, 1},
                                                                     {ElementType::U16, 2},
                                                                     {ElementType::F16, 2},
                                                                     {ElementType::BF16, 2},
                                                                     {ElementType::U32, 4},
                                                                     {ElementType::I32, 4},
                                                                     {ElementType::F32, 4},
                                                                     {ElementType::TF32, 4},
                                                                     {ElementType::U64, 8},
                                                                     {ElementType::I64, 8},
                                                                     {ElementType::F64, 8}}) {
    map.type = type;
    EXPECT_EQ(map.elementBytes(), bytes);
  }
}

/// What is wrong with the legal map after a change.
template <typename Change> std::string after(Change change) {
  TensorMap map = legalMap();
  change(map);
  return map.invalid();
}

TEST(TensorMap, RefusesWrongRanks) {
  EXPECT_EQ(after([](TensorMap &map) { map.sizes.clear(); }), "expected 1 to 5 dimensions, got 0");
  EXPECT_EQ(after([](TensorMap &map) { map.sizes.assign(6, 1); }), "expected 1 to 5 dimensions, got 6");
  EXPECT_EQ(after([](TensorMap &map) { map.strides.push_back(16); }),
            "expected 1 strides, 2 box extents and element strides, got 2, 2 and 2");
}

TEST(TensorMap, RefusesUnalignedArrays) {
  EXPECT_EQ(after([](TensorMap &map) { map.address = 0x7008; }),
            "expected an address that is a multiple of 16 bytes, got 0x7008");
  EXPECT_EQ(after([](TensorMap &map) { map.strides = {104}; }),
            "expected strides that are multiples of 16 bytes below 2^40, got 104");
  EXPECT_EQ(after([](TensorMap &map) { map.strides = {uint64_t(1) << 40}; }),
            "expected strides that are multiples of 16 bytes below 2^40, got 1099511627776");
}

TEST(TensorMap, RefusesSizes) {
  EXPECT_EQ(after([](TensorMap &map) { map.sizes[1] = 0; }), "expected sizes from 1 to 2^32, got 0");
  EXPECT_EQ(after([](TensorMap &map) { map.sizes[0] = (uint64_t(1) << 32) + 1; }),
            "expected sizes from 1 to 2^32, got 4294967297");
  EXPECT_EQ(after([](TensorMap &map) { map.sizes[0] = uint64_t(1) << 32; }), "");
}

TEST(TensorMap, RefusesBoxes) {
  EXPECT_EQ(after([](TensorMap &map) { map.box[1] = 257; }), "expected box extents from 1 to 256, got 257");
  EXPECT_EQ(after([](TensorMap &map) { map.box[1] = 0; }), "expected box extents from 1 to 256, got 0");
  EXPECT_EQ(after([](TensorMap &map) { map.box[0] = 20; }), "expected box rows that are multiples of 16 bytes, got 40");
  EXPECT_EQ(after([](TensorMap &map) { map.elementStrides[1] = 9; }), "expected element strides from 1 to 8, got 9");
}

TEST(TensorMap, RefusesSwizzles) {
  EXPECT_EQ(after([](TensorMap &map) { map.swizzle = 16; }), "expected a swizzle of 0, 32, 64 or 128 bytes, got 16");
  EXPECT_EQ(after([](TensorMap &map) { map.swizzle = 32; }),
            "expected box rows of at most the swizzle's 32 bytes, got 64");
  EXPECT_EQ(after([](TensorMap &map) { map.swizzle = 128; }), "");
}

TEST(TensorMap, FillsOnlyFloatsWithNan) {
  EXPECT_EQ(after([](TensorMap &map) { map.nanFill = true; }), "");
  EXPECT_EQ(after([](TensorMap &map) {
              map.nanFill = true;
              map.type = ElementType::U16;
            }),
            "expected floating-point elements to fill with NaN");
}

} // namespace
