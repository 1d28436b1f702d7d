// Copies of tiles by TMA, in boxes: pipe.copy with mechanism tma, and pipe.async_store.
//
// One thread issues them. The boxes of a tile, and where each lies in the slot, are those of
// TmaBoxes.h; the bytes of a load arrive at the channel's full barrier.
#include "Lowering.h"

#include "headrace/Dialect/Pipe/IR/TensorMaps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

namespace {

// What createpolicy makes of these priorities; the same on all targets with TMA (CUTLASS,
// copy_sm90_desc.hpp).
constexpr int64_t kEvictFirst = 0x12F0000000000000;
constexpr int64_t kEvictLast = 0x14F0000000000000;

/// The L2 policy for a cache hint; nullopt: the default one.
std::optional<int64_t> cachePolicy(std::optional<tile::Cache> cache) {
  if (cache == tile::Cache::EvictFirst)
    return kEvictFirst;
  if (cache == tile::Cache::EvictLast)
    return kEvictLast;
  return std::nullopt;
}

/// Checks that the tile can move by TMA and that the kernel's tensor map `number` has the boxes
/// that will be issued.
LogicalResult checkMap(Operation *op, MemRefType array, BufferType buffer, std::optional<int64_t> number) {
  std::string why = whyNotTma(array, buffer);
  if (!why.empty())
    return op->emitError("TMA cannot move this tile: ") << why;
  auto kernel = op->getParentOfType<FunctionOpInterface>();
  auto maps = kernel ? kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr) : ArrayAttr();
  if (!number || !maps || *number < 0 || *number >= int64_t(maps.size()))
    return op->emitError("expected the number of a tensor map in the kernel's ") << kTensorMapsAttr;
  std::optional<TensorMapInfo> given = TensorMapInfo::fromAttr(maps[*number]);
  if (!given)
    return op->emitError("expected a tensor map with arg, dims, box, swizzle and dtype, got ") << maps[*number];
  TensorMapInfo wanted = tensorMapFor(given->arg, array, buffer, given->dtype == "tf32");
  if (*given == wanted)
    return success();
  return op->emitError("expected tensor map ")
         << *number << " to be " << wanted.toAttr(op->getContext()) << ", got " << maps[*number];
}

/// Run-time coordinates of a box, innermost first: the tile's offsets plus the box's start, then the place along
/// dimensions that the tile has not.
SmallVector<Value> boxCoordinates(OpBuilder &builder, Location loc, ValueRange offsets, const TmaBox &box,
                                  int64_t major) {
  SmallVector<Value> coordinates;
  size_t lead = offsets.size() - box.start.size();
  for (auto [i, start] : llvm::enumerate(box.start)) {
    Value origin = toI32(builder, loc, offsets[lead + (i == 0 ? major : 1 - major)]);
    coordinates.push_back(start ? arith::AddIOp::create(builder, loc, origin, constI32(builder, loc, start)).getResult()
                                : origin);
  }
  for (size_t dim = lead; dim-- > 0;)
    coordinates.push_back(toI32(builder, loc, offsets[dim]));
  return coordinates;
}

Value addBytes(OpBuilder &builder, Location loc, Value address, int64_t bytes) {
  return bytes ? arith::AddIOp::create(builder, loc, address, constI32(builder, loc, bytes)).getResult() : address;
}

/// `{$2, $3}`: placeholders of `count` operands from number `first`.
std::string placeholders(size_t first, size_t count) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(llvm::seq(first, first + count), os, [&](size_t i) { os << "$" << i; });
  return "{" + text + "}";
}

// cp.async.bulk.tensor, both directions: PTX ISA 9.7.9.27.1.2.

/// Global to shared: $0 the destination, $1 the map, then the coordinates, the barrier, the policy.
void issueLoad(OpBuilder &builder, Location loc, Value destination, Value map, ValueRange coordinates, Value barrier,
               std::optional<int64_t> policy) {
  size_t rank = coordinates.size();
  SmallVector<Value> operands{destination, map};
  llvm::append_range(operands, coordinates);
  operands.push_back(barrier);
  std::string text = llvm::formatv("cp.async.bulk.tensor.{0}d.shared::cta.global.tile.mbarrier::complete_tx::bytes{1} "
                                   "[$0], [$1, {2}], [${3}]",
                                   rank, policy ? ".L2::cache_hint" : "", placeholders(2, rank), 2 + rank);
  if (policy) {
    operands.push_back(constI64(builder, loc, *policy));
    text += llvm::formatv(", ${0}", 3 + rank);
  }
  ptx(builder, loc, text + ";", {}, operands);
}

/// Shared to global: $0 the map, $1 the source, then the coordinates, the policy.
void issueStore(OpBuilder &builder, Location loc, Value source, Value map, ValueRange coordinates,
                std::optional<int64_t> policy) {
  size_t rank = coordinates.size();
  SmallVector<Value> operands{map, source};
  llvm::append_range(operands, coordinates);
  std::string text = llvm::formatv("cp.async.bulk.tensor.{0}d.global.shared::cta.tile.bulk_group{1} [$0, {2}], [$1]",
                                   rank, policy ? ".L2::cache_hint" : "", placeholders(2, rank));
  if (policy) {
    operands.push_back(constI64(builder, loc, *policy));
    text += llvm::formatv(", ${0}", 2 + rank);
  }
  ptx(builder, loc, text + ";", {}, operands);
}

