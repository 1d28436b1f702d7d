// pipe.read and pipe.write of slots in shared memory.
#include "MatrixAccess.h"
#include "TileRegisters.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

/// The words of all instructions of a plan, in its order.
static std::vector<MatrixAccess::Word> wordsOf(const MatrixPlan &plan) {
  std::vector<MatrixAccess::Word> words;
  for (const MatrixPlan::Instruction &instruction : plan.instructions)
    llvm::append_range(words, instruction.registers);
  return words;
}

static std::vector<std::vector<int64_t>> registerOffsets(const TileLayout &layout) {
  std::vector<std::vector<int64_t>> offsets;
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
    offsets.push_back(layout.registerOffset(reg));
  return offsets;
}

static SlotAddresses threadAddresses(OpBuilder &builder, Location loc, const TileLayout &layout,
                                     const SharedLayout &shared, Value slot, Thread thread) {
  return SlotAddresses(builder, loc, shared, slot, threadCoordinate(builder, loc, layout, thread),
                       threadPlaceBits(layout, shared));
}

namespace {

struct ReadPattern : OpConversionPattern<ReadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ReadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    BufferType buffer = op.getBuffer().getType();
    if (!buffer.isShared())
      return rewriter.notifyMatchFailure(op, "tensor memory has a pattern of its own");
    FailureOr<TileLayout> layout = layoutOf(op, op.getResult().getType(), buffer.getShape());
    if (failed(layout))
      return failure();
    SharedLayout shared = buffer.getSharedLayout();
    Type element = registerType(buffer.getElementType());
    Location loc = op.getLoc();
    Thread thread = getThread(rewriter, op);
    Value slot = adaptor.getBuffer().front();

    SmallVector<Value> registers;
    if (std::optional<MatrixPlan> plan = planMatrixAccess(*layout, shared)) {
      MatrixAccess access(*layout, shared, plan->transposed, slot, thread.lane, thread.warp);
      std::vector<MatrixAccess::Word> words = wordsOf(*plan);
      if (access.accepts(words)) {
        registers.resize(layout->numRegisters());
        for (auto [word, value] : llvm::zip_equal(words, access.load(rewriter, loc, words)))
          for (auto [reg, scalar] : llvm::zip_equal(word, unpackWords(rewriter, loc, value, element, word.size())))
            registers[reg] = scalar;
      }
    }
    if (registers.empty()) {
      SlotAddresses addresses = threadAddresses(rewriter, loc, *layout, shared, slot, thread);
      registers = loadElements(rewriter, loc, addresses, registerOffsets(*layout), element);
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

struct WritePattern : OpConversionPattern<WriteOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(WriteOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    BufferType buffer = op.getBuffer().getType();
    if (!buffer.isShared())
      return op.emitOpError("expected a slot of shared memory, got ") << buffer;
    FailureOr<TileLayout> layout = layoutOf(op, op.getTile().getType(), buffer.getShape());
    if (failed(layout))
      return failure();
    SharedLayout shared = buffer.getSharedLayout();
    Thread thread = getThread(rewriter, op);
    Value slot = adaptor.getBuffer().front();
    Value writer = isWriter(rewriter, op.getLoc(), *layout, thread);

    bool stored = false;
    // All lanes take part in stmatrix: none of them may be a mere replica.
    if (targetOf(op).has(Feature::Stmatrix) && layout->replicatedLaneBits().empty())
      if (std::optional<MatrixPlan> plan = planMatrixAccess(*layout, shared))
        stored = storeMatrices(rewriter, op.getLoc(), *layout, shared, *plan, slot, thread, writer, adaptor.getTile());
    if (!stored) {
      SlotAddresses addresses = threadAddresses(rewriter, op.getLoc(), *layout, shared, slot, thread);
      storeElements(rewriter, op.getLoc(), addresses, registerOffsets(*layout), adaptor.getTile(), writer);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  static bool storeMatrices(ConversionPatternRewriter &rewriter, Location loc, const TileLayout &layout,
                            const SharedLayout &shared, const MatrixPlan &plan, Value slot, Thread thread, Value writer,
                            ValueRange registers) {
    MatrixAccess access(layout, shared, plan.transposed, slot, thread.lane, thread.warp);
    std::vector<MatrixAccess::Word> words = wordsOf(plan);
    if (!access.accepts(words))
      return false;
    SmallVector<Value> values;
    for (const MatrixAccess::Word &word : words) {
      SmallVector<Value> scalars = llvm::map_to_vector(word, [&](int64_t reg) { return registers[reg]; });
      values.push_back(packWords(rewriter, loc, scalars).front());
    }
    // Lanes of one matrix hold different elements, so only whole warps can be replicas.
    OpBuilder::InsertionGuard guard(rewriter);
    if (writer) {
      auto only = scf::IfOp::create(rewriter, loc, writer);
      rewriter.setInsertionPointToStart(only.thenBlock());
    }
    access.store(rewriter, loc, words, values);
    return true;
  }
};

/// The address stays.
struct ViewPattern : OpConversionPattern<ViewOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ViewOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {adaptor.getBuffer()});
    return success();
  }
};

} // namespace

void lowering::populateSharedMemory(lowering::TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<ReadPattern, WritePattern, ViewPattern>(types, patterns.getContext());
}
