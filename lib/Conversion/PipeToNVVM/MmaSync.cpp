// pipe.mma of family mma_sync: ldmatrix and mma.sync (PTX ISA 9.7.14.5).
//
// The slot's K is unrolled. Fragments of step s + 1 are loaded before the multiplications of step s
// (two sets of registers in program order), so that shared memory is read while the tensor cores
// work. Within a step the multiplications go through the blocks of the accumulator in serpentines:
// neighbours share a fragment.
#include "MmaOperand.h"
#include "TileRegisters.h"

#include "headrace/Layout/Fragments.h"
#include "headrace/Target/MmaAtoms.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

/// A type as the table of instructions knows it; f32 operands are read as tf32.
static std::optional<ElemType> elemTypeOf(Type type, bool isOperand) {
  using Result = std::optional<ElemType>;
  return llvm::TypeSwitch<Type, Result>(type)
      .Case<Float16Type>([](Type) { return ElemType::F16; })
      .Case<BFloat16Type>([](Type) { return ElemType::BF16; })
      .Case<Float32Type>([&](Type) { return isOperand ? ElemType::TF32 : ElemType::F32; })
      .Case<Float64Type>([](Type) { return ElemType::F64; })
      .Case<Float8E4M3FNType>([](Type) { return ElemType::E4M3; })
      .Case<Float8E5M2Type>([](Type) { return ElemType::E5M2; })
      .Case<IntegerType>([](IntegerType integer) -> Result {
        if (integer.getWidth() == 8)
          return ElemType::S8;
        return integer.getWidth() == 32 ? Result(ElemType::S32) : std::nullopt;
      })
      .Default(std::nullopt);
}

/// The instruction of the op's atom and types; null if the target has none.
static const MmaAtom *findAtom(MmaOp op, Type a, Type b, Type acc) {
  std::optional<ElemType> types[] = {elemTypeOf(a, true), elemTypeOf(b, true), elemTypeOf(acc, false)};
  if (!types[0] || !types[1] || !types[2])
    return nullptr;
  tile::AtomAttr atom = op.getAtom();
  for (const MmaAtom *found : atomsFor(targetOf(op), *types[0], *types[1], *types[2]))
    if (found->family == MmaFamily::MmaSync && found->m == atom.getM() && found->n == atom.getN() &&
        found->k == atom.getK())
      return found;
  return nullptr;
}

static Type elementOf(Type operand) {
  auto buffer = dyn_cast<BufferType>(operand);
  return buffer ? buffer.getElementType() : getElementTypeOrSelf(operand);
}

namespace {

/// The instruction, its layouts, and the counts that follow.
struct MmaShape {
  std::optional<TileLayout> a, b, acc;
  std::string mnemonic;
  bool isTf32 = false;
  int64_t blocksM = 0, blocksN = 0;                      ///< of this warp
  int64_t perBlockA = 0, perBlockB = 0, perBlockAcc = 0; ///< registers of one instruction

  static FailureOr<MmaShape> create(MmaOp op);
};

FailureOr<MmaShape> MmaShape::create(MmaOp op) {
  tile::AtomAttr atom = op.getAtom();
  auto tile = cast<RankedTensorType>(op.getAcc().getType());
  Type a = elementOf(op.getA().getType()), b = elementOf(op.getB().getType()), acc = tile.getElementType();
  int64_t bits = a.getIntOrFloatBitWidth();
  SmallVector<int64_t> shapeA;
  if (auto buffer = dyn_cast<BufferType>(op.getA().getType()))
    shapeA.append(buffer.getShape().begin(), buffer.getShape().end());
  else
    llvm::append_range(shapeA, cast<RankedTensorType>(op.getA().getType()).getShape());
  if (tile.getRank() != 2 || shapeA.size() != 2)
    return op.emitOpError("expected operands and accumulator of rank 2");
  int64_t m = tile.getDimSize(0), n = tile.getDimSize(1), k = shapeA[op.getTransposeA() ? 0 : 1];
  int64_t groupsM = atom.getGroupsM(), groupsN = atom.getGroupsN(), atomK = atom.getK();

  const MmaAtom *instruction = findAtom(op, a, b, acc);
  MmaShape shape;
  if (instruction && k % atomK == 0) {
    bool isSmall = atom.getM() == 8;
    shape.a =
        isSmall ? mmaOperandA8(m, k, bits, atomK, groupsM, groupsN) : mmaOperandA(m, k, bits, atomK, groupsM, groupsN);
    shape.b =
        isSmall ? mmaOperandB8(n, k, bits, atomK, groupsM, groupsN) : mmaOperandB(n, k, bits, atomK, groupsM, groupsN);
    shape.acc = isSmall ? mmaAccumulator8x8(m, n, groupsM, groupsN) : mmaAccumulator(m, n, groupsM, groupsN);
  }
  if (!shape.a || !shape.b || !shape.acc)
    return op.emitOpError("expected an instruction of ")
           << targetOf(op).name << " that divides the tile, got " << atom << " for " << m << " x " << n << " x " << k
           << " of " << a << ", " << b << " and " << acc;

  shape.isTf32 = instruction->a == ElemType::TF32;
  llvm::raw_string_ostream(shape.mnemonic)
      << "mma.sync.aligned.m" << atom.getM() << "n8k" << atomK << ".row.col." << elemTypeName(instruction->acc) << "."
      << elemTypeName(instruction->a) << "." << elemTypeName(instruction->b) << "." << elemTypeName(instruction->acc)
      << " ";
  // Elements to a register of an operand, and of an accumulator (f16 ones go in pairs).
  int64_t packed = std::max<int64_t>(1, 32 / bits), packedAcc = acc.isF16() ? 2 : 1;
  shape.blocksM = shape.acc->repeat()[0];
  shape.blocksN = shape.acc->repeat()[1];
  shape.perBlockA = shape.a->atom().size(InDim::Register) / packed;
  shape.perBlockB = shape.b->atom().size(InDim::Register) / packed;
  shape.perBlockAcc = shape.acc->atom().size(InDim::Register) / packedAcc;
  return shape;
}

/// cvt.rna.tf32.f32: round to nearest; the tensor core itself would cut off (PTX ISA 9.7.14.5).
void roundToTf32(OpBuilder &builder, Location loc, MutableArrayRef<Value> words) {
  for (Value &word : words)
    word = ptx1(builder, loc, "cvt.rna.tf32.f32 $0, $1;", builder.getI32Type(), word);
}

struct MmaSyncPattern : OpConversionPattern<MmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MmaOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (op.getAtom().getFamily() != tile::Family::MmaSync)
      return rewriter.notifyMatchFailure(op, "another family");
    FailureOr<MmaShape> shape = MmaShape::create(op);
    if (failed(shape))
      return failure();
    FailureOr<TileLayout> layout = layoutOf(op, op.getAcc().getType());
    if (failed(layout))
      return failure();
    std::optional<std::vector<int64_t>> order = TileLayout::renaming(*layout, *shape->acc);
    if (!order)
      return op.emitOpError("expected the accumulator in the instruction's layout ") << shape->acc->toString();
    int64_t atomK = op.getAtom().getK();
    FailureOr<MmaOperand> a =
        MmaOperand::create(rewriter, op, op.getA().getType(), adaptor.getA(), op.getTransposeA(), *shape->a, atomK);
    if (failed(a))
      return failure();
    FailureOr<MmaOperand> b =
        MmaOperand::create(rewriter, op, op.getB().getType(), adaptor.getB(), !op.getTransposeB(), *shape->b, atomK);
    if (failed(b))
      return failure();

