// pipe.mma of family fma: products on the CUDA cores, for types and targets without a tensor-core
// instruction.
//
// Each thread loops over K, a few steps at a time. It reads the elements of A in its rows and of B
// in its columns, as vectors where they are contiguous along K or along the tile, and multiplies
// all pairs. 8-bit floats, f16 and bf16 are extended to f32, where their products are exact; i8 to
// i32.
#include "Float8.h"
#include "SlotAddresses.h"
#include "TileRegisters.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <set>

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

/// Most steps of K in one trip: a vector of four f32 along K, and another to hide behind it.
static constexpr int64_t kMaxUnroll = 8;
/// 32-bit registers for the accumulator and a trip's elements of A and B; the rest of 255 is left
/// to addresses and loads.
static constexpr int64_t kRegisterBudget = 176;

/// Steps of K in one trip: a power of two that divides `k`.
static int64_t chooseUnroll(const TileLayout &acc, int64_t k, int64_t elementWords) {
  std::set<int64_t> rows, columns;
  for (int64_t reg = 0; reg < acc.numRegisters(); ++reg) {
    std::vector<int64_t> at = acc.registerOffset(reg);
    rows.insert(at[0]);
    columns.insert(at[1]);
  }
  int64_t unroll = std::min<int64_t>(kMaxUnroll, k & -k);
  auto words = [&] { return elementWords * (acc.numRegisters() + unroll * int64_t(rows.size() + columns.size())); };
  while (unroll > 1 && words() > kRegisterBudget)
    unroll /= 2;
  return unroll;
}

namespace {

/// A or B in its slot: which dimension is K, and the coordinates along the other that this thread
/// needs.
struct FmaOperand {
  SharedLayout shared;
  Value slot;
  int64_t dimK;
  Type stored;               ///< the slot's element type
  Type element;              ///< converted
  Value place;               ///< i32: the thread's part along the other dimension
  std::set<int64_t> offsets; ///< the registers' parts
  int64_t placeBits;         ///< see SlotAddresses, for any first step of a trip

  int64_t extentK() const { return shared.shape()[dimK]; }
  std::vector<int64_t> coordinate(int64_t other, int64_t k) const {
    return dimK == 0 ? std::vector<int64_t>{k, other} : std::vector<int64_t>{other, k};
  }
};

/// Elements by (offset, step).
using Elements = std::map<std::pair<int64_t, int64_t>, Value>;

/// The operand along dimension `dim` of the accumulator's layout.
FailureOr<FmaOperand> makeOperand(MmaOp op, Type type, ValueRange values, int64_t dimK, const TileLayout &acc,
                                  int64_t dim, Value place, int64_t unroll) {
  auto buffer = dyn_cast<BufferType>(type);
  if (!buffer || !buffer.isShared() || buffer.getShape().size() != 2)
    return op.emitOpError("expected operands in slots of shared memory for fma, got ") << type;
  FmaOperand operand{buffer.getSharedLayout(),
                     values.front(),
                     dimK,
                     buffer.getElementType(),
                     registerType(buffer.getElementType()),
                     place,
                     {},
                     0};
  if (operand.shared.shape()[1 - dimK] != acc.shape()[dim])
    return op.emitOpError("expected operands of the accumulator's extents, got ") << buffer;
  for (int64_t reg = 0; reg < acc.numRegisters(); ++reg)
    operand.offsets.insert(acc.registerOffset(reg)[dim]);
  for (int64_t warp = 0; warp < acc.numWarps(); ++warp)
    for (int64_t lane = 0; lane < acc.atom().size(InDim::Lane); ++lane)
      for (int64_t k = 0; k < operand.extentK(); k += unroll)
        operand.placeBits |= denseOffset(operand.shared, operand.coordinate(acc.threadOffset(lane, warp)[dim], k));
  return operand;
}

/// Loads what the trip that starts at `k` needs, in the type of the accumulation.
Elements loadTrip(OpBuilder &builder, Location loc, const FmaOperand &operand, Value k, int64_t unroll, Type wide) {
  SmallVector<Value> place = {operand.place, k};
  if (operand.dimK == 0)
    std::swap(place[0], place[1]);
  SlotAddresses addresses(builder, loc, operand.shared, operand.slot, place, operand.placeBits);
  std::vector<std::vector<int64_t>> constants;
  std::vector<std::pair<int64_t, int64_t>> keys;
  for (int64_t offset : operand.offsets)
    for (int64_t step = 0; step < unroll; ++step) {
      keys.emplace_back(offset, step);
      constants.push_back(operand.coordinate(offset, step));
    }
  Elements elements;
  SmallVector<Value> loaded = loadElements(builder, loc, addresses, constants, operand.element);
  if (isFloat8(operand.stored))
    loaded = extendFloat8(builder, loc, loaded, operand.stored);
  for (auto [key, value] : llvm::zip_equal(keys, loaded)) {
    if (value.getType() != wide)
      value = isa<IntegerType>(wide) ? arith::ExtSIOp::create(builder, loc, wide, value).getResult()
                                     : arith::ExtFOp::create(builder, loc, wide, value).getResult();
    elements[key] = value;
  }
  return elements;
}

/// The type to accumulate in; null if fma has no such types.
Type accumulationType(Type a, Type b, Type acc) {
  MLIRContext *context = acc.getContext();
  if (isFloat8(a) && isFloat8(b) && acc.isF32())
    return acc;
  if (a != b)
    return {};
  if (a.isF64() && acc.isF64())
    return acc;
  if (a.isInteger(8) && acc.isInteger(32))
    return acc;
  bool isNarrow = a.isF16() || a.isBF16();
  if ((isNarrow || a.isF32()) && (acc.isF32() || (acc.isF16() && a.isF16())))
    return Float32Type::get(context);
  return {};
}

struct FmaPattern : OpConversionPattern<MmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MmaOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (op.getAtom().getFamily() != tile::Family::Fma)
      return rewriter.notifyMatchFailure(op, "another family");
    Location loc = op.getLoc();
    FailureOr<TileLayout> layout = layoutOf(op, op.getAcc().getType());
    if (failed(layout))
      return failure();
    auto bufferA = dyn_cast<BufferType>(op.getA().getType());
    if (layout->rank() != 2 || !bufferA || bufferA.getShape().size() != 2)
      return op.emitOpError("expected operands in slots and an accumulator of rank 2 for fma");
    int64_t dimKA = op.getTransposeA() ? 0 : 1, dimKB = op.getTransposeB() ? 1 : 0;
    int64_t k = bufferA.getShape()[dimKA];
    int64_t unroll = chooseUnroll(*layout, k, adaptor.getAcc().front().getType().isF64() ? 2 : 1);

