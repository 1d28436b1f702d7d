// arith and math on register tiles: the scalar op for each register. Also constants, splats,
// coordinates, expand_dims, broadcast and transpose.
#include "Float8.h"
#include "ScalarMath.h"
#include "TileRegisters.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

namespace {

using Registers = SmallVector<Value>;

/// Operand `index` of register `reg`: scalars (a select's condition) serve all registers.
Value operandAt(Operation *op, ArrayRef<ValueRange> operands, size_t index, size_t reg) {
  return isa<RankedTensorType>(op->getOperand(index).getType()) ? operands[index][reg] : operands[index].front();
}

/// True if an operand or result has elements of an 8-bit float.
bool touchesFloat8(Operation *op) {
  auto isNarrow = [](Type type) {
    type = getElementTypeOrSelf(type);
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
  };
  return llvm::any_of(op->getOperandTypes(), isNarrow) || llvm::any_of(op->getResultTypes(), isNarrow);
}

/// Emits an error unless the target converts between 8-bit floats and others, and `type` is such a
/// float.
LogicalResult checkFloat8(Operation *op, Type type) {
  if (!isFloat8(type))
    return op->emitOpError("expected an 8-bit format of f8E4M3FN or f8E5M2, got ") << type;
  TargetInfo target = targetOf(op);
  if (!target.has(Feature::F8Convert))
    return op->emitOpError(missingFeature(Feature::F8Convert, target));
  return success();
}

/// arith.extf from, and arith.truncf to, an 8-bit float.
FailureOr<Registers> convertFloat8(OpBuilder &builder, Operation *op, ValueRange source) {
  Location loc = op->getLoc();
  Type from = getElementTypeOrSelf(op->getOperand(0)), to = getElementTypeOrSelf(op->getResult(0));
  auto resize = [&](Value value, Type type) -> Value {
    if (value.getType() == type)
      return value;
    if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(builder, loc, type, value);
    return arith::TruncFOp::create(builder, loc, type, value);
  };
  if (isa<arith::ExtFOp>(op)) {
    if (failed(checkFloat8(op, from)))
      return failure();
    Registers result;
    for (Value half : extendFloat8(builder, loc, source, from))
      // By way of f32 to bf16, exactly: both formats have fewer bits than either.
      result.push_back(to.isBF16() ? resize(resize(half, builder.getF32Type()), to) : resize(half, to));
    return result;
  }
  if (failed(checkFloat8(op, to)))
    return failure();
  if (from.isF64())
    return op->emitOpError("expected a source of f32 or narrower: f64 would be rounded twice");
  Registers wide;
  for (Value value : source)
    wide.push_back(resize(value, builder.getF32Type()));
  return truncateToFloat8(builder, loc, wide, to);
}

/// f32 to 16 bits, two at a time: that is one cvt.rn.bf16x2.f32 or cvt.rn.f16x2.f32.
Registers truncatePairs(OpBuilder &builder, Operation *op, ValueRange source, Type to) {
  Registers result;
  auto from = VectorType::get(2, builder.getF32Type()), pairType = VectorType::get(2, to);
  for (size_t i = 0; i + 1 < source.size(); i += 2) {
    Value pair = vector::FromElementsOp::create(builder, op->getLoc(), from, source.slice(i, 2));
    pair = arith::TruncFOp::create(builder, op->getLoc(), pairType, pair);
    llvm::append_range(result, vector::ToElementsOp::create(builder, op->getLoc(), pair).getResults());
  }
  if (source.size() % 2)
    result.push_back(arith::TruncFOp::create(builder, op->getLoc(), to, source.back()));
  return result;
}

/// The registers of `op`'s result, `count` of them of `type`.
FailureOr<Registers> lowerRegisters(OpBuilder &builder, Operation *op, ArrayRef<ValueRange> operands, size_t count,
                                    Type type) {
  if (touchesFloat8(op) && !isa<arith::SelectOp, arith::BitcastOp>(op)) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      return convertFloat8(builder, op, operands.front());
    return op->emitOpError("expected operands of 16 bits or more: 8-bit floats have only conversions");
  }
  if (isa<arith::TruncFOp>(op) && count > 1 && (type.isBF16() || type.isF16()) &&
      getElementTypeOrSelf(op->getOperand(0)).isF32())
    return truncatePairs(builder, op, operands.front(), type);
  Registers result;
  for (size_t reg = 0; reg < count; ++reg) {
    Registers scalars;
    for (size_t i = 0; i < operands.size(); ++i)
      scalars.push_back(operandAt(op, operands, i, reg));
    if (needsExpansion(op)) {
      FailureOr<Value> value = expandMath(builder, op, scalars);
      if (failed(value))
        return failure();
      result.push_back(*value);
    } else if (isa<arith::BitcastOp>(op) && scalars.front().getType() == type) {
      result.push_back(scalars.front()); // an 8-bit float is an i8 already
    } else {
      OperationState state(op->getLoc(), op->getName(), scalars, type, op->getAttrs());
      result.push_back(builder.create(state)->getResult(0));
    }
  }
  return result;
}

