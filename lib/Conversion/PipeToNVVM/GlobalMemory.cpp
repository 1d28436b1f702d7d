// pipe.load and pipe.store: predicated vector accesses without branches, except one around the
// tail.
//
// A vector of several elements is accessed only if all of them are inside the array. If an extent
// might not be a multiple of the vector, a vector can straddle the edge; its elements inside then
// move one by one, in a part that is skipped (uniformly: it depends on the extent alone) where the
// extent is a multiple after all.
#include "GlobalTile.h"
#include "TileRegisters.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

/// ".L1::evict_first" and the like (PTX ISA 9.7.9.8, 9.7.9.11). Priorities of eviction are left out
/// where the target or the PTX version that it declares lacks them: they are hints. A store has no
/// .ca.
static StringRef cacheSuffix(Operation *op, std::optional<tile::Cache> cache, bool isLoad) {
  if (!cache)
    return "";
  switch (*cache) {
  case tile::Cache::All:
    return isLoad ? ".ca" : "";
  case tile::Cache::Global:
    return ".cg";
  case tile::Cache::EvictFirst:
  case tile::Cache::EvictLast:
    if (TargetInfo target = targetOf(op);
        !target.has(Feature::CacheEviction) || target.ptxVersion < featurePtxVersion(Feature::CacheEviction))
      return "";
    return *cache == tile::Cache::EvictFirst ? ".L1::evict_first" : ".L1::evict_last";
  }
  return "";
}

/// The registers of `transfer`, each element of them `fill`.
static SmallVector<Value> fillRegisters(OpBuilder &builder, Location loc, const Transfer &transfer, const APInt &fill) {
  SmallVector<Value> registers;
  for (Type type : transfer.types) {
    unsigned bits = type.getIntOrFloatBitWidth();
    APInt value =
        fill.getBitWidth() < bits && transfer.count > 1 ? APInt::getSplat(bits, fill) : fill.zextOrTrunc(bits);
    registers.push_back(arith::ConstantOp::create(builder, loc, IntegerAttr::get(type, value)));
  }
  return registers;
}

namespace {

struct LoadPattern : OpConversionPattern<LoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FailureOr<GlobalTile> tile =
        GlobalTile::create(rewriter, op, op.getResult().getType(), cast<MemRefType>(op.getArray().getType()),
                           adaptor.getArray(), adaptor.getOffsets(), op.getVector());
    if (failed(tile))
      return failure();
    FailureOr<APInt> fill = fillBits(op, tile->element());
    if (failed(fill))
      return failure();
    std::string cache = cacheSuffix(op, op.getCache(), /*isLoad=*/true).str();

    // The registers of all vectors, not yet taken apart: the tail's branch is cheap if it yields
    // few values.
    Transfer transfer(tile->vectorBytes(), tile->element());
    SmallVector<Value> words;
    for (int64_t first = 0; first < tile->numRegisters(); first += tile->vectorElements())
      llvm::append_range(words, load(rewriter, loc, *tile, first, transfer, cache, tile->isInside(rewriter, loc, first),
                                     fillRegisters(rewriter, loc, transfer, *fill)));
    if (Value hasTail = tile->hasTail(rewriter, loc))
      words = loadTail(rewriter, loc, *tile, transfer, cache, hasTail, words);
    SmallVector<Value> registers;
    for (ValueRange rest = words; !rest.empty(); rest = rest.drop_front(transfer.types.size()))
      llvm::append_range(registers, transfer.unpack(rewriter, loc, rest.take_front(transfer.types.size())));
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }

