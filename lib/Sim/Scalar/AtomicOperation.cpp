// The operations of atom and red (PTX ISA 9.7.13.5, 9.7.13.6).
#include "AtomicOperation.h"

#include "Elementwise.h"

#include "headrace/Sim/Numerics/Integer.h"

using namespace headrace::sim;

namespace {

template <typename T> uint64_t swapped(uint64_t old, uint64_t b, uint64_t c) {
  return cellAs<T>(old) == cellAs<T>(b) ? c : old;
}

template <typename T> uint64_t larger(uint64_t old, uint64_t b, uint64_t) {
  return cellOf(std::max(cellAs<T>(old), cellAs<T>(b)));
}
template <typename T> uint64_t smaller(uint64_t old, uint64_t b, uint64_t) {
  return cellOf(std::min(cellAs<T>(old), cellAs<T>(b)));
}

template <typename T> uint64_t sum(uint64_t old, uint64_t b, uint64_t) {
  return cellOf(compute<Add>(FloatMode(), cellAs<T>(old), cellAs<T>(b)));
}
uint64_t flushedSum(uint64_t old, uint64_t b, uint64_t) {
  FloatMode mode;
  mode.flush = true;
  return cellOf(compute<Add>(mode, cellAs<float>(old), cellAs<float>(b)));
}
template <typename T, bool IsMax> uint64_t extreme(uint64_t old, uint64_t b, uint64_t) {
  return cellOf(minMax(MinMaxMode(), IsMax, cellAs<T>(old), cellAs<T>(b)));
}

/// The same of both halves of f16x2 and bf16x2.
template <Update OfHalf> uint64_t pair(uint64_t old, uint64_t b, uint64_t c) {
  return (OfHalf(old >> 16, b >> 16, c) & 0xFFFF) << 16 | (OfHalf(old, b, c) & 0xFFFF);
}

template <typename T, bool IsPair> Update shortUpdate(std::string_view op) {
  constexpr Update kSum = sum<T>, kMin = extreme<T, false>, kMax = extreme<T, true>;
  if (op == "add")
    return IsPair ? pair<kSum> : kSum;
  if (op == "min")
    return IsPair ? pair<kMin> : kMin;
  return op == "max" ? (IsPair ? pair<kMax> : kMax) : nullptr;
}

AtomicOperation floatOperation(std::string_view op, const Type &type) {
  Update update = nullptr;
  const bool isPair = type.elements == 2;
  if (type.kind == Type::Kind::Bfloat)
    update = isPair ? shortUpdate<Bfloat, true>(op) : shortUpdate<Bfloat, false>(op);
  else if (type.elementBits == 16)
    update = isPair ? shortUpdate<Half, true>(op) : shortUpdate<Half, false>(op);
  else if (op == "add" && type.is(Type::Kind::Float, 32))
    return {sum<float>, flushedSum};
  else if (op == "add" && type.is(Type::Kind::Float, 64))
    update = sum<double>;
  return {update, update};
}

template <typename T> Update orderedUpdate(std::string_view op) { return op == "min" ? smaller<T> : larger<T>; }

Update integerUpdate(std::string_view op, const Type &type) {
  if (op == "and")
    return [](uint64_t old, uint64_t b, uint64_t) { return old & b; };
  if (op == "or")
    return [](uint64_t old, uint64_t b, uint64_t) { return old | b; };
  if (op == "xor")
    return [](uint64_t old, uint64_t b, uint64_t) { return old ^ b; };
  if (op == "exch")
    return [](uint64_t, uint64_t b, uint64_t) { return b; };
  if (op == "add")
    return [](uint64_t old, uint64_t b, uint64_t) { return old + b; };
  if (op == "cas")
    return type.bits() == 16 ? swapped<uint16_t> : type.bits() == 32 ? swapped<uint32_t> : swapped<uint64_t>;
  if (type.bits() == 64)
    return op == "min" || op == "max" ? (type.isSigned() ? orderedUpdate<int64_t>(op) : orderedUpdate<uint64_t>(op))
                                      : nullptr;
  if (op == "min" || op == "max")
    return type.isSigned() ? orderedUpdate<int32_t>(op) : orderedUpdate<uint32_t>(op);
  return [](uint64_t old, uint64_t b, uint64_t) -> uint64_t {
    return incremented(static_cast<uint32_t>(old), static_cast<uint32_t>(b));
  };
}

} // namespace

AtomicOperation headrace::sim::takeAtomicOperation(Decoder &decode, Spelling &spelling, const Type &type) {
  static constexpr std::string_view kOperations[] = {"and", "or",  "xor", "exch", "cas",
                                                     "add", "inc", "dec", "min",  "max"};
  std::string_view op;
  for (std::string_view name : kOperations)
    if (op.empty() && spelling.take(name))
      op = name;
  AtomicOperation result;
  const bool isWord = type.elements == 1 && (type.bits() == 32 || type.bits() == 64);
  const bool isShortSwap = op == "cas" && type.is(Type::Kind::Bits, 16);
  if (type.isFloat() && op != "exch" && op != "cas")
    result = floatOperation(op, type);
  else if (op == "dec" && type.is(Type::Kind::Unsigned, 32))
    result.inShared = [](uint64_t old, uint64_t b, uint64_t) -> uint64_t {
      return decremented(static_cast<uint32_t>(old), static_cast<uint32_t>(b));
    };
  else if (op == "inc" ? type.is(Type::Kind::Unsigned, 32) : op != "dec" && !op.empty() && (isWord || isShortSwap))
    result.inShared = integerUpdate(op, type);
  if (!result.inGlobal)
    result.inGlobal = result.inShared;
  result.isCompareAndSwap = op == "cas";
  if (!result.inShared)
    decode.fail("this operation of this type is not simulated");
  return result;
}
