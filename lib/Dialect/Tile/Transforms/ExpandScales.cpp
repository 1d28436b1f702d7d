// Products of scaled blocks for tensor cores that know no scales: numbers take their scale before.
#include "ExpandScales.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace headrace::tile;

namespace {
/// Builds tiles element by element from one tile and constants.
struct TileBuilder {
  OpBuilder &builder;
  Location loc;

  static RankedTensorType typeLike(Value tile, Type element) {
    return RankedTensorType::get(cast<RankedTensorType>(tile.getType()).getShape(), element);
  }
  Value integer(Value like, int64_t value) {
    auto type = cast<RankedTensorType>(like.getType());
    return arith::ConstantOp::create(
        builder, loc, SplatElementsAttr::get(type, builder.getIntegerAttr(type.getElementType(), value)));
  }
  template <typename Op> Value withInteger(Value tile, int64_t value) {
    return Op::create(builder, loc, tile, integer(tile, value));
  }
  template <typename Op> Value convert(Value tile, Type element) {
    return Op::create(builder, loc, typeLike(tile, element), tile);
  }
  Value where(Value tile, int64_t equal, int64_t then, Value otherwise) {
    Value is = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, tile, integer(tile, equal));
    return arith::SelectOp::create(builder, loc, is, integer(otherwise, then), otherwise);
  }

  Value factorsOf(Value scales);
  Value numbersOf(Value nibbles);
  Value unpack(Value operand);
  Value spread(Value factors, int64_t numbers);
  Value scaled(Value operand, Value scales);
};
} // namespace

/// Scales as f32.
Value TileBuilder::factorsOf(Value scales) {
  Type f32 = builder.getF32Type();
  if (isa<FloatType>(getElementTypeOrSelf(scales)))
    return convert<arith::ExtFOp>(scales, f32);
  // The exponent of f32 has the same bias; its ends mean something else.
  Value exponent = convert<arith::ExtUIOp>(scales, builder.getI32Type());
  Value bits = withInteger<arith::ShLIOp>(exponent, 23);
  bits = where(exponent, 0, 0x00400000, bits);
  bits = where(exponent, 255, 0x7FC00000, bits);
  return convert<arith::BitcastOp>(bits, f32);
}

/// The e2m1 numbers in the low four bits of i32, as f32.
Value TileBuilder::numbersOf(Value nibbles) {
  // Sign, exponent and mantissa in their places in f16, whose bias is larger by 14: its small numbers are e2m1's, too.
  Value magnitude = withInteger<arith::ShLIOp>(withInteger<arith::AndIOp>(nibbles, 7), 9);
  Value sign = withInteger<arith::ShLIOp>(withInteger<arith::AndIOp>(nibbles, 8), 12);
  Value bits = convert<arith::TruncIOp>(arith::OrIOp::create(builder, loc, magnitude, sign), builder.getI16Type());
  Value small = convert<arith::ExtFOp>(convert<arith::BitcastOp>(bits, builder.getF16Type()), builder.getF32Type());
  auto type = cast<RankedTensorType>(small.getType());
  Value factor =
      arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(type, builder.getF32FloatAttr(1 << 14)));
  return arith::MulFOp::create(builder, loc, small, factor);
}

/// An operand's numbers as f32, rows x K.
Value TileBuilder::unpack(Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (!type.getElementType().isInteger(8))
    return convert<arith::ExtFOp>(operand, builder.getF32Type());
  Value byte = convert<arith::ExtUIOp>(operand, builder.getI32Type());
  Value low = numbersOf(byte), high = numbersOf(withInteger<arith::ShRUIOp>(byte, 4));
  int64_t rows = type.getDimSize(0), pairs = type.getDimSize(1);
  Type f32 = builder.getF32Type();
  Value both = JoinOp::create(builder, loc, RankedTensorType::get({rows, pairs, 2}, f32), low, high);
  return ReshapeOp::create(builder, loc, RankedTensorType::get({rows, 2 * pairs}, f32), both);
}

/// Each factor as often as it has numbers.
Value TileBuilder::spread(Value factors, int64_t numbers) {
  auto type = cast<RankedTensorType>(factors.getType());
  int64_t rows = type.getDimSize(0), blocks = type.getDimSize(1);
  Type f32 = type.getElementType();
  Value column = ExpandDimsOp::create(builder, loc, RankedTensorType::get({rows, blocks, 1}, f32), factors, 2);
  Value each = BroadcastOp::create(builder, loc, RankedTensorType::get({rows, blocks, numbers}, f32), column);
  return ReshapeOp::create(builder, loc, RankedTensorType::get({rows, blocks * numbers}, f32), each);
}

/// An operand that has taken its scales, as bf16.
Value TileBuilder::scaled(Value operand, Value scales) {
  int64_t block = DotScaledOp::blockOf(getElementTypeOrSelf(scales));
  Value product = arith::MulFOp::create(builder, loc, unpack(operand), spread(factorsOf(scales), block));
  return convert<arith::TruncFOp>(product, builder.getBF16Type());
}

SmallVector<DotOp> headrace::tile::expandScales(KernelOp kernel) {
  SmallVector<DotScaledOp> dots;
  SmallVector<DotOp> products;
  kernel.walk([&](DotScaledOp dot) { dots.push_back(dot); });
  for (DotScaledOp dot : dots) {
    OpBuilder builder(dot);
    TileBuilder tiles{builder, dot.getLoc()};
    Value a = tiles.scaled(dot.getA(), dot.getAScale()), b = tiles.scaled(dot.getB(), dot.getBScale());
    auto product = DotOp::create(builder, dot.getLoc(), dot.getResult().getType(), a, /*transpose_a=*/false, b,
                                 /*transpose_b=*/true, dot.getAcc(), /*precision=*/nullptr, /*atom=*/nullptr);
    product->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
    dot.replaceAllUsesWith(product.getResult());
    dot.erase();
    products.push_back(product);
  }
  return products;
}