    SmallVector<Value> acc = llvm::map_to_vector(*order, [&](int64_t reg) { return adaptor.getAcc()[reg]; });
    acc = multiplyAll(rewriter, op.getLoc(), *shape, *a, *b, acc);
    SmallVector<Value> result(acc.size());
    for (auto [reg, value] : llvm::zip_equal(*order, acc))
      result[reg] = value;
    rewriter.replaceOpWithMultiple(op, {result});
    return success();
  }

private:
  static SmallVector<Value> multiplyAll(OpBuilder &builder, Location loc, const MmaShape &shape, MmaOperand &a,
                                        MmaOperand &b, ArrayRef<Value> elements) {
    Type element = elements.front().getType();
    SmallVector<Value> acc = element.isF16() ? packWords(builder, loc, elements) : SmallVector<Value>(elements);
    SmallVector<Value> nextA = a.load(builder, loc, 0), nextB = b.load(builder, loc, 0);
    for (int64_t step = 0; step < a.steps(); ++step) {
      SmallVector<Value> fragmentA = std::move(nextA), fragmentB = std::move(nextB);
      if (step + 1 < a.steps()) {
        nextA = a.load(builder, loc, step + 1);
        nextB = b.load(builder, loc, step + 1);
      }
      if (shape.isTf32) {
        roundToTf32(builder, loc, fragmentA);
        roundToTf32(builder, loc, fragmentB);
      }
      multiplyStep(builder, loc, shape, fragmentA, fragmentB, acc);
    }
    return element.isF16() ? unpackWords(builder, loc, acc, element, elements.size()) : acc;
  }

  static void multiplyStep(OpBuilder &builder, Location loc, const MmaShape &shape, ArrayRef<Value> a,
                           ArrayRef<Value> b, MutableArrayRef<Value> acc) {
    int64_t countA = shape.perBlockA, countB = shape.perBlockB, countAcc = shape.perBlockAcc;
    std::string d = operandList(0, countAcc);
    std::string text = shape.mnemonic + d + ", " + operandList(countAcc, countA) + ", " +
                       operandList(countAcc + countA, countB) + ", " + d + ";";
    SmallVector<int> tied(countA + countB, -1);
    llvm::append_range(tied, llvm::seq<int>(0, countAcc));
    for (int64_t m = 0; m < shape.blocksM; ++m)
      for (int64_t i = 0; i < shape.blocksN; ++i) {
        int64_t n = m % 2 ? shape.blocksN - 1 - i : i;
        MutableArrayRef<Value> block = acc.slice((m * shape.blocksN + n) * countAcc, countAcc);
        SmallVector<Value> operands(a.slice(m * countA, countA));
        llvm::append_range(operands, b.slice(n * countB, countB));
        llvm::append_range(operands, block);
        SmallVector<Type> types = llvm::map_to_vector(block, [](Value value) { return value.getType(); });
        llvm::copy(ptx(builder, loc, text, types, operands, tied), block.begin());
      }
  }
};

} // namespace

void lowering::populateMmaSync(lowering::TypeConverter &types, RewritePatternSet &patterns, const TargetInfo &) {
  patterns.add<MmaSyncPattern>(types, patterns.getContext());
}