struct TmaLoad : OpConversionPattern<CopyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(CopyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getMechanism() != tile::Mechanism::Tma)
      return failure();
    auto array = cast<MemRefType>(op.getArray().getType());
    BufferType buffer = op.getBuffer().getType();
    auto channel = op.getChannel().getDefiningOp<CreateChannelOp>();
    if (failed(checkMap(op, array, buffer, op.getMap())))
      return failure();
    if (!channel || channel.getSync() != Sync::Mbarrier)
      return op.emitError("expected a TMA copy into a channel with sync = mbarrier");

    Location loc = op.getLoc();
    Value condition = isLeader(rewriter, op);
    if (op.getPredicate())
      condition = arith::AndIOp::create(rewriter, loc, condition, adaptor.getPredicate().front());
    Value index = op.getIndex() ? adaptor.getIndex().front() : Value();
    auto leader = scf::IfOp::create(rewriter, loc, condition);
    rewriter.setInsertionPointToStart(leader.thenBlock());
    Value map = tensorMap(rewriter, op, *op.getMap());
    Value barrier = fullBarrier(rewriter, loc, channel, index);
    SmallVector<Value> offsets = single(adaptor.getOffsets());
    int64_t major = buffer.getSharedLayout().major();
    TmaBoxes cut = tensorBoxes(buffer);
    for (const TmaBox &box : cut.boxes)
      issueLoad(rewriter, loc, addBytes(rewriter, loc, adaptor.getBuffer().front(), box.sharedOffset), map,
                boxCoordinates(rewriter, loc, offsets, box, major), barrier, cachePolicy(op.getCache()));
    rewriter.eraseOp(op);
    return success();
  }

  /// Values that convert one to one.
  static SmallVector<Value> single(ArrayRef<ValueRange> values) {
    return llvm::map_to_vector(values, [](ValueRange range) { return range.front(); });
  }
};

struct TmaStore : OpConversionPattern<AsyncStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AsyncStoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto array = cast<MemRefType>(op.getArray().getType());
    BufferType buffer = op.getGroupBuffer();
    if (failed(checkMap(op, array, buffer, op.getMap())))
      return failure();

    Location loc = op.getLoc();
    Value group = op.getGroups() ? groupOf(rewriter, op, *op.getGroups()) : Value();
    auto leader = scf::IfOp::create(rewriter, loc, isGroupLeader(rewriter, op, op.getGroups()));
    rewriter.setInsertionPointToStart(leader.thenBlock());
    Value map = tensorMap(rewriter, op, *op.getMap());
    SmallVector<Value> offsets = TmaLoad::single(adaptor.getOffsets());
    Value source = adaptor.getBuffer().front();
    SharedLayout whole = op.getBuffer().getType().getSharedLayout();
    if (group)
      moveToGroup(rewriter, loc, group, buffer.getShape()[0], whole, source, offsets);
    TmaBoxes cut = tensorBoxes(buffer);
    for (const TmaBox &box : cut.boxes)
      issueStore(rewriter, loc, addBytes(rewriter, loc, source, offsetOf(box, whole)), map,
                 boxCoordinates(rewriter, loc, offsets, box, whole.major()), cachePolicy(op.getCache()));
    rewriter.eraseOp(op);
    return success();
  }

  /// Where a box of a group's share starts in the whole slot, whose panels have all groups' rows.
  static int64_t offsetOf(const TmaBox &box, const SharedLayout &whole) {
    std::vector<int64_t> place(box.start.rbegin(), box.start.rend());
    if (place.size() == 2 && whole.major() == 0)
      std::swap(place[0], place[1]);
    return whole.denseOffset(place);
  }

  /// Advances the slot's address and the array's offsets to this group's `rows` rows. Requires: rows are contiguous
  /// along dimension 1 and a multiple of 8, so that the swizzle repeats.
  static void moveToGroup(OpBuilder &builder, Location loc, Value group, int64_t rows, const SharedLayout &whole,
                          Value &source, SmallVectorImpl<Value> &offsets) {
    auto times = [&](Value value, int64_t factor) -> Value {
      return arith::MulIOp::create(builder, loc, value, constI32(builder, loc, factor));
    };
    source = arith::AddIOp::create(builder, loc, source, times(group, whole.offset({rows, 0})));
    Value first = times(group, rows);
    Value &row = offsets[offsets.size() - 2];
    if (row.getType().isIndex())
      first = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), first);
    row = arith::AddIOp::create(builder, loc, row, first);
  }
};

} // namespace

void lowering::populateTmaCopies(TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<TmaLoad, TmaStore>(converter, patterns.getContext());
}
