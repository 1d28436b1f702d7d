// Copies of tiles by the threads of a role: pipe.copy with mechanism plain (ld.global, st.shared)
// and cp_async. Which dimension they run along and how wide; ChunkedCopy.h does the rest.
#include "ChunkedCopy.h"
#include "Transfer.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

namespace {

/// The dimensions along which chunks and rows run: chunks along the contiguous dimension of the
/// array, or of the slot if the array has none.
void chooseDimensions(Copy &copy) {
  int64_t contiguous = tile::contiguousDim(copy.array.getType());
  auto [strides, offset] = copy.array.getType().getStridesAndOffset();
  copy.fast = contiguous < 0 || strides[copy.layout.major()] == 1 ? copy.layout.major() : contiguous;
  copy.slow = copy.layout.rank() == 1 ? -1 : 1 - copy.fast;
}

/// Bytes of a chunk, no more than the op says; an error if cp.async cannot move them.
FailureOr<int64_t> chooseVector(const Copy &copy) {
  CopyOp op = copy.op;
  int64_t elementBytes = copy.elementBytes();
  int64_t vector = op.getVector().value_or(elementBytes);
  if (!llvm::isPowerOf2_64(vector) || vector < elementBytes || vector > kMaxVectorBytes)
    return op.emitError("expected vector to be a power of two from ")
           << elementBytes << " to " << kMaxVectorBytes << " bytes, got " << vector;
  auto [strides, offset] = copy.array.getType().getStridesAndOffset();
  bool contiguous = copy.fast == copy.layout.major() && strides[copy.fast] == 1;
  int64_t rowBytes = copy.layout.shape()[copy.fast] * elementBytes;
  if (copy.isAsync()) {
    if (vector < 4)
      return op.emitError("expected vector to be 4, 8 or 16 bytes, which cp.async moves, got ") << vector;
    if (vector > elementBytes && !contiguous)
      return op.emitError("expected array and slot to be contiguous in the same dimension");
    if (rowBytes % vector)
      return op.emitError("expected rows of a multiple of ") << vector << " bytes, got " << rowBytes;
    return vector;
  }
  if (!contiguous)
    return elementBytes;
  while (rowBytes % vector)
    vector /= 2;
  return vector;
}

/// A plain vector is all in or all out only if the array's rows are whole vectors. Where that is
/// not known, both forms are there, and the branch is the same for all threads.
void emitPlain(OpBuilder &builder, const Copy &copy, int64_t vector) {
  Location loc = copy.op->getLoc();
  int64_t perChunk = vector / copy.elementBytes();
  int64_t extent = copy.array.getType().getDimSize(copy.fast);
  if (!ShapedType::isDynamic(extent) || perChunk == 1) {
    ChunkedCopy(builder, copy, extent % perChunk ? copy.elementBytes() : vector).emit();
    return;
  }
  Value rest = arith::AndIOp::create(builder, loc, copy.array.size(builder, loc, copy.fast),
                                     constI32(builder, loc, perChunk - 1));
  Value whole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest, constI32(builder, loc, 0));
  auto branch = scf::IfOp::create(builder, loc, whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  ChunkedCopy(builder, copy, vector).emit();
  builder.setInsertionPointToStart(branch.elseBlock());
  ChunkedCopy(builder, copy, copy.elementBytes()).emit();
}

struct CopyLowering : OpConversionPattern<CopyOp> {
  CopyLowering(lowering::TypeConverter &converter, MLIRContext *context, const TargetInfo &target)
      : OpConversionPattern(converter, context), target(target) {}

  LogicalResult matchAndRewrite(CopyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getMechanism() == tile::Mechanism::Tma)
      return failure();
    if (op.getMechanism() == tile::Mechanism::CpAsync && !target.has(Feature::CpAsync))
      return op.emitError(missingFeature(Feature::CpAsync, target));
    auto type = cast<MemRefType>(op.getArray().getType());
    BufferType buffer = op.getBuffer().getType();
    int64_t lead = type.getRank() - int64_t(buffer.getShape().size());
    if (!buffer.isShared() || lead < 0 || type.getElementType() != buffer.getElementType())
      return op.emitError("expected a tile in shared memory of at most the array's rank, and of its element type");

    SmallVector<Value> offsets =
        llvm::map_to_vector(adaptor.getOffsets(), [](ValueRange offset) { return offset.front(); });
    ArrayView array(type, adaptor.getArray());
    Copy copy{op, target, array.dropDims(rewriter, op.getLoc(), lead, offsets), buffer.getSharedLayout(),
              adaptor.getBuffer().front()};
    copy.predicate = op.getPredicate() ? adaptor.getPredicate().front() : Value();
    llvm::append_range(copy.offsets, ArrayRef(offsets).drop_front(lead));
    copy.threads = 32 * getRole(op).active;
    chooseDimensions(copy);
    FailureOr<int64_t> vector = chooseVector(copy);
    if (failed(vector))
      return failure();
    if (copy.isAsync())
      ChunkedCopy(rewriter, copy, *vector).emit();
    else
      emitPlain(rewriter, copy, *vector);
    rewriter.eraseOp(op);
    return success();
  }

private:
  TargetInfo target;
};

} // namespace

void lowering::populateCopies(TypeConverter &converter, RewritePatternSet &patterns, const TargetInfo &target) {
  patterns.add<CopyLowering>(converter, patterns.getContext(), target);
  populateTmaCopies(converter, patterns);
}
