// cvt to and from e4m3x2 and e5m2x2 (PTX ISA 9.7.9, cvt); registers go in pairs.
#include "Float8.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

bool lowering::isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

static StringRef pairName(Type type) { return isa<Float8E4M3FNType>(type) ? "e4m3x2" : "e5m2x2"; }

/// Calls `convert` on pairs of registers; an odd last one is its own partner.
static SmallVector<Value> inPairs(ValueRange registers,
                                  llvm::function_ref<SmallVector<Value>(Value low, Value high)> convert) {
  SmallVector<Value> results;
  for (size_t i = 0; i < registers.size(); i += 2)
    llvm::append_range(results, convert(registers[i], registers[std::min(i + 1, registers.size() - 1)]));
  results.truncate(registers.size());
  return results;
}

static SmallVector<Value> elementsOf(OpBuilder &builder, Location loc, Value packed, Type element) {
  packed = LLVM::BitcastOp::create(builder, loc, VectorType::get(2, element), packed);
  return SmallVector<Value>(vector::ToElementsOp::create(builder, loc, packed).getResults());
}

SmallVector<Value> lowering::extendFloat8(OpBuilder &builder, Location loc, ValueRange registers, Type from) {
  std::string text = ("cvt.rn.f16x2." + pairName(from) + " $0, $1;").str();
  return inPairs(registers, [&](Value low, Value high) {
    Value pair = vector::FromElementsOp::create(builder, loc, VectorType::get(2, low.getType()), ValueRange{low, high});
    pair = LLVM::BitcastOp::create(builder, loc, builder.getI16Type(), pair);
    Value halves = ptx1(builder, loc, text, builder.getI32Type(), pair);
    return elementsOf(builder, loc, halves, builder.getF16Type());
  });
}

SmallVector<Value> lowering::truncateToFloat8(OpBuilder &builder, Location loc, ValueRange registers, Type to) {
  // The first source is the high half.
  std::string text = ("cvt.rn.satfinite." + pairName(to) + ".f32 $0, $2, $1;").str();
  return inPairs(registers, [&](Value low, Value high) {
    Value pair = ptx1(builder, loc, text, builder.getI16Type(), {low, high});
    return elementsOf(builder, loc, pair, builder.getI8Type());
  });
}