private:
  /// The bits of an element outside the array.
  static FailureOr<APInt> fillBits(LoadOp op, Type element) {
    unsigned bits = element.getIntOrFloatBitWidth();
    std::optional<TypedAttr> attr = op.getFill();
    if (!attr || !*attr)
      return APInt::getZero(bits);
    APInt value;
    if (auto number = dyn_cast<FloatAttr>(*attr))
      value = number.getValue().bitcastToAPInt();
    else if (auto number = dyn_cast<IntegerAttr>(*attr))
      value = number.getValue();
    if (value.getBitWidth() != bits)
      return op.emitOpError("expected a fill of the element type, got ") << *attr;
    return value;
  }

  /// `otherwise`, replaced by what is at register `first` where `inside` holds.
  static SmallVector<Value> load(OpBuilder &builder, Location loc, GlobalTile &tile, int64_t first,
                                 const Transfer &transfer, StringRef cache, Value inside, ValueRange otherwise) {
    auto [base, offset] = tile.addressOf(builder, loc, first);
    int64_t count = transfer.types.size();
    SmallVector<Value> operands = {base, inside};
    llvm::append_range(operands, otherwise);
    SmallVector<int> tied = {-1, -1};
    llvm::append_range(tied, llvm::seq<int>(0, count));
    std::string text = "@$" + std::to_string(count + 1) + " ld.global" + cache.str() + transfer.suffix + " " +
                       transfer.list(0) + ", " + addressOperand(count, offset) + ";";
    return ptx(builder, loc, text, transfer.types, operands, tied);
  }

  static SmallVector<Value> loadTail(OpBuilder &builder, Location loc, GlobalTile &tile, const Transfer &vector,
                                     StringRef cache, Value hasTail, ValueRange words) {
    OpBuilder::InsertionGuard guard(builder);
    auto branch = scf::IfOp::create(builder, loc, words.getTypes(), hasTail, /*withElse=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    GlobalTile inner = tile; // what it has computed outside may be used inside, not the other way
    Transfer single(tile.elementBytes(), tile.element());
    SmallVector<Value> replaced;
    int64_t reg = 0;
    for (ValueRange rest = words; !rest.empty(); rest = rest.drop_front(vector.types.size())) {
      SmallVector<Value> elements;
      for (Value element : vector.unpack(builder, loc, rest.take_front(vector.types.size()))) {
        Value inside = inner.isInTail(builder, loc, reg);
        auto loaded = load(builder, loc, inner, reg++, single, cache, inside, single.pack(builder, loc, element));
        llvm::append_range(elements, single.unpack(builder, loc, loaded));
      }
      llvm::append_range(replaced, vector.pack(builder, loc, elements));
    }
    scf::YieldOp::create(builder, loc, replaced);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, words);
    return branch.getResults();
  }
};

struct StorePattern : OpConversionPattern<StoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FailureOr<GlobalTile> tile =
        GlobalTile::create(rewriter, op, op.getTile().getType(), cast<MemRefType>(op.getArray().getType()),
                           adaptor.getArray(), adaptor.getOffsets(), op.getVector(), op.getValid());
    if (failed(tile))
      return failure();
    tile->onlyIf(isWriter(rewriter, loc, tile->getLayout(), getThread(rewriter, op)));
    std::string cache = cacheSuffix(op, op.getCache(), /*isLoad=*/false).str();

    ValueRange registers = adaptor.getTile();
    int64_t count = tile->vectorElements();
    for (int64_t first = 0; first < tile->numRegisters(); first += count)
      store(rewriter, loc, *tile, first, Transfer(tile->vectorBytes(), tile->element()), cache,
            tile->isInside(rewriter, loc, first), registers.slice(first, count));
    if (Value hasTail = tile->hasTail(rewriter, loc)) {
      OpBuilder::InsertionGuard guard(rewriter);
      auto branch = scf::IfOp::create(rewriter, loc, hasTail);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      for (auto [reg, value] : llvm::enumerate(registers))
        store(rewriter, loc, *tile, reg, Transfer(tile->elementBytes(), tile->element()), cache,
              tile->isInTail(rewriter, loc, reg), value);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void store(OpBuilder &builder, Location loc, GlobalTile &tile, int64_t first, const Transfer &transfer,
                    StringRef cache, Value inside, ValueRange elements) {
    auto [base, offset] = tile.addressOf(builder, loc, first);
    SmallVector<Value> operands = {base, inside};
    llvm::append_range(operands, transfer.pack(builder, loc, elements));
    std::string text = "@$1 st.global" + cache.str() + transfer.suffix + " " + addressOperand(0, offset) + ", " +
                       transfer.list(2) + ";";
    ptx(builder, loc, text, {}, operands);
  }
};

} // namespace

void lowering::populateGlobalMemory(lowering::TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LoadPattern, StorePattern>(types, patterns.getContext());
}
