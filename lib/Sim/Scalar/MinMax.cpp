// min and max of integers and numbers (PTX ISA 9.7.1.12, 9.7.3.11, 9.7.4.7).
#include "Dispatch.h"
#include "Elementwise.h"
#include "Families.h"

using namespace headrace::sim;

namespace {

template <typename T> T chosen(bool isMax, bool relu, T a, T b) {
  T result = isMax == (a > b) ? a : b;
  return relu && result < T(0) ? T(0) : result;
}

Evaluator integerMinMax(Decoder &decode, Spelling &spelling, const Type &type, bool isMax) {
  const bool relu = type.isSigned() && spelling.take("relu");
  if (!spelling.finish())
    return {};
  if (type.elements == 2)
    return elementwise<uint32_t, uint32_t, uint32_t>(
        decode, 32, [isMax, relu, isSigned = type.isSigned()](uint32_t a, uint32_t b) {
          auto ofSigned = [=](int16_t x, int16_t y) { return chosen(isMax, relu, x, y); };
          auto ofUnsigned = [=](uint16_t x, uint16_t y) { return chosen(isMax, false, x, y); };
          return isSigned ? eachOfPair<int16_t>(ofSigned, a, b) : eachOfPair<uint16_t>(ofUnsigned, a, b);
        });
  return forInteger(decode, type, [&](auto zero) -> Evaluator {
    using T = decltype(zero);
    if (relu)
      return elementwise<T, T, T>(decode, type.bits(), [isMax](T a, T b) { return chosen(isMax, true, a, b); });
    if (isMax)
      return elementwise<T, T, T>(decode, type.bits(), [](T a, T b) { return a > b ? a : b; });
    return elementwise<T, T, T>(decode, type.bits(), [](T a, T b) { return a < b ? a : b; });
  });
}

Evaluator floatMinMax(Decoder &decode, const Type &type, const MinMaxMode &mode, bool isMax) {
  auto op = [=](auto a, auto b) { return minMax(mode, isMax, a, b); };
  if (type.is(Type::Kind::Float, 32))
    return elementwise<float, float, float>(decode, 32, op);
  if (type.is(Type::Kind::Float, 64))
    return elementwise<double, double, double>(decode, 64, op);
  if (type.is(Type::Kind::Float, 16))
    return elementwise<Half, Half, Half>(decode, 16, op);
  if (type.is(Type::Kind::Bfloat, 16))
    return elementwise<Bfloat, Bfloat, Bfloat>(decode, 16, op);
  if (type.is(Type::Kind::Float, 16, 2))
    return elementwiseOf<2, uint32_t, uint32_t>(decode, 32,
                                                [op](auto a, auto b) { return eachOfPair<Half>(op, a, b); });
  if (type.is(Type::Kind::Bfloat, 16, 2))
    return elementwiseOf<2, uint32_t, uint32_t>(decode, 32,
                                                [op](auto a, auto b) { return eachOfPair<Bfloat>(op, a, b); });
  decode.fail("this type is not understood here");
  return {};
}

template <bool IsMax> Evaluator decodeMinMax(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  if (!type.isFloat())
    return integerMinMax(decode, spelling, type, IsMax);
  MinMaxMode mode;
  mode.flush = spelling.take("ftz");
  mode.nan = spelling.take("NaN");
  mode.xorSign = spelling.take("xorsign");
  mode.absolute = spelling.take("abs");
  if (!spelling.finish())
    return {};
  if (decode.numOperands() == 4 && type.is(Type::Kind::Float, 32))
    return elementwiseOf<3, float, float>(decode, 32,
                                          [mode](float a, float b, float c) { return minMax(mode, IsMax, a, b, c); });
  return floatMinMax(decode, type, mode, IsMax);
}

} // namespace

void headrace::sim::addMinMax(Registry &registry) {
  registry.add("min", decodeMinMax<false>);
  registry.add("max", decodeMinMax<true>);
}
