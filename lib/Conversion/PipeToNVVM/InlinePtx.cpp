// Inline PTX: constraints, values that do not fit a register class, words of several elements.
#include "Lowering.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

/// The type in which a value of `type` enters and leaves assembly: predicates and full registers as
/// they are, the rest as integers of 16 or 32 bits.
static Type assemblyType(Type type) {
  MLIRContext *context = type.getContext();
  if (type.isIndex())
    return IntegerType::get(context, 32);
  if (auto vector = dyn_cast<VectorType>(type))
    return IntegerType::get(context, vector.getNumElements() * vector.getElementTypeBitWidth());
  if (type.isInteger(8) || (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 16))
    return IntegerType::get(context, 16);
  return type;
}

static StringRef constraintOf(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return "l";
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return "b";
  case 16:
    return "h";
  case 32:
    return isa<FloatType>(type) ? "f" : "r";
  default:
    return isa<FloatType>(type) ? "d" : "l";
  }
}

/// Between a value's own type and its assembly type, either way.
static Value convert(OpBuilder &builder, Location loc, Value value, Type type) {
  Type from = value.getType();
  if (from == type)
    return value;
  if (from.isIndex() || type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  if (from.isInteger(8))
    return arith::ExtUIOp::create(builder, loc, type, value);
  if (type.isInteger(8))
    return arith::TruncIOp::create(builder, loc, type, value);
  return LLVM::BitcastOp::create(builder, loc, type, value);
}

SmallVector<Value> lowering::ptx(OpBuilder &builder, Location loc, StringRef text, TypeRange results,
                                 ValueRange operands, ArrayRef<int> tied) {
  SmallVector<Type> types = llvm::map_to_vector(results, assemblyType);
  SmallVector<Value> values;
  std::string constraints;
  llvm::raw_string_ostream os(constraints);
  llvm::ListSeparator comma(",");
  // A block of several instructions may write a result before it has read all operands, so no
  // operand may share a result's register (not even a tied one's value that is an operand, too).
  StringRef output = text.starts_with("{") ? "=&" : "=";
  for (Type type : types)
    os << comma << output << constraintOf(type);
  for (auto [i, operand] : llvm::enumerate(operands)) {
    values.push_back(convert(builder, loc, operand, assemblyType(operand.getType())));
    os << comma;
    if (i < tied.size() && tied[i] >= 0)
      os << tied[i];
    else
      os << constraintOf(values.back().getType());
  }
  // Ordinary loads and stores of LLVM must not cross: many instructions touch memory, or order
  // those that do.
  os << comma << "~{memory}";

  SmallVector<Type> returned;
  if (types.size() == 1)
    returned.push_back(types.front());
  else if (!types.empty())
    returned.push_back(LLVM::LLVMStructType::getLiteral(builder.getContext(), types));
  auto assembly = LLVM::InlineAsmOp::create(builder, loc, returned, values, builder.getStringAttr(text),
                                            builder.getStringAttr(constraints),
                                            /*has_side_effects=*/builder.getUnitAttr(), /*is_align_stack=*/UnitAttr(),
                                            LLVM::TailCallKindAttr::get(builder.getContext(), LLVM::TailCallKind::None),
                                            LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT),
                                            /*operand_attrs=*/ArrayAttr());

  SmallVector<Value> unpacked;
  for (auto [i, type] : llvm::enumerate(results)) {
    Value value = assembly->getResult(0);
    if (types.size() > 1)
      value = LLVM::ExtractValueOp::create(builder, loc, value, i);
    unpacked.push_back(convert(builder, loc, value, type));
  }
  return unpacked;
}

//===- words
//----------------------------------------------------------------------------------------------------------===//

SmallVector<Value> lowering::packWords(OpBuilder &builder, Location loc, ValueRange scalars) {
  SmallVector<Value> words;
  if (scalars.empty())
    return words;
  Type i32 = builder.getI32Type();
  Type element = scalars.front().getType();
  int64_t bits = element.getIntOrFloatBitWidth();
  if (bits == 64) {
    auto pair = VectorType::get(2, i32);
    for (Value scalar : scalars)
      llvm::append_range(words, vector::ToElementsOp::create(
                                    builder, loc, LLVM::BitcastOp::create(builder, loc, pair, scalar).getResult())
                                    .getResults());
    return words;
  }
  if (bits == 32) {
    for (Value scalar : scalars)
      words.push_back(convert(builder, loc, scalar, i32));
    return words;
  }
  size_t perWord = 32 / bits;
  auto vectorType = VectorType::get(perWord, element);
  for (size_t i = 0; i < scalars.size(); i += perWord) {
    SmallVector<Value> part(scalars.slice(i, std::min(perWord, scalars.size() - i)));
    if (part.size() < perWord)
      part.append(perWord - part.size(), arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element)));
    Value packed = vector::FromElementsOp::create(builder, loc, vectorType, part);
    words.push_back(LLVM::BitcastOp::create(builder, loc, i32, packed));
  }
  return words;
}

SmallVector<Value> lowering::unpackWords(OpBuilder &builder, Location loc, ValueRange words, Type element,
                                         int64_t count) {
  element = registerType(element);
  int64_t bits = element.getIntOrFloatBitWidth();
  SmallVector<Value> scalars;
  if (bits == 64) {
    auto pair = VectorType::get(2, builder.getI32Type());
    for (int64_t i = 0; i < count; ++i) {
      Value both = vector::FromElementsOp::create(builder, loc, pair, words.slice(2 * i, 2));
      scalars.push_back(LLVM::BitcastOp::create(builder, loc, element, both));
    }
    return scalars;
  }
  if (bits == 32) {
    for (Value word : words.take_front(count))
      scalars.push_back(convert(builder, loc, word, element));
    return scalars;
  }
  auto vectorType = VectorType::get(32 / bits, element);
  for (Value word : words) {
    Value packed = LLVM::BitcastOp::create(builder, loc, vectorType, word);
    llvm::append_range(scalars, vector::ToElementsOp::create(builder, loc, packed).getResults());
  }
  scalars.truncate(count);
  return scalars;
}

//===- mbarriers
//------------------------------------------------------------------------------------------------------===//

// mbarrier.try_wait: PTX ISA 9.7.13.15.16. It suspends the thread for a while, so the loop hardly
// ever turns.
void lowering::waitBarrier(OpBuilder &builder, Location loc, Value barrier, Value parity, Value predicate) {
  if (!predicate) {
    ptx(builder, loc,
        "{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\n@p bra "
        "D;\nbra W;\nD:\n}",
        {}, {barrier, parity});
    return;
  }
  ptx(builder, loc,
      "{\n.reg .pred p;\n@!$2 bra D;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\n@p "
      "bra D;\n"
      "bra W;\nD:\n}",
      {}, {barrier, parity, predicate});
}
