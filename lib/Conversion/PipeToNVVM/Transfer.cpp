// Elements of a tile as the registers of one vector access, and back.
#include "Transfer.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

Transfer::Transfer(int64_t bytes, Type element) : element(element) {
  MLIRContext *context = element.getContext();
  int64_t elementBits = element.getIntOrFloatBitWidth();
  count = bytes * 8 / elementBits;
  // A register holds as much as one element of 64 bits, else at most 32; there are none of 8 bits.
  int64_t registerBits = elementBits == 64 ? 64 : std::min<int64_t>(32, bytes * 8);
  int64_t registers = bytes * 8 / registerBits;
  types.assign(registers, IntegerType::get(context, std::max<int64_t>(16, registerBits)));
  if (registers > 1)
    suffix = ".v" + std::to_string(registers);
  suffix += ".b" + std::to_string(registerBits);
}

std::string Transfer::list(int64_t first) const {
  return types.size() == 1 ? "$" + std::to_string(first) : operandList(first, types.size());
}

static Value bitcast(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return arith::BitcastOp::create(builder, loc, type, value);
}

SmallVector<Value> Transfer::pack(OpBuilder &builder, Location loc, ValueRange elements) const {
  int64_t registerBits = types.front().getIntOrFloatBitWidth();
  if (registerBits == 32)
    return packWords(builder, loc, elements);
  SmallVector<Value> registers;
  if (count == 1 && element.getIntOrFloatBitWidth() == 8) {
    registers.push_back(arith::ExtUIOp::create(builder, loc, types.front(), elements.front()));
  } else if (count == 2 && registerBits == 16) {
    Value pair = vector::FromElementsOp::create(builder, loc, VectorType::get(2, element), elements);
    registers.push_back(LLVM::BitcastOp::create(builder, loc, types.front(), pair));
  } else {
    for (Value value : elements)
      registers.push_back(bitcast(builder, loc, value, types.front()));
  }
  return registers;
}

SmallVector<Value> Transfer::unpack(OpBuilder &builder, Location loc, ValueRange registers) const {
  int64_t registerBits = types.front().getIntOrFloatBitWidth();
  if (registerBits == 32)
    return unpackWords(builder, loc, registers, element, count);
  SmallVector<Value> elements;
  if (count == 1 && element.getIntOrFloatBitWidth() == 8) {
    elements.push_back(arith::TruncIOp::create(builder, loc, element, registers.front()));
  } else if (count == 2 && registerBits == 16) {
    Value pair = LLVM::BitcastOp::create(builder, loc, VectorType::get(2, element), registers.front());
    llvm::append_range(elements, vector::ToElementsOp::create(builder, loc, pair).getResults());
  } else {
    for (Value value : registers)
      elements.push_back(bitcast(builder, loc, value, element));
  }
  return elements;
}

bool lowering::isTransferable(Type element) {
  if (!element.isIntOrFloat())
    return false;
  int64_t bits = element.getIntOrFloatBitWidth();
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

std::string lowering::operandList(int64_t first, int64_t count) {
  std::string text = "{";
  for (int64_t i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

// SASS takes 24 bits with sign; beyond, ptxas would add anyway, and PTX itself ends at 32.
int64_t lowering::beyondImmediate(int64_t offset) { return offset & ~((int64_t(1) << 23) - 1); }

std::string lowering::addressOperand(int64_t operand, int64_t offset) {
  std::string text = "[$" + std::to_string(operand);
  if (offset)
    text += (offset > 0 ? "+" : "") + std::to_string(offset);
  return text + "]";
}
