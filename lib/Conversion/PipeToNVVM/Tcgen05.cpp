// Tensor memory and tcgen05: allocation, matmuls that one thread starts, and reads into registers.
//
// A tensor memory address is lane << 16 | column (PTX ISA 9.7.16.2.3). Row m of an accumulator is
// lane m, column n is 32-bit column n; a warp reaches only the 32 lanes of its own quarter, warp
// number mod 4.
#include "Lowering.h"
#include "MatrixDescriptor.h"

#include "headrace/Layout/Fragments.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

static constexpr int64_t kTmemLanes = 128;
/// Columns of one tcgen05.mma (PTX ISA 9.7.16.2.1), and registers of one tcgen05.ld that keep the
/// assembly readable.
static constexpr int64_t kMaxN = 256;
static constexpr int64_t kMaxLoad = 64;

//===- allocation
//-----------------------------------------------------------------------------------------===//

/// Runs `inside` in warp 0 of the kernel.
static void inFirstWarp(OpBuilder &builder, Operation *op, llvm::function_ref<void(OpBuilder &)> inside) {
  Location loc = op->getLoc();
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, getThread(builder, op).warp,
                                        constI32(builder, loc, 0));
  auto branch = scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/false);
  OpBuilder body = OpBuilder::atBlockTerminator(branch.thenBlock(), builder.getListener());
  inside(body);
}

/// All threads of the kernel, and the tcgen05 instructions on either side: PTX ISA 9.7.16.11.
static void syncKernel(OpBuilder &builder, Location loc) {
  ptx(builder, loc, "tcgen05.fence::before_thread_sync;", {}, {});
  ptx(builder, loc, "bar.sync 0;", {}, {});
  ptx(builder, loc, "tcgen05.fence::after_thread_sync;", {}, {});
}

static Value loadAddress(OpBuilder &builder, Location loc, int64_t offset) {
  return ptx1(builder, loc, "ld.shared.b32 $0, [$1];", builder.getI32Type(), sharedAddress(builder, loc, offset));
}

/// What tcgen05.alloc accepts (PTX ISA 9.7.16.7.1).
static LogicalResult checkColumns(Operation *op, int64_t columns) {
  if (columns >= 32 && columns <= 512 && llvm::isPowerOf2_64(columns))
    return success();
  return op->emitError("expected 32, 64, 128, 256 or 512 columns, got ") << columns;
}

namespace {

/// tcgen05.alloc and relinquish_alloc_permit: PTX ISA 9.7.16.7.1. Afterwards every thread has the
/// address in a register.
struct ConvertAlloc : OpConversionPattern<TmemAllocOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TmemAllocOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    if (failed(checkColumns(op, op.getColumns())))
      return failure();
    Location loc = op.getLoc();
    inFirstWarp(rewriter, op, [&](OpBuilder &builder) {
      ptx(builder, loc,
          llvm::formatv("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0], {0};", op.getColumns()).str(),
          {}, sharedAddress(builder, loc, op.getAddressOffset()));
      ptx(builder, loc, "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;", {}, {});
    });
    syncKernel(rewriter, loc);
    setTmemBase(loadAddress(rewriter, loc, op.getAddressOffset()));
    rewriter.eraseOp(op);
    return success();
  }
};

/// tcgen05.dealloc: PTX ISA 9.7.16.7.1, by the warp that allocated.
struct ConvertDealloc : OpConversionPattern<TmemDeallocOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TmemDeallocOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    if (failed(checkColumns(op, op.getColumns())))
      return failure();
    Location loc = op.getLoc();
    syncKernel(rewriter, loc);
    inFirstWarp(rewriter, op, [&](OpBuilder &builder) {
      ptx(builder, loc, llvm::formatv("tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, {0};", op.getColumns()).str(),
          {}, loadAddress(builder, loc, op.getAddressOffset()));
    });
    rewriter.eraseOp(op);
    return success();
  }
};

//===- matmul
//---------------------------------------------------------------------------------------------===//

/// How tcgen05.mma names a pair of element types: the kind, and the codes of the instruction
/// descriptor (PTX ISA 9.7.16.4.2).
struct MmaKind {
  StringRef name;
  unsigned a, b, acc;
  Feature needs;
};

std::optional<MmaKind> kindOf(Type a, Type b, Type acc) {
  auto code8 = [](Type type) { return isa<Float8E5M2Type>(type) ? 1u : 0u; };
  auto isF8 = [](Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); };
  if (a.isInteger(8) && b == a && acc.isInteger(32))
    return MmaKind{"i8", 1, 1, 2, Feature::Tcgen05I8};
  if (!acc.isF32())
    return std::nullopt;
  if (isF8(a) && isF8(b))
    return MmaKind{"f8f6f4", code8(a), code8(b), 1, Feature::Tcgen05};
  if (a != b)
    return std::nullopt;
  if (a.isF16())
    return MmaKind{"f16", 0, 0, 1, Feature::Tcgen05};
  if (a.isBF16())
    return MmaKind{"f16", 1, 1, 1, Feature::Tcgen05};
  if (a.isF32())
    return MmaKind{"tf32", 2, 2, 1, Feature::Tcgen05};
  return std::nullopt;
}

