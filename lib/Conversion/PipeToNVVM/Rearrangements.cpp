// What only renames registers: changes of layout and reshapes that leave every element in its thread, tiles split in two and
// joined.
#include "TileRegisters.h"

#include "headrace/Dialect/Tile/IR/Tile.h"

#include <map>

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

namespace {

using Registers = SmallVector<Value>;

/// pipe.convert_layout and tile.reshape: each register takes that of the same element.
template <typename Op> struct RenamePattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename OpConversionPattern<Op>::OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<TileLayout> from = layoutOf(op, op.getSource().getType());
    FailureOr<TileLayout> to = layoutOf(op, op.getResult().getType());
    if (failed(from) || failed(to))
      return failure();
    std::optional<std::vector<int64_t>> source = TileLayout::renaming(*from, *to);
    if (!source)
      return op.emitOpError("expected each thread to keep its elements, got ")
             << from->toString() << " to " << to->toString();
    Registers registers = llvm::map_to_vector(*source, [&](int64_t reg) { return adaptor.getSource()[reg]; });
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// `at` with `half` as coordinate along one dimension more.
std::vector<int64_t> append(std::vector<int64_t> at, int64_t half) {
  at.push_back(half);
  return at;
}

struct SplitPattern : OpConversionPattern<tile::SplitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::SplitOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<TileLayout> from = layoutOf(op, op.getSource().getType());
    FailureOr<TileLayout> to = layoutOf(op, op.getFirst().getType());
    if (failed(from) || failed(to))
      return failure();
    auto first = registersAt(*from, *to, [](std::vector<int64_t> at) { return append(std::move(at), 0); });
    if (!first || !from->isWithinThreads(from->rank() - 1))
      return op.emitOpError("expected each thread to hold both halves of its elements, got ")
             << from->toString() << " to " << to->toString();
    std::map<std::vector<int64_t>, int64_t> registerAt;
    for (int64_t reg = 0; reg < from->numRegisters(); ++reg)
      registerAt.emplace(from->registerOffset(reg), reg);
    SmallVector<Registers> halves(2);
    for (int64_t reg = 0; reg < to->numRegisters(); ++reg)
      for (int64_t half : {0, 1})
        halves[half].push_back(adaptor.getSource()[registerAt.at(append(to->registerOffset(reg), half))]);
    rewriter.replaceOpWithMultiple(op, std::move(halves));
    return success();
  }
};

struct JoinPattern : OpConversionPattern<tile::JoinOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::JoinOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<TileLayout> from = layoutOf(op, op.getFirst().getType());
    FailureOr<TileLayout> to = layoutOf(op, op.getResult().getType());
    if (failed(from) || failed(to))
      return failure();
    auto source = registersAt(*from, *to, [](std::vector<int64_t> at) {
      at.pop_back();
      return at;
    });
    if (!source)
      return op.emitOpError("expected each thread to hold the elements that it joins, got ")
             << from->toString() << " to " << to->toString();
    // Which of the two a register holds is known, or the same for all registers of a thread.
    Location loc = op.getLoc();
    Value isSecond;
    if (!to->isWithinThreads(to->rank() - 1)) {
      Value half = threadCoordinate(rewriter, loc, *to, getThread(rewriter, op)).back();
      isSecond = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, half, constI32(rewriter, loc, 0));
    }
    Registers registers;
    for (auto [reg, from] : llvm::enumerate(*source)) {
      Value first = adaptor.getFirst()[from], second = adaptor.getSecond()[from];
      if (isSecond)
        registers.push_back(arith::SelectOp::create(rewriter, loc, isSecond, second, first));
      else
        registers.push_back(to->registerOffset(reg).back() ? second : first);
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

} // namespace

void lowering::populateRearrangements(lowering::TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<RenamePattern<pipe::ConvertLayoutOp>, RenamePattern<tile::ReshapeOp>, SplitPattern, JoinPattern>(
      types, patterns.getContext());
}
