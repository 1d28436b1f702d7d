// rcp, sqrt and the approximate functions (PTX ISA 9.7.3.13 to 9.7.3.22, 9.7.4.9, 9.7.4.10).
#include "Elementwise.h"
#include "Families.h"
#include "Spelling.h"

#include "headrace/Sim/Numerics/Approximation.h"

using namespace headrace::sim;

namespace {

using Function = double (*)(double);

/// function(a) rounded to T.
template <typename T> T approximate(Function function, const FloatMode &mode, T a) {
  const double result = function(toFloat(mode.flush ? flushed(a) : a));
  if constexpr (std::is_same_v<T, float>)
    return finished(static_cast<float>(result), mode);
  else
    return encoded<T>(result, mode);
}

Evaluator approximateEvaluator(Decoder &decode, const Type &type, Function function, const FloatMode &mode) {
  auto op = [=](auto a) { return approximate(function, mode, a); };
  if (type.is(Type::Kind::Float, 32))
    return elementwise<float, float>(decode, 32, op);
  if (type.is(Type::Kind::Float, 16))
    return elementwise<Half, Half>(decode, 16, op);
  if (type.is(Type::Kind::Bfloat, 16))
    return elementwise<Bfloat, Bfloat>(decode, 16, op);
  if (type.is(Type::Kind::Float, 16, 2))
    return elementwise<uint32_t, uint32_t>(decode, 32, [op](uint32_t a) { return eachOfPair<Half>(op, a); });
  if (type.is(Type::Kind::Bfloat, 16, 2))
    return elementwise<uint32_t, uint32_t>(decode, 32, [op](uint32_t a) { return eachOfPair<Bfloat>(op, a); });
  decode.fail("expected f32, f16 or bf16, or a pair of the latter");
  return {};
}

/// ex2, lg2, sin, cos, tanh: only .approx exists.
template <double (*F)(double)> Evaluator decodeApproximate(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  FloatMode mode;
  if (!spelling.take("approx"))
    decode.fail("expected .approx");
  mode.flush = spelling.take("ftz");
  return spelling.finish() ? approximateEvaluator(decode, type, F, mode) : Evaluator();
}

/// rcp and sqrt: .approx, or rounded. `high`: what .approx.ftz.f64 is.
template <typename Op> Evaluator decodeRoot(Decoder &decode, Function function, Function high) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  const bool approximates = spelling.take("approx");
  FloatMode mode = spelling.takeFloatMode();
  if (!spelling.finish())
    return {};
  if (approximates && type.is(Type::Kind::Float, 64) && high)
    return elementwise<double, double>(decode, 64, high);
  if (approximates)
    return approximateEvaluator(decode, type, function, mode);
  auto op = [mode](auto a) { return compute<Op>(mode, a); };
  if (type.is(Type::Kind::Float, 32))
    return elementwise<float, float>(decode, 32, op);
  if (type.is(Type::Kind::Float, 64))
    return elementwise<double, double>(decode, 64, op);
  decode.fail("expected f32 or f64");
  return {};
}

Evaluator decodeReciprocal(Decoder &decode) {
  return decodeRoot<Reciprocal>(decode, reciprocalOf, decode.has("ftz") ? reciprocalHigh : nullptr);
}

Evaluator decodeSqrt(Decoder &decode) { return decodeRoot<Sqrt>(decode, sqrtOf, nullptr); }

Evaluator decodeRsqrt(Decoder &decode) {
  if (!firstType(decode).is(Type::Kind::Float, 64))
    return decodeApproximate<rsqrtOf>(decode);
  Spelling spelling(decode);
  spelling.takeType();
  const bool high = spelling.take("ftz");
  if (!spelling.take("approx"))
    decode.fail("expected .approx");
  if (!spelling.finish())
    return {};
  return elementwise<double, double>(decode, 64, high ? rsqrtHigh : rsqrtOf);
}

} // namespace

void headrace::sim::addFloatFunctions(Registry &registry) {
  registry.add("rcp", decodeReciprocal);
  registry.add("sqrt", decodeSqrt);
  registry.add("rsqrt", decodeRsqrt);
  registry.add("ex2", decodeApproximate<exp2Of>);
  registry.add("lg2", decodeApproximate<log2Of>);
  registry.add("sin", decodeApproximate<sinOf>);
  registry.add("cos", decodeApproximate<cosOf>);
  registry.add("tanh", decodeApproximate<tanhOf>);
}
