// add, sub, mul, fma and div of numbers (PTX ISA 9.7.3 to 9.7.5).
#include "Elementwise.h"
#include "Families.h"
#include "Spelling.h"

#include "headrace/Sim/Numerics/Approximation.h"

using namespace headrace::sim;

namespace {

/// Op of N numbers of `type`.
template <typename Op, size_t N> Evaluator floatEvaluator(Decoder &decode, const Type &type, const FloatMode &mode) {
  auto op = [mode](auto... args) { return compute<Op>(mode, args...); };
  if (type.is(Type::Kind::Float, 32)) {
    if (mode.isPlain())
      return elementwiseOf<N, float, float>(decode, 32, [](auto... args) { return canonical(Op::apply(args...)); });
    return elementwiseOf<N, float, float>(decode, 32, op);
  }
  if (type.is(Type::Kind::Float, 64))
    return elementwiseOf<N, double, double>(decode, 64, op);
  if (type.is(Type::Kind::Float, 32, 2))
    return elementwiseOf<N, uint64_t, uint64_t>(decode, 64,
                                                [op](auto... args) { return eachOfPair<float>(op, args...); });
  decode.fail("this type is not understood here");
  return {};
}

/// The same of 16-bit numbers, for operations that are exact or rounded to odd.
template <typename Op, size_t N> Evaluator shortEvaluator(Decoder &decode, const Type &type, const FloatMode &mode) {
  auto op = [mode](auto... args) { return compute<Op>(mode, args...); };
  if (mode.rounding != Rounding::NearestEven)
    decode.fail("expected .rn for a 16-bit type");
  if (type.is(Type::Kind::Float, 16))
    return elementwiseOf<N, Half, Half>(decode, 16, op);
  if (type.is(Type::Kind::Bfloat, 16))
    return elementwiseOf<N, Bfloat, Bfloat>(decode, 16, op);
  if (type.is(Type::Kind::Float, 16, 2))
    return elementwiseOf<N, uint32_t, uint32_t>(decode, 32,
                                                [op](auto... args) { return eachOfPair<Half>(op, args...); });
  return elementwiseOf<N, uint32_t, uint32_t>(decode, 32,
                                              [op](auto... args) { return eachOfPair<Bfloat>(op, args...); });
}

/// Mixed precision: f32 from T, the last operand being f32 (9.7.5).
template <typename Op, size_t N, typename T> Evaluator mixedEvaluator(Decoder &decode, const FloatMode &mode) {
  if constexpr (N == 2)
    return elementwise<float, T, float>(decode, 32, [mode](T a, float c) { return compute<Op>(mode, toFloat(a), c); });
  else
    return elementwise<float, T, T, float>(
        decode, 32, [mode](T a, T b, float c) { return compute<Op>(mode, toFloat(a), toFloat(b), c); });
}

template <typename Op, size_t N> Evaluator decodeNumbers(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  std::optional<Type> from = spelling.takeTypeIfAny();
  FloatMode mode = spelling.takeFloatMode();
  if (!spelling.finish())
    return {};
  if (from && type.is(Type::Kind::Float, 32) && from->is(Type::Kind::Float, 16))
    return mixedEvaluator<Op, N, Half>(decode, mode);
  if (from && type.is(Type::Kind::Float, 32) && from->is(Type::Kind::Bfloat, 16))
    return mixedEvaluator<Op, N, Bfloat>(decode, mode);
  if (from)
    decode.fail("expected an f32 result of f16 or bf16 operands");
  if (type.isFloat() && type.elementBits == 16)
    return shortEvaluator<Op, N>(decode, type, mode);
  return floatEvaluator<Op, N>(decode, type, mode);
}

} // namespace

Evaluator headrace::sim::decodeFloatAdd(Decoder &decode) { return decodeNumbers<Add, 2>(decode); }
Evaluator headrace::sim::decodeFloatSub(Decoder &decode) { return decodeNumbers<Sub, 2>(decode); }
Evaluator headrace::sim::decodeFloatMul(Decoder &decode) { return decodeNumbers<Mul, 2>(decode); }
Evaluator headrace::sim::decodeFloatFma(Decoder &decode) { return decodeNumbers<Fma, 3>(decode); }

Evaluator headrace::sim::decodeFloatDiv(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  const int kind = spelling.takeOneOf({"approx", "full"});
  FloatMode mode = spelling.takeFloatMode();
  if (!spelling.finish())
    return {};
  if (kind == 0 && type.is(Type::Kind::Float, 32))
    return elementwise<float, float, float>(decode, 32, [flush = mode.flush](float a, float b) {
      return canonical(flush ? flushed(divideApprox(flushed(a), flushed(b))) : divideApprox(a, b));
    });
  return floatEvaluator<Div, 2>(decode, type, mode); // .full: the exact quotient is within its 2 ulp
}