uint32_t instructionDescriptor(const MmaKind &kind, bool kMajorA, bool kMajorB, int64_t m, int64_t n) {
  return kind.acc << 4 | kind.a << 7 | kind.b << 10 | unsigned(!kMajorA) << 15 | unsigned(!kMajorB) << 16 |
         uint32_t(n >> 3) << 17 | uint32_t(m >> 4) << 24;
}

/// One operand: its layout, and which of its dimensions are K and M (or N).
struct Operand {
  Operand(BufferType type, unsigned kDim)
      : layout(type.getSharedLayout()), kMajor(layout.major() == int64_t(kDim)), k(type.getShape()[kDim]),
        rows(type.getShape()[1 - kDim]) {}
  SharedLayout layout;
  bool kMajor;
  int64_t k, rows;
};

/// K / atom.k instructions for each block of columns, in one block of assembly: PTX
/// ISA 9.7.16.10.9. The leader alone executes them, under a predicate, so that the warp stays
/// converged.
struct ConvertMma : OpConversionPattern<MmaTmemOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MmaTmemOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    BufferType aType = op.getA().getType(), bType = op.getB().getType(), accType = op.getAcc().getType();
    tile::AtomAttr atom = op.getAtom();
    std::optional<MmaKind> kind = kindOf(aType.getElementType(), bType.getElementType(), accType.getElementType());
    if (!kind)
      return op.emitError("expected element types that tcgen05.mma multiplies, got ")
             << aType.getElementType() << ", " << bType.getElementType() << " and " << accType.getElementType();
    if (TargetInfo target = targetOf(op); !target.has(kind->needs))
      return op.emitError(missingFeature(kind->needs, target));
    if (failed(checkShapes(op)))
      return failure();
    Operand a(aType, op.getTransposeA() ? 0 : 1), b(bType, op.getTransposeB() ? 1 : 0);
    if (a.k != b.k || a.rows != accType.getShape()[0] || b.rows != accType.getShape()[1] || a.k % atom.getK())
      return op.emitError("expected operands M x K and K x N, and K a multiple of ") << atom.getK();
    // PTX ISA 9.7.16.4.1: 32-bit elements are K-major, but for a swizzle that SharedLayout does not
    // have.
    if (aType.getElementType().isF32() && !(a.kMajor && b.kMajor))
      return op.emitError("expected 32-bit operands to be contiguous along K");

    Location loc = op.getLoc();
    std::string text = "{\n.reg .b64 a, b;\n.reg .b32 i, d;\n";
    llvm::raw_string_ostream os(text);
    uint32_t descriptor = instructionDescriptor(*kind, a.kMajor, b.kMajor, kTmemLanes, atom.getN());
    os << "mov.b32 i, 0x" << llvm::utohexstr(descriptor, /*LowerCase=*/true, 8) << ";\n";
    for (int64_t n = 0; n < b.rows; n += atom.getN())
      if (failed(emitColumns(op, os, *kind, a, b, n)))
        return failure();
    os << "}";
    Value aDescriptor =
        buildDescriptor(rewriter, loc, tcgen05Descriptor(a.layout, a.kMajor), adaptor.getA().front(), 0);
    Value bDescriptor =
        buildDescriptor(rewriter, loc, tcgen05Descriptor(b.layout, b.kMajor), adaptor.getB().front(), 0);
    ptx(rewriter, loc, text, {},
        {adaptor.getAcc().front(), aDescriptor, bDescriptor, adaptor.getAccumulate().front(), isLeader(rewriter, op)});
    rewriter.eraseOp(op);
    return success();
  }

  LogicalResult checkShapes(MmaTmemOp op) const {
    ArrayRef<int64_t> acc = op.getAcc().getType().getShape();
    for (BufferType type : {op.getA().getType(), op.getB().getType()})
      if (!type.isShared() || type.getShape().size() != 2 || type.getSharedLayout().swizzle() == 0)
        return op.emitError("expected operands of rank 2 in panels of shared memory, got ") << type;
    if (!op.getAcc().getType().isTmem() || acc.size() != 2 || acc[0] != kTmemLanes)
      return op.emitError("expected an accumulator of ") << kTmemLanes << " rows, the lanes of tensor memory";
    int64_t n = op.getAtom().getN();
    if (op.getAtom().getM() != kTmemLanes || n < 16 || n > kMaxN || n % 16 || acc[1] % n)
      return op.emitError("expected an atom of 128 rows and of columns that are a multiple of 16, at most 256, and "
                          "divide the accumulator's");
    return success();
  }

  /// The instructions for columns n .. n + atom.n - 1. Operands of the assembly: $0 accumulator, $1
  /// and $2 descriptors, $3 whether to accumulate, $4 whether this is the leader.
  LogicalResult emitColumns(MmaTmemOp op, llvm::raw_ostream &os, const MmaKind &kind, const Operand &a,
                            const Operand &b, int64_t n) const {
    int64_t atomN = op.getAtom().getN(), atomK = op.getAtom().getK();
    os << llvm::formatv("add.s32 d, $0, {0};\n", n);
    for (int64_t k = 0; k < a.k; k += atomK) {
      std::optional<int64_t> aStart = operandStart(a.layout, a.kMajor, 0, kTmemLanes, k);
      std::optional<int64_t> bStart = operandStart(b.layout, b.kMajor, n, atomN, k);
      if (!aStart || !bStart || *aStart % 16 || *bStart % 16)
        return op.emitError("expected every instruction's part of an operand to start where a "
                            "descriptor can point");
      // A descriptor counts 16 bytes, in its low bits; shared memory ends before the field does.
      os << llvm::formatv("add.s64 a, $1, {0};\nadd.s64 b, $2, {1};\n", *aStart / 16, *bStart / 16);
      os << llvm::formatv("@$4 tcgen05.mma.cta_group::1.kind::{0} [d], a, b, i, {1};\n", kind.name, k ? "1" : "$3");
    }
    return success();
  }
};