    SmallVector<Value> place = threadCoordinate(rewriter, loc, *layout, getThread(rewriter, op));
    FailureOr<FmaOperand> a = makeOperand(op, op.getA().getType(), adaptor.getA(), dimKA, *layout, 0, place[0], unroll);
    if (failed(a))
      return failure();
    FailureOr<FmaOperand> b = makeOperand(op, op.getB().getType(), adaptor.getB(), dimKB, *layout, 1, place[1], unroll);
    if (failed(b))
      return failure();
    Type type = adaptor.getAcc().front().getType();
    Type wide = accumulationType(a->stored, b->stored, type);
    bool isNarrow = isFloat8(a->stored) && !targetOf(op).has(Feature::F8Convert);
    if (!wide || isNarrow || b->extentK() != k)
      return op.emitOpError("expected operands of one K and of types that fma multiplies, got ")
             << op.getA().getType() << " and " << op.getB().getType();

    SmallVector<Value> acc =
        accumulate(rewriter, loc, *layout, *a, *b, unroll, extend(rewriter, loc, adaptor.getAcc(), wide));
    for (Value &value : acc)
      if (value.getType() != type)
        value = arith::TruncFOp::create(rewriter, loc, type, value);
    rewriter.replaceOpWithMultiple(op, {acc});
    return success();
  }

private:
  static SmallVector<Value> extend(OpBuilder &builder, Location loc, ValueRange values, Type wide) {
    return llvm::map_to_vector(values, [&](Value value) -> Value {
      return value.getType() == wide ? value : arith::ExtFOp::create(builder, loc, wide, value);
    });
  }

  static SmallVector<Value> accumulate(OpBuilder &builder, Location loc, const TileLayout &layout, const FmaOperand &a,
                                       const FmaOperand &b, int64_t unroll, SmallVector<Value> acc) {
    Value zero = constI32(builder, loc, 0);
    if (a.extentK() == unroll)
      return multiplyTrip(builder, loc, layout, a, b, zero, unroll, acc);
    auto loop =
        scf::ForOp::create(builder, loc, zero, constI32(builder, loc, a.extentK()), constI32(builder, loc, unroll), acc,
                           [&](OpBuilder &body, Location, Value k, ValueRange carried) {
                             scf::YieldOp::create(body, loc, multiplyTrip(body, loc, layout, a, b, k, unroll, carried));
                           });
    return loop.getResults();
  }

  static SmallVector<Value> multiplyTrip(OpBuilder &builder, Location loc, const TileLayout &layout,
                                         const FmaOperand &a, const FmaOperand &b, Value k, int64_t unroll,
                                         ValueRange carried) {
    SmallVector<Value> acc(carried);
    Type wide = acc.front().getType();
    Elements elementsA = loadTrip(builder, loc, a, k, unroll, wide);
    Elements elementsB = loadTrip(builder, loc, b, k, unroll, wide);
    for (int64_t step = 0; step < unroll; ++step)
      for (auto [reg, value] : llvm::enumerate(acc)) {
        std::vector<int64_t> at = layout.registerOffset(reg);
        Value x = elementsA[{at[0], step}], y = elementsB[{at[1], step}];
        if (isa<IntegerType>(wide))
          value = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, x, y), value);
        else
          value = LLVM::FMAOp::create(builder, loc, wide, x, y, value);
      }
    return acc;
  }
};

} // namespace

void lowering::populateFma(lowering::TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<FmaPattern>(types, patterns.getContext());
}
