// wgmma: pipe.mma_async and pipe.mma_wait (PTX ISA 9.7.15).
//
// A warpgroup multiplies its part of the tile in blocks of m64 x n. Fence, all k-steps of all
// blocks and commit are one piece of inline PTX with the accumulator tied in and out: nothing can
// come between them, and every further piece would cost code generation a copy of each register.
// The wait is tied to the registers, too: it adds no instruction, and nothing else keeps LLVM from
// moving arithmetic on the accumulator across it.
#include "Lowering.h"
#include "MatrixDescriptor.h"

#include "headrace/Layout/Fragments.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

namespace {

constexpr int64_t kAtomRows = 64;
constexpr int64_t kStepBytes = 32; // of K, in one instruction
constexpr int64_t kWordsOfA = 4;   // registers of A of one instruction

/// PTX name of an operand's type; empty if wgmma has none.
StringRef operandName(Type element, std::optional<tile::Precision> precision) {
  return llvm::TypeSwitch<Type, StringRef>(element)
      .Case([](BFloat16Type) { return "bf16"; })
      .Case([](Float16Type) { return "f16"; })
      .Case([&](Float32Type) { return precision == tile::Precision::Tf32 ? "tf32" : ""; })
      .Case([](Float8E4M3FNType) { return "e4m3"; })
      .Case([](Float8E5M2Type) { return "e5m2"; })
      .Case([](IntegerType type) { return type.isInteger(8) ? "s8" : ""; })
      .Default([](Type) { return ""; });
}

/// Whether `attribute` spells out the layout `wanted`, perhaps in another way: every register has
/// the same element.
bool isLayout(Attribute attribute, const std::optional<TileLayout> &wanted) {
  auto layout = dyn_cast_or_null<tile::LayoutAttr>(attribute);
  if (!layout || !wanted)
    return false;
  auto registers = TileLayout::renaming(layout.getTileLayout(), *wanted);
  return registers && llvm::equal(*registers, llvm::seq<int64_t>(0, registers->size()));
}

/// A piece of PTX of which the first `tied` operands are registers that it changes: its results.
SmallVector<Value> tiedPtx(OpBuilder &builder, Location loc, StringRef text, ValueRange operands, size_t tied) {
  SmallVector<int> numbers = llvm::to_vector(llvm::seq<int>(0, tied));
  return ptx(builder, loc, text, operands.take_front(tied).getTypes(), operands, numbers);
}

/// wgmma.wait_group: PTX ISA 9.7.15.7.3.
std::string waitText(MmaWaitOp op) { return llvm::formatv("wgmma.wait_group.sync.aligned {0};\n", op.getPending()); }

/// One operand of the matmul in shared memory.
struct SlotOperand {
  SharedLayout layout;
  bool kMajor;
  MatrixDescriptor descriptor;
  Value address; ///< of what this warpgroup reads; i32
};

/// What one pipe.mma_async is made of, and the steps of its lowering.
class Multiply {
public:
  Multiply(MmaAsyncOp op, MmaAsyncOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor, OpBuilder &builder)
      : op(op), adaptor(adaptor), builder(builder), loc(op.getLoc()), atom(op.getAtom()) {}

  /// The accumulator after the instructions and, if given, a wait; emits an error on failure.
  FailureOr<SmallVector<Value>> emit(MmaWaitOp wait);

private:
  LogicalResult checkShapes();
  LogicalResult checkRegistersOfA();
  FailureOr<SlotOperand> slotOperand(BufferType type, Value slot, int64_t kDim, bool isA);
  LogicalResult checkStarts(const SharedLayout &layout, bool kMajor, bool isA);
  Value groupAddress(const SharedLayout &layout, bool kMajor, Value slot, Value group, int64_t rows);
  Value descriptor(const SlotOperand &operand, int64_t row, int64_t rows, int64_t step);
  LogicalResult addOperands();
  void writeBlock(llvm::raw_ostream &os, int64_t mBlock, int64_t nBlock) const;