//===- read
//-----------------------------------------------------------------------------------------------===//

/// tcgen05.ld and tcgen05.wait::ld: PTX ISA 9.7.16.8.2, 9.7.16.8.5.
struct ConvertRead : OpConversionPattern<ReadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ReadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getBuffer().getType().isShared())
      return rewriter.notifyMatchFailure(op, "not in tensor memory");
    auto type = cast<RankedTensorType>(op.getResult().getType());
    if (!type.getElementType().isF32() && !type.getElementType().isInteger(32))
      return op.emitError("expected an accumulator of f32 or i32, got ") << type.getElementType();
    RoleInfo role = getRole(op);
    if (role.firstWarp % 4)
      return op.emitError("expected the role ") << role.name
                                                << " to start at a multiple of four warps, since a warp "
                                                   "reaches only its quarter of tensor memory; it starts at warp "
                                                << role.firstWarp;
    TileLayout layout = cast<tile::LayoutAttr>(type.getEncoding()).getTileLayout();
    int64_t groups = layout.numWarps() / 4;
    std::optional<TileLayout> loaded;
    if (type.getRank() == 2 && layout.numWarps() % 4 == 0)
      loaded = tmemAccumulator(type.getDimSize(0), type.getDimSize(1), groups);
    auto renaming = loaded ? TileLayout::renaming(*loaded, layout) : std::nullopt;
    if (!renaming)
      return op.emitError("expected the layout that tcgen05.ld gives: a row for each lane of four warps");

    int64_t columns = type.getDimSize(1) / groups;
    Value address = threadAddress(rewriter, op, adaptor.getBuffer().front(), columns, groups);
    SmallVector<Value> registers = load(rewriter, op.getLoc(), address, columns, type.getElementType());
    SmallVector<Value> renamed;
    for (int64_t from : *renaming)
      renamed.push_back(registers[from]);
    rewriter.replaceOpWithMultiple(op, ArrayRef<ValueRange>{renamed});
    return success();
  }

  /// The warp's quarter of the lanes, and the first column of its group.
  Value threadAddress(OpBuilder &builder, Operation *op, Value address, int64_t columns, int64_t groups) const {
    Location loc = op->getLoc();
    Value warp = getThread(builder, op).warp;
    Value quarter = arith::AndIOp::create(builder, loc, warp, constI32(builder, loc, 3));
    Value lane = arith::ShLIOp::create(builder, loc, quarter, constI32(builder, loc, 16 + 5));
    address = arith::AddIOp::create(builder, loc, address, lane);
    if (groups == 1)
      return address;
    Value group = arith::ShRUIOp::create(builder, loc, warp, constI32(builder, loc, 2));
    return arith::AddIOp::create(builder, loc, address, multiply(builder, loc, group, columns));
  }

  SmallVector<Value> load(OpBuilder &builder, Location loc, Value address, int64_t columns, Type element) const {
    SmallVector<Value> registers;
    for (int64_t first = 0; first < columns;) {
      int64_t count = std::min<int64_t>(kMaxLoad, llvm::bit_floor(uint64_t(columns - first)));
      std::string text = llvm::formatv("tcgen05.ld.sync.aligned.32x32b.x{0}.b32 {{", count);
      for (int64_t i = 0; i < count; ++i)
        text += (i ? ", $" : "$") + std::to_string(i);
      text += llvm::formatv("}, [${0}+{1}];", count, first);
      llvm::append_range(registers, ptx(builder, loc, text, SmallVector<Type>(count, element), address));
      first += count;
    }
    // Tied, so that nothing which uses the registers can move above the wait.
    SmallVector<int> tied(llvm::to_vector(llvm::seq<int>(0, registers.size())));
    return ptx(builder, loc, "tcgen05.wait::ld.sync.aligned;", ValueRange(registers).getTypes(), registers, tied);
  }
};

} // namespace

void lowering::populateTcgen05(TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertAlloc, ConvertDealloc, ConvertMma, ConvertRead>(converter, patterns.getContext());
}
