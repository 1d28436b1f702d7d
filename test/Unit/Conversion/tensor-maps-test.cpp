// Tensor maps: what is in them, which share an entry, and why some tiles and arrays have none.
#include "headrace/Dialect/Pipe/IR/TensorMaps.h"

#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

using namespace headrace;
using namespace headrace::pipe;
using namespace mlir;

namespace {

struct TensorMaps : ::testing::Test {
  TensorMaps() : builder(&context) { context.loadDialect<PipeDialect, tile::TileDialect, func::FuncDialect>(); }

  MemRefType array(Type element, int64_t rank, int64_t major, int64_t otherStride = ShapedType::kDynamic) {
    SmallVector<int64_t> shape(rank, ShapedType::kDynamic), strides(rank, otherStride);
    strides[major] = 1;
    return MemRefType::get(shape, element, StridedLayoutAttr::get(&context, 0, strides));
  }
  BufferType buffer(ArrayRef<int64_t> shape, Type element, int64_t major, int64_t swizzle) {
    return BufferType::get(&context, shape, element, tile::SharedAttr::get(&context, major, swizzle));
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

TEST_F(TensorMaps, SaysWhyNot) {
  Type bf16 = builder.getBF16Type();
  // The rest of TmaBoxes.h's reasons have their test beside it.
  EXPECT_EQ(why({3, 32}, bf16, 1, 32),
            "expected panels of a multiple of 128 bytes of shared memory, got 3 rows of 32 bytes");
  EXPECT_EQ(whyNotTma(array(bf16, 2, 0), buffer({64, 64}, bf16, 1, 128)),
            "expected dimension 1 of the array to have the constant stride 1");
  EXPECT_EQ(whyNotTma(array(bf16, 2, 1, 511), buffer({64, 64}, bf16, 1, 128)),
            "expected the stride of dimension 0 of the array to be a positive multiple of 16 bytes "
            "below 2^40, got 1022 "
            "bytes");
  EXPECT_EQ(whyNotTma(array(bf16, 1, 0), buffer({64, 64}, bf16, 1, 128)),
            "expected a tile of rank 1 or 2 of an array of at most 5 dimensions, got 2 of 1");
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
