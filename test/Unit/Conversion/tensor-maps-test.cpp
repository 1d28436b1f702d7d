// Tensor maps: boxes cover every tile exactly, at the place where the shared layout has their
// elements, and tiles that TMA cannot move are told why.
#include "headrace/Dialect/Pipe/IR/TensorMaps.h"

#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

using namespace headrace;
using namespace headrace::pipe;
using namespace mlir;

namespace {

struct TensorMaps : ::testing::Test {
  TensorMaps() : builder(&context) {
    context.loadDialect<PipeDialect, tile::TileDialect, func::FuncDialect>();
  }

  MemRefType array(Type element, int64_t rank, int64_t major,
                   int64_t otherStride = ShapedType::kDynamic) {
    SmallVector<int64_t> shape(rank, ShapedType::kDynamic), strides(rank, otherStride);
    strides[major] = 1;
    return MemRefType::get(shape, element, StridedLayoutAttr::get(&context, 0, strides));
  }
  BufferType buffer(ArrayRef<int64_t> shape, Type element, int64_t major, int64_t swizzle) {
    return BufferType::get(&context, shape, element,
                           tile::SharedAttr::get(&context, major, swizzle));
  }
  std::string why(ArrayRef<int64_t> shape, Type element, int64_t major, int64_t swizzle) {
    return whyNotTma(array(element, shape.size(), major), buffer(shape, element, major, swizzle));
  }

  MLIRContext context;
  Builder builder;
};

TEST_F(TensorMaps, GemmOperand) {
  Type bf16 = builder.getBF16Type();
  TensorMapInfo info = tensorMapFor(3, array(bf16, 2, 1), buffer({128, 128}, bf16, 1, 128), false);
  EXPECT_EQ(info.arg, 3);
  EXPECT_EQ(info.dims, (SmallVector<int64_t>{1, 0}));
  EXPECT_EQ(info.box, (SmallVector<int64_t>{64, 128}));
  EXPECT_EQ(info.swizzle, 128);
  EXPECT_EQ(info.dtype, "bf16");
  EXPECT_EQ(TensorMapInfo::fromAttr(info.toAttr(&context)), info);
}

TEST_F(TensorMaps, Dtypes) {
  auto dtype = [&](Type element, bool tf32 = false) {
    return tensorMapFor(0, array(element, 2, 1), buffer({8, 128}, element, 1, 128), tf32).dtype;
  };
  EXPECT_EQ(dtype(builder.getF32Type()), "f32");
  EXPECT_EQ(dtype(builder.getF32Type(), true), "tf32");
  EXPECT_EQ(dtype(builder.getI8Type()), "u8");
  EXPECT_EQ(dtype(Float8E4M3FNType::get(&context)), "u8");
  EXPECT_EQ(dtype(builder.getI16Type()), "u16");
  EXPECT_EQ(dtype(builder.getI64Type()), "i64");
}

/// Every element of the tile lies in exactly one box, where the hardware puts it: dense in the box
/// from an address that is a multiple of 128, then the exclusive-or of absolute address bits.
TEST_F(TensorMaps, BoxesAreTheSharedLayout) {
  Type bf16 = builder.getBF16Type();
  std::vector<std::pair<std::vector<int64_t>, std::pair<int64_t, int64_t>>> tiles = {
      {{128, 64}, {1, 128}}, {{128, 128}, {1, 128}}, {{64, 320}, {1, 128}}, {{512, 64}, {1, 128}},
      {{320, 32}, {1, 64}},  {{64, 128}, {0, 128}},  {{24, 48}, {1, 32}},   {{64, 24}, {1, 16}},
      {{40, 24}, {1, 0}},    {{32}, {0, 16}},        {{1024}, {0, 0}},      {{320}, {0, 16}}};
  for (auto &[shape, rest] : tiles) {
    auto [major, swizzle] = rest;
    BufferType type = buffer(shape, bf16, major, swizzle);
    MemRefType memref = array(bf16, shape.size(), major);
    SharedLayout layout = type.getSharedLayout();
    ASSERT_EQ(whyNotTma(memref, type), "") << layout.toString();
    TensorMapInfo info = tensorMapFor(0, memref, type, false);
    std::vector<int> seen(layout.bytes() / 2, 0);
    for (const TensorBox &box : tensorBoxes(memref, type)) {
      ASSERT_EQ(box.sharedOffset % 128, 0) << layout.toString();
      int64_t outer = info.box.size() == 2 ? info.box[1] : 1;
      for (int64_t r = 0; r < outer; ++r)
        for (int64_t c = 0; c < info.box[0]; ++c) {
          int64_t address = box.sharedOffset + (r * info.box[0] + c) * 2;
          address ^= address >> 3 & (info.swizzle ? info.swizzle - 16 : 0);
          std::vector<int64_t> element(shape.size());
          element[major] = box.start[0] + c;
          if (shape.size() == 2)
            element[1 - major] = box.start[1] + r;
          ASSERT_EQ(address, layout.offset(element)) << layout.toString();
          ++seen[address / 2];
        }
    }
    EXPECT_TRUE(llvm::all_of(seen, [](int count) { return count == 1; })) << layout.toString();
  }
}

TEST_F(TensorMaps, SaysWhyNot) {
  Type bf16 = builder.getBF16Type();
  EXPECT_EQ(why({8, 4}, bf16, 1, 0), "expected rows of a multiple of 16 bytes, got 8 bytes");
  EXPECT_EQ(why({8, 512}, bf16, 1, 0),
            "expected rows of at most 256 elements, or a swizzle, got 512 elements without one");
  EXPECT_EQ(why({257, 64}, bf16, 1, 128),
            "expected at most 256 rows, or a number of rows that splits into equal boxes "
            "at multiples of 128 bytes, got 257 rows of 128 bytes");
  EXPECT_EQ(why({3, 32}, bf16, 1, 32),
            "expected panels of a multiple of 128 bytes of shared memory, got 3 rows of 32 bytes");
  EXPECT_EQ(whyNotTma(array(bf16, 2, 0), buffer({64, 64}, bf16, 1, 128)),
            "expected dimension 1 of the array to have the constant stride 1");
  EXPECT_EQ(whyNotTma(array(bf16, 2, 1, 511), buffer({64, 64}, bf16, 1, 128)),
            "expected the stride of dimension 0 of the array to be a positive multiple of 16 bytes "
            "below 2^40, got 1022 "
            "bytes");
  EXPECT_EQ(whyNotTma(array(bf16, 1, 0), buffer({64, 64}, bf16, 1, 128)),
            "expected an array of the tile's rank, 1 or 2, got 1");
}

TEST_F(TensorMaps, EqualMapsShareAnEntry) {
  Type bf16 = builder.getBF16Type();
  auto kernel = func::FuncOp::create(builder.getUnknownLoc(), "k", builder.getFunctionType({}, {}));
  TensorMapInfo a = tensorMapFor(0, array(bf16, 2, 1), buffer({128, 64}, bf16, 1, 128), false);
  TensorMapInfo b = tensorMapFor(1, array(bf16, 2, 1), buffer({128, 64}, bf16, 1, 128), false);
  EXPECT_EQ(addTensorMap(kernel, a), 0u);
  EXPECT_EQ(addTensorMap(kernel, b), 1u);
  EXPECT_EQ(addTensorMap(kernel, a), 0u);
  EXPECT_EQ(kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr).size(), 2u);
  kernel.erase();
}

} // namespace