/// Any op that works element by element.
struct ElementwisePattern : ConversionPattern {
  ElementwisePattern(const mlir::TypeConverter &types, MLIRContext *context)
      : ConversionPattern(types, MatchTraitOpTypeTag(), TypeID::get<OpTrait::Elementwise>(), PatternBenefit(1),
                          context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1)
      return failure();
    auto tile = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!tile && !needsExpansion(op) && !touchesFloat8(op))
      return rewriter.notifyMatchFailure(op, "scalar op that LLVM can select");
    size_t count = 1;
    if (tile) {
      FailureOr<TileLayout> layout = layoutOf(op, tile);
      if (failed(layout))
        return failure();
      count = layout->numRegisters();
      for (Type type : op->getOperandTypes())
        if (auto other = dyn_cast<RankedTensorType>(type))
          if (other.getEncoding() != tile.getEncoding())
            return op->emitOpError("expected operands and result in one layout, got ") << type << " and " << tile;
    }
    Type type = registerType(getElementTypeOrSelf(op->getResult(0)));
    FailureOr<Registers> result = lowerRegisters(rewriter, op, operands, count, type);
    if (failed(result))
      return failure();
    rewriter.replaceOpWithMultiple(op, {*result});
    return success();
  }
};

struct ConstantPattern : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(arith::ConstantOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TypedAttr value = op.getValue();
    size_t count = 1;
    if (auto tile = dyn_cast<RankedTensorType>(op.getType())) {
      FailureOr<TileLayout> layout = layoutOf(op, tile);
      if (failed(layout))
        return failure();
      auto splat = dyn_cast<SplatElementsAttr>(value);
      if (!splat)
        return op.emitOpError("expected a splat");
      value = cast<TypedAttr>(splat.getSplatValue<Attribute>());
      count = layout->numRegisters();
    }
    if (auto narrow = dyn_cast<FloatAttr>(value))
      if (registerType(narrow.getType()) != narrow.getType())
        value = rewriter.getIntegerAttr(registerType(narrow.getType()), narrow.getValue().bitcastToAPInt());
    Value scalar = arith::ConstantOp::create(rewriter, op.getLoc(), value);
    rewriter.replaceOpWithMultiple(op, {Registers(count, scalar)});
    return success();
  }
};

struct SplatPattern : OpConversionPattern<tensor::SplatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tensor::SplatOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<TileLayout> layout = layoutOf(op, op.getType());
    if (failed(layout))
      return failure();
    rewriter.replaceOpWithMultiple(op, {Registers(layout->numRegisters(), adaptor.getInput().front())});
    return success();
  }
};

/// Coordinates: the thread's part plus the register's.
struct IotaPattern : OpConversionPattern<tile::IotaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::IotaOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    FailureOr<TileLayout> layout = layoutOf(op, op.getResult().getType());
    if (failed(layout))
      return failure();
    Location loc = op.getLoc();
    Type type = getElementTypeOrSelf(op.getResult().getType());
    Value thread = threadCoordinate(rewriter, loc, *layout, getThread(rewriter, op))[op.getAxis()];
    std::map<int64_t, Value> known;
    Registers registers;
    for (int64_t reg = 0; reg < layout->numRegisters(); ++reg) {
      int64_t constant = layout->registerOffset(reg)[op.getAxis()];
      Value &value = known[constant];
      if (!value) {
        value = arith::AddIOp::create(rewriter, loc, thread, constI32(rewriter, loc, constant));
        if (type.getIntOrFloatBitWidth() < 32)
          value = arith::TruncIOp::create(rewriter, loc, type, value);
        else if (type.getIntOrFloatBitWidth() > 32)
          value = arith::ExtUIOp::create(rewriter, loc, type, value);
      }
      registers.push_back(value);
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// expand_dims, broadcast and transpose: each register takes the source's at the same coordinate, seen through
/// `map`.
template <typename Op> struct ReindexPattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename OpConversionPattern<Op>::OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<TileLayout> from = layoutOf(op, op.getSource().getType());
    FailureOr<TileLayout> to = layoutOf(op, op.getResult().getType());
    if (failed(from) || failed(to))
      return failure();
    std::optional<std::vector<int64_t>> source =
        registersAt(*from, *to, [&](std::vector<int64_t> at) { return sourceOf(op, *from, std::move(at)); });
    if (!source)
      return op.emitOpError("expected each thread to hold the source of its elements, got ")
             << from->toString() << " to " << to->toString();
    Registers registers = llvm::map_to_vector(*source, [&](int64_t reg) { return adaptor.getSource()[reg]; });
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }

private:
  static std::vector<int64_t> sourceOf(tile::ExpandDimsOp op, const TileLayout &, std::vector<int64_t> at) {
    at.erase(at.begin() + op.getAxis());
    return at;
  }
  static std::vector<int64_t> sourceOf(tile::TransposeOp op, const TileLayout &, std::vector<int64_t> at) {
    std::vector<int64_t> source(at.size());
    for (auto [to, from] : llvm::enumerate(op.getPermutation()))
      source[from] = at[to];
    return source;
  }
  static std::vector<int64_t> sourceOf(tile::BroadcastOp, const TileLayout &from, std::vector<int64_t> at) {
    for (auto [place, extent] : llvm::zip_equal(at, from.shape()))
      if (extent == 1)
        place = 0;
    return at;
  }
};

} // namespace

void lowering::populateElementwise(lowering::TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<ElementwisePattern, ConstantPattern, SplatPattern, IotaPattern, ReindexPattern<tile::ExpandDimsOp>,
               ReindexPattern<tile::BroadcastOp>, ReindexPattern<tile::TransposeOp>>(types, patterns.getContext());
}
