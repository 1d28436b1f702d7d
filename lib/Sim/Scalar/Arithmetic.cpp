// Integer arithmetic (PTX ISA 9.7.1).
#include "Dispatch.h"
#include "Elementwise.h"
#include "Families.h"

#include "headrace/Sim/Numerics/Integer.h"

using namespace headrace::sim;

namespace {

bool isFloatFamily(Decoder &decode) { return firstType(decode).isFloat(); }

/// op of each half of .u16x2 and .s16x2.
template <typename Op> Evaluator halves(Decoder &decode, Op op) {
  return elementwise<uint32_t, uint32_t, uint32_t>(
      decode, 32, [=](uint32_t a, uint32_t b) { return eachOfPair<uint16_t>(op, a, b); });
}

/// Integer add and sub: wrapped, saturated for .sat.s32, or by halves.
template <typename Wrapped, typename Saturated>
Evaluator decodeInteger(Decoder &decode, Wrapped wrapped, Saturated saturated) {
  if (decode.has("cc"))
    return decodeCarry(decode);
  Spelling spelling(decode);
  Type type = spelling.takeType();
  bool saturates = type.is(Type::Kind::Signed, 32) && spelling.take("sat");
  if (!spelling.finish())
    return {};
  if (saturates)
    return elementwise<int32_t, int32_t, int32_t>(decode, 32, saturated);
  if (type.elements == 2)
    return halves(decode, [=](uint16_t a, uint16_t b) { return wrapped(a, b); });
  Evaluator run = forUnsigned(decode, type, [&](auto zero) {
    using T = decltype(zero);
    return elementwise<T, T, T>(decode, type.bits(), [=](T a, T b) { return wrapped(a, b); });
  });
  return computingCommonBytes(decode, std::move(run), 2, bytesBelowGap);
}

Evaluator decodeAdd(Decoder &decode) {
  if (isFloatFamily(decode))
    return decodeFloatAdd(decode);
  return decodeInteger(decode, [](auto a, auto b) { return addWrapped(a, b); }, addSaturated);
}

Evaluator decodeSub(Decoder &decode) {
  if (isFloatFamily(decode))
    return decodeFloatSub(decode);
  return decodeInteger(decode, [](auto a, auto b) { return subWrapped(a, b); }, subSaturated);
}

/// Which part of a product an instruction keeps.
enum class Part { Low, High, Wide, None };

Part takePart(Spelling &spelling, Decoder &decode, const Type &type) {
  switch (spelling.takeOneOf({"lo", "hi", "wide"})) {
  case 0:
    return Part::Low;
  case 1:
    return Part::High;
  case 2:
    if (type.bits() <= 32)
      return Part::Wide;
    [[fallthrough]];
  default:
    decode.fail("expected .lo, .hi or, of 16 and 32 bits, .wide");
    return Part::None;
  }
}

Evaluator decodeMul(Decoder &decode) {
  if (isFloatFamily(decode))
    return decodeFloatMul(decode);
  Spelling spelling(decode);
  Type type = spelling.takeType();
  Part part = takePart(spelling, decode, type);
  if (!spelling.finish())
    return {};
  if (part == Part::Low) {
    Evaluator run = forUnsigned(decode, type, [&](auto zero) {
      using T = decltype(zero);
      return elementwise<T, T, T>(decode, type.bits(), [](T a, T b) { return mulLow(a, b); });
    });
    return computingCommonBytes(decode, std::move(run), 2, bytesBelowGap);
  }
  return forInteger(decode, type, [&](auto zero) -> Evaluator {
    using T = decltype(zero);
    if (part == Part::High)
      return elementwise<T, T, T>(decode, type.bits(), [](T a, T b) { return mulHigh(a, b); });
    if constexpr (sizeof(T) < 8)
      return elementwise<Wider<T>, T, T>(decode, 2 * type.bits(), [](T a, T b) { return mulWide(a, b); });
    return {};
  });
}

Evaluator decodeMad(Decoder &decode) {
  if (isFloatFamily(decode))
    return decodeFloatFma(decode); // mad and fma are the same (9.7.3.7)
  if (decode.has("cc"))
    return decodeCarry(decode);
  Spelling spelling(decode);
  Type type = spelling.takeType();
  Part part = takePart(spelling, decode, type);
  bool saturates = part == Part::High && type.is(Type::Kind::Signed, 32) && spelling.take("sat");
  if (!spelling.finish())
    return {};
  if (saturates)
    return elementwise<int32_t, int32_t, int32_t, int32_t>(
        decode, 32, [](int32_t a, int32_t b, int32_t c) { return addSaturated(mulHigh(a, b), c); });
  if (part == Part::Low) {
    Evaluator run = forUnsigned(decode, type, [&](auto zero) {
      using T = decltype(zero);
      return elementwise<T, T, T, T>(decode, type.bits(), [](T a, T b, T c) { return addWrapped(mulLow(a, b), c); });
    });
    return computingCommonBytes(decode, std::move(run), 3, bytesBelowGap);
  }
  return forInteger(decode, type, [&](auto zero) -> Evaluator {
    using T = decltype(zero);
    if (part == Part::High)
      return elementwise<T, T, T, T>(decode, type.bits(), [](T a, T b, T c) { return addWrapped(mulHigh(a, b), c); });
    if constexpr (sizeof(T) < 8) {
      using W = Wider<T>;
      return elementwise<W, T, T, W>(decode, 2 * type.bits(),
                                     [](T a, T b, W c) { return addWrapped(mulWide(a, b), c); });
    }
    return {};
  });
}

/// mul24 and mad24: of 48 bits the low 32, or the high 32.
template <size_t N> Evaluator decode24(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  Part part = takePart(spelling, decode, type);
  bool saturates = N == 3 && part == Part::High && type.isSigned() && spelling.take("sat");
  if (type.bits() != 32 || part == Part::Wide)
    decode.fail("expected .lo or .hi of 32 bits");
  if (!spelling.finish())
    return {};
  return forInteger(decode, type, [&](auto zero) -> Evaluator {
    using T = decltype(zero);
    if constexpr (sizeof(T) != 4) {
      return {};
    } else {
      const int shift = part == Part::High ? 16 : 0;
      auto product = [shift](T a, T b) { return static_cast<T>(mul24(a, b) >> shift); };
      if constexpr (N == 2)
        return elementwise<T, T, T>(decode, 32, product);
      else
        return elementwise<T, T, T, T>(decode, 32, [=](T a, T b, T c) {
          return saturates ? static_cast<T>(addSaturated(static_cast<int32_t>(product(a, b)), static_cast<int32_t>(c)))
                           : addWrapped(product(a, b), c);
        });
    }
  });
}

Evaluator decodeSad(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  if (!spelling.finish())
    return {};
  return forInteger(decode, type, [&](auto zero) {
    using T = decltype(zero);
    return elementwise<T, T, T, T>(decode, type.bits(), [](T a, T b, T c) { return sumOfDifference(a, b, c); });
  });
}

Evaluator decodeDiv(Decoder &decode) {
  if (isFloatFamily(decode))
    return decodeFloatDiv(decode);
  Spelling spelling(decode);
  Type type = spelling.takeType();
  if (!spelling.finish())
    return {};
  return forInteger(decode, type, [&](auto zero) {
    using T = decltype(zero);
    return elementwise<T, T, T>(decode, type.bits(), [](T a, T b) { return quotient(a, b); });
  });
}

Evaluator decodeRem(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  if (!spelling.finish())
    return {};
  return forInteger(decode, type, [&](auto zero) {
    using T = decltype(zero);
    return elementwise<T, T, T>(decode, type.bits(), [](T a, T b) { return remainderOf(a, b); });
  });
}

/// dp4a and dp2a.
Evaluator decodeDot(Decoder &decode) {
  Spelling spelling(decode);
  const bool two = decode.part(0) == "dp2a";
  const int half = two ? spelling.takeOneOf({"lo", "hi"}) : 0;
  Type typeA = spelling.takeType(), typeB = spelling.takeType();
  if (half < 0 || typeA.bits() != 32 || typeB.bits() != 32)
    decode.fail("expected two types of 32 bits, and .lo or .hi of dp2a");
  if (!spelling.finish())
    return {};
  return elementwise<uint32_t, uint32_t, uint32_t, uint32_t>(
      decode, 32, [=, signedA = typeA.isSigned(), signedB = typeB.isSigned()](uint32_t a, uint32_t b, uint32_t c) {
        return two ? dot2(a, b, c, signedA, signedB, half == 1) : dot4(a, b, c, signedA, signedB);
      });
}

} // namespace

void headrace::sim::addArithmetic(Registry &registry) {
  registry.add("add", decodeAdd);
  registry.add("sub", decodeSub);
  registry.add("mul", decodeMul);
  registry.add("mad", decodeMad);
  registry.add("fma", decodeFloatFma);
  registry.add("mul24", decode24<2>);
  registry.add("mad24", decode24<3>);
  registry.add("sad", decodeSad);
  registry.add("div", decodeDiv);
  registry.add("rem", decodeRem);
  registry.add("dp4a", decodeDot);
  registry.add("dp2a", decodeDot);
}
