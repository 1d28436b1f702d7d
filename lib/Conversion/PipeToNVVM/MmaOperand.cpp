// Operands of mma.sync: ldmatrix where a plan exists, else loads of elements, else registers
// renamed.
#include "MmaOperand.h"

#include "TileRegisters.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

/// The slot's layout with the dimensions in the order [K, rows].
static SharedLayout kFirstLayout(const SharedLayout &shared, bool kFirst) {
  if (kFirst)
    return shared;
  // A layout's offset only knows the contiguous dimension and the other one, so swapping their
  // names changes nothing.
  return SharedLayout({shared.shape()[1], shared.shape()[0]}, shared.elementBits(), 1 - shared.major(),
                      shared.swizzle());
}

FailureOr<MmaOperand> MmaOperand::create(OpBuilder &builder, Operation *op, Type type, ValueRange values, bool kFirst,
                                         const TileLayout &layout, int64_t atomK) {
  std::vector<int64_t> shape = layout.shape();
  if (kFirst)
    std::swap(shape[0], shape[1]);
  auto buffer = dyn_cast<BufferType>(type);
  Type element = buffer ? buffer.getElementType() : getElementTypeOrSelf(type);
  MmaOperand operand(layout.transpose({1, 0}), registerType(element));
  operand.numSteps = layout.shape()[1] / atomK;
  if (buffer) {
    if (!buffer.isShared() || !llvm::equal(buffer.getShape(), shape))
      return op->emitOpError("expected a slot of shared memory with the operand's extents, got ") << buffer;
    operand.planSlot(builder, op, kFirstLayout(buffer.getSharedLayout(), kFirst), values.front());
    return operand;
  }
  FailureOr<TileLayout> from = layoutOf(op, type, shape);
  if (failed(from))
    return failure();
  // transpose() renumbers repetitions, so look each register up in what the op has.
  std::optional<std::vector<int64_t>> renaming = registersAt(*from, operand.layout, [&](std::vector<int64_t> at) {
    if (!kFirst)
      std::swap(at[0], at[1]);
    return at;
  });
  if (!renaming)
    return op->emitOpError("expected the instruction's layout for an operand in registers, got ")
           << from->toString() << " instead of " << (kFirst ? operand.layout : layout).toString();
  for (int64_t reg : *renaming)
    operand.registers.push_back(values[reg]);
  return operand;
}

void MmaOperand::planSlot(OpBuilder &builder, Operation *op, const SharedLayout &shared, Value slot) {
  Thread thread = getThread(builder, op);
  if (std::optional<MatrixPlan> plan = planMatrixAccess(layout, shared)) {
    MatrixAccess access(layout, shared, plan->transposed, slot, thread.lane, thread.warp);
    for (const MatrixPlan::Instruction &instruction : plan->instructions)
      llvm::append_range(words, instruction.registers);
    if (access.accepts(words)) {
      matrices.emplace(std::move(access));
      return;
    }
  }
  elements.emplace(builder, op->getLoc(), shared, slot, threadCoordinate(builder, op->getLoc(), layout, thread),
                   threadPlaceBits(layout, shared));
}

SmallVector<Value> MmaOperand::load(OpBuilder &builder, Location loc, int64_t step) {
  // K is the slowest dimension of the repetition.
  int64_t count = layout.numRegisters() / numSteps, first = step * count;
  if (matrices) {
    // Plans list words by their first register, and words lie in one step.
    size_t perStep = words.size() / numSteps;
    return matrices->load(builder, loc, ArrayRef(words).slice(step * perStep, perStep));
  }
  SmallVector<Value> scalars;
  if (elements) {
    std::vector<std::vector<int64_t>> constants;
    for (int64_t reg = first; reg < first + count; ++reg)
      constants.push_back(layout.registerOffset(reg));
    scalars = loadElements(builder, loc, *elements, constants, element);
  } else {
    scalars.append(registers.begin() + first, registers.begin() + first + count);
  }
  return element.getIntOrFloatBitWidth() == 64 ? scalars : packWords(builder, loc, scalars);
}