  MmaAsyncOp op;
  MmaAsyncOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor;
  OpBuilder &builder;
  Location loc;
  tile::AtomAttr atom;
  int64_t rows, cols, depth;              ///< of the part of one warpgroup; depth is K
  int64_t steps, rowBlocks, columnBlocks; ///< instructions along K, M and N
  StringRef aName, bName;
  std::optional<SlotOperand> a, b; ///< no `a` if it comes from registers
  SmallVector<Value> operands;     ///< of the PTX: the accumulators, A by row blocks, B by column blocks
  int64_t accumulators;            ///< how many
  int64_t firstOfA, firstOfB;      ///< numbers of the operands in its text
};

RankedTensorType accumulatorType(MmaAsyncOp op) { return op.getResult().getType().getTile(); }

LogicalResult Multiply::checkShapes() {
  RankedTensorType acc = accumulatorType(op);
  BufferType bType = op.getB().getType();
  auto aType = dyn_cast<BufferType>(op.getA().getType());
  ArrayRef<int64_t> aShape = aType ? aType.getShape() : cast<RankedTensorType>(op.getA().getType()).getShape();
  Type aElement = aType ? aType.getElementType() : cast<RankedTensorType>(op.getA().getType()).getElementType();
  aName = operandName(aElement, op.getPrecision());
  bName = operandName(bType.getElementType(), op.getPrecision());
  int64_t aBits = aElement.getIntOrFloatBitWidth();
  // Types mix only among the 8-bit floats.
  bool mixes = isa<FloatType>(aElement) && aBits == 8 && isa<FloatType>(bType.getElementType()) &&
               bType.getElementType().getIntOrFloatBitWidth() == 8;
  Type result = acc.getElementType();
  if (aName.empty() || bName.empty() || (aName != bName && !mixes) ||
      !(aName == "s8" ? result.isInteger(32) : result.isF32()))
    return op.emitError("wgmma cannot multiply ")
           << aElement << " and " << bType.getElementType() << " into " << result;
  if (aShape.size() != 2 || bType.getShape().size() != 2 || acc.getRank() != 2)
    return op.emitError("expected operands and accumulator of rank 2");

  rows = acc.getDimSize(0) / atom.getGroupsM();
  cols = acc.getDimSize(1) / atom.getGroupsN();
  depth = aShape[op.getTransposeA() ? 0 : 1];
  steps = depth / atom.getK();
  rowBlocks = rows / kAtomRows;
  columnBlocks = cols / atom.getN();
  if (atom.getM() != kAtomRows || atom.getK() * aBits != kStepBytes * 8 || atom.getN() % 8 || atom.getN() > 256)
    return op.emitError("expected an atom of m64, n a multiple of 8 up to 256 and k of 32 bytes, got ") << atom;
  if (depth % atom.getK() || aShape[op.getTransposeA() ? 1 : 0] != acc.getDimSize(0) ||
      bType.getShape()[op.getTransposeB() ? 0 : 1] != acc.getDimSize(1) ||
      bType.getShape()[op.getTransposeB() ? 1 : 0] != depth)
    return op.emitError("expected operands of ")
           << acc.getDimSize(0) << " x K and K x " << acc.getDimSize(1) << " with K a multiple of " << atom.getK();
  auto wanted = wgmmaAccumulator(acc.getDimSize(0), acc.getDimSize(1), atom.getGroupsM(), atom.getGroupsN());
  if (!isLayout(acc.getEncoding(), wanted) || cols % atom.getN())
    return op.emitError("expected the accumulator in the layout of wgmma for ") << atom;
  return success();
}

LogicalResult Multiply::checkRegistersOfA() {
  auto type = cast<RankedTensorType>(op.getA().getType());
  auto wanted =
      wgmmaOperandA(type.getDimSize(0), depth, type.getElementTypeBitWidth(), atom.getGroupsM(), atom.getGroupsN());
  if (op.getTransposeA() || !isLayout(type.getEncoding(), wanted))
    return op.emitError("expected A in registers to be M x K in the layout of wgmma for ") << atom;
  return success();
}

/// Address of the warpgroup's part: `rows` rows (along M or N) after those of the groups before it.
Value Multiply::groupAddress(const SharedLayout &layout, bool kMajor, Value slot, Value group, int64_t rows) {
  Value offset;
  if (kMajor) {
    offset = multiply(builder, loc, group, rows * layout.rowBytes());
  } else {
    // Rows are contiguous and cut into panels, of which a group may have a part only.
    int64_t bytes = rows * layout.elementBits() / 8, panelRow = layout.rowBytes();
    if (bytes % panelRow == 0) {
      offset = multiply(builder, loc, group, bytes / panelRow * layout.panelBytes());
    } else {
      Value column = multiply(builder, loc, group, bytes);
      Value panel = arith::ShRUIOp::create(builder, loc, column, constI32(builder, loc, llvm::Log2_64(panelRow)));
      Value inner = arith::AndIOp::create(builder, loc, column, constI32(builder, loc, panelRow - 1));
      offset = arith::AddIOp::create(builder, loc, multiply(builder, loc, panel, layout.panelBytes()), inner);
    }
  }
  return arith::AddIOp::create(builder, loc, slot, offset);
}

/// Emits an error if some instruction cannot start where it would have to.
LogicalResult Multiply::checkStarts(const SharedLayout &layout, bool kMajor, bool isA) {
  int64_t groups = isA ? atom.getGroupsM() : atom.getGroupsN(), part = isA ? rows : cols;
  int64_t block = isA ? kAtomRows : atom.getN();
  // Blocks are found at constant distances from the group's start, so several need it to be the
  // start of a panel.
  bool movable = kMajor || groups == 1 || part == block || part % layout.panelElements() == 0;
  for (int64_t row = 0; row < groups * part; row += block)
    if (!movable || !operandStart(layout, kMajor, row, block, 0))
      return op.emitError("no wgmma descriptor for ")
             << block << " of " << groups * part << " rows of " << (isA ? "A" : "B") << " from row " << row
             << " in panels of " << layout.panelElements();
  return success();
}

FailureOr<SlotOperand> Multiply::slotOperand(BufferType type, Value slot, int64_t kDim, bool isA) {
  StringRef name = isA ? "A" : "B";
  if (!type.isShared())
    return op.emitError("expected ") << name << " in shared memory or registers";
  SharedLayout layout = type.getSharedLayout();
  bool kMajor = layout.major() == kDim;
  if (layout.swizzle() == 0)
    return op.emitError("expected ") << name << " in panels (a swizzle of 16 to 128), got dense rows";
  if (!kMajor && layout.elementBits() != 16)
    return op.emitError("wgmma reads operands of ") << layout.elementBits() << " bits only where K is contiguous, but "
                                                    << (isA ? "M" : "N") << " is contiguous in " << name;
  if (failed(checkStarts(layout, kMajor, isA)))
    return failure();
  Value address = slot;
  if ((isA ? atom.getGroupsM() : atom.getGroupsN()) > 1) {
    // Group of warps = groupM * groupsN + groupN, as in Fragments.h; a group is four warps.
    Value group = getThread(builder, op).warp;
    group = arith::ShRUIOp::create(builder, loc, group, constI32(builder, loc, 2));
    Value groupsN = constI32(builder, loc, atom.getGroupsN());
    if (isA && atom.getGroupsN() > 1)
      group = arith::DivUIOp::create(builder, loc, group, groupsN);
    else if (!isA && atom.getGroupsM() > 1)
      group = arith::RemUIOp::create(builder, loc, group, groupsN);
    address = groupAddress(layout, kMajor, slot, group, isA ? rows : cols);
  }
  return SlotOperand{layout, kMajor, wgmmaDescriptor(layout, kMajor), address};
}

Value Multiply::descriptor(const SlotOperand &operand, int64_t row, int64_t rows, int64_t step) {
  int64_t start = *operandStart(operand.layout, operand.kMajor, row, rows, step * atom.getK());
  return buildDescriptor(builder, loc, operand.descriptor, operand.address, start);
}

/// What the PTX reads beside the accumulators; emits an error on failure.
LogicalResult Multiply::addOperands() {
  if (auto type = dyn_cast<BufferType>(op.getA().getType())) {
    FailureOr<SlotOperand> operand =
        slotOperand(type, adaptor.getA().front(), op.getTransposeA() ? 0 : 1, /*isA=*/true);
    if (failed(operand))
      return failure();
    a = *operand;
    for (int64_t m = 0; m < rowBlocks; ++m)
      for (int64_t step = 0; step < steps; ++step)
        operands.push_back(descriptor(*a, m * kAtomRows, kAtomRows, step));
  } else {
    if (failed(checkRegistersOfA()))
      return failure();
    SmallVector<Value> words = packWords(builder, loc, adaptor.getA());
    if (aName == "tf32")
      for (Value &word : words)
        word = ptx1(builder, loc, "cvt.rna.tf32.f32 $0, $1;", word.getType(), word);
    llvm::append_range(operands, words);
  }
  firstOfB = firstOfA + (operands.size() - accumulators);
  FailureOr<SlotOperand> operand =
      slotOperand(op.getB().getType(), adaptor.getB().front(), op.getTransposeB() ? 1 : 0, /*isA=*/false);
  if (failed(operand))
    return failure();
  b = *operand;
  for (int64_t n = 0; n < columnBlocks; ++n)
    for (int64_t step = 0; step < steps; ++step)
      operands.push_back(descriptor(*b, n * atom.getN(), atom.getN(), step));
  return success();
}

/// All k-steps of a block. wgmma.mma_async: PTX ISA 9.7.15.5.2.
void Multiply::writeBlock(llvm::raw_ostream &os, int64_t mBlock, int64_t nBlock) const {
  int64_t count = atom.getN() / 2, first = (mBlock * columnBlocks + nBlock) * count;
  auto list = [&](int64_t first, int64_t count) {
    os << "{";
    llvm::interleaveComma(llvm::seq<int64_t>(first, first + count), os, [&](int64_t i) { os << "$" << i; });
    os << "}";
  };
  bool integer = aName == "s8", sixteen = aName == "bf16" || aName == "f16";
  for (int64_t step = 0; step < steps; ++step) {
    os << "wgmma.mma_async.sync.aligned.m64n" << atom.getN() << "k" << atom.getK() << "." << (integer ? "s32" : "f32")
       << "." << aName << "." << bName << " ";
    list(first, count);
    os << ", ";
    if (a)
      os << "$" << firstOfA + mBlock * steps + step;
    else
      list(firstOfA + (mBlock * steps + step) * kWordsOfA, kWordsOfA);
    os << ", $" << firstOfB + nBlock * steps + step << ", p";
    // Accumulators always start defined, so p is true. Then the signs, and which operands are
    // contiguous along M or N.
    if (!integer)
      os << ", 1, 1";
    if (sixteen && a)
      os << ", " << (a->kMajor ? 0 : 1);
    if (sixteen)
      os << ", " << (b->kMajor ? 0 : 1);
    os << ";\n";
  }
}

FailureOr<SmallVector<Value>> Multiply::emit(MmaWaitOp wait) {
  if (failed(checkShapes()))
    return failure();
  operands.assign(adaptor.getAcc().begin(), adaptor.getAcc().end());
  accumulators = operands.size();
  firstOfA = 2 * accumulators; // after results and tied operands
  if (failed(addOperands()))
    return failure();

  // What ordinary instructions wrote, the accumulator and A, must come before wgmma.fence: PTX ISA
  // 9.7.15.7.1.
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{\n.reg .pred p;\nsetp.eq.u32 p, 0, 0;\nwgmma.fence.sync.aligned;\n";
  for (int64_t m = 0; m < rowBlocks; ++m)
    for (int64_t n = 0; n < columnBlocks; ++n)
      writeBlock(os, m, n);
  os << "wgmma.commit_group.sync.aligned;\n" << (wait ? waitText(wait) : "") << "}";
  return tiedPtx(builder, loc, text, operands, accumulators);
}

struct MmaAsyncLowering : OpConversionPattern<MmaAsyncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MmaAsyncOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getAtom().getFamily() != tile::Family::Wgmma)
      return op.emitError("expected an atom of wgmma, got ") << op.getAtom();
    // A wait that follows at once is said in the same piece of PTX.
    auto wait = dyn_cast<MmaWaitOp>(op->getNextNode());
    if (wait && wait.getInflight() != op.getResult())
      wait = {};
    FailureOr<SmallVector<Value>> registers = Multiply(op, adaptor, rewriter).emit(wait);
    if (failed(registers))
      return failure();
    rewriter.replaceOpWithMultiple(op, {*registers});
    if (wait)
      rewriter.replaceOpWithMultiple(wait, {*registers});
    return success();
  }
};

struct MmaWaitLowering : OpConversionPattern<MmaWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MmaWaitOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ValueRange registers = adaptor.getInflight();
    rewriter.replaceOpWithMultiple(op, {tiedPtx(rewriter, op.getLoc(), waitText(op), registers, registers.size())});
    return success();
  }
};

} // namespace

void lowering::populateWgmma(TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<MmaAsyncLowering, MmaWaitLowering>(converter, patterns.getContext());
}
