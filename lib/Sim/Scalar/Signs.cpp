// abs, neg, copysign and testp.
#include "Dispatch.h"
#include "Elementwise.h"
#include "Families.h"

#include "headrace/Sim/Numerics/Integer.h"

using namespace headrace::sim;

namespace {

/// What abs and neg do to the sign bits of a number.
enum class SignChange { Clear, Flip };

uint64_t changed(SignChange change, uint64_t bits, uint64_t signs) {
  return change == SignChange::Clear ? bits & ~signs : bits ^ signs;
}

/// Numbers: the signs of all elements at once, with subnormal ones flushed first.
Evaluator floatSigns(Decoder &decode, const Type &type, SignChange change, bool flush) {
  const uint64_t sign = uint64_t(1) << (type.elementBits - 1);
  const uint64_t signs = type.elements == 2 ? sign << type.elementBits | sign : sign;
  const int bits = type.bits();
  if (!flush)
    return elementwise<uint64_t, uint64_t>(decode, bits, [=](uint64_t a) { return changed(change, a, signs); }, &type);
  if (type.is(Type::Kind::Float, 32))
    return elementwise<uint64_t, float>(decode, bits,
                                        [=](float a) { return changed(change, cellOf(flushed(a)), signs); });
  if (type.is(Type::Kind::Float, 16))
    return elementwise<uint64_t, Half>(decode, bits,
                                       [=](Half a) { return changed(change, cellOf(flushed(a)), signs); });
  if (type.is(Type::Kind::Float, 16, 2))
    return elementwise<uint64_t, uint32_t>(decode, bits, [=](uint32_t a) {
      return changed(change, eachOfPair<Half>([](Half half) { return flushed(half); }, a), signs);
    });
  decode.fail("expected .ftz only for f32, f16 and f16x2");
  return {};
}

template <SignChange Change> Evaluator decodeSign(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  const bool flush = type.isFloat() && spelling.take("ftz");
  if (!spelling.finish())
    return {};
  if (type.isFloat())
    return floatSigns(decode, type, Change, flush);
  return forInteger(decode, type, [&](auto zero) {
    using T = decltype(zero);
    return elementwise<T, T>(decode, type.bits(),
                             [](T a) { return Change == SignChange::Clear ? absolute(a) : negated(a); });
  });
}

Evaluator decodeCopySign(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  if (!spelling.finish())
    return {};
  const uint64_t sign = uint64_t(1) << (type.elementBits - 1);
  // The sign is that of the first operand (9.7.3.2).
  return elementwise<uint64_t, uint64_t, uint64_t>(
      decode, type.bits(), [sign](uint64_t a, uint64_t b) { return (a & sign) | (b & ~sign); }, &type);
}

/// Zeros count as normal.
template <typename T> bool hasProperty(int property, T a) {
  const bool isSubnormal = std::fpclassify(a) == FP_SUBNORMAL;
  switch (property) {
  case 0:
    return std::isfinite(a);
  case 1:
    return std::isinf(a);
  case 2:
    return !std::isnan(a);
  case 3:
    return std::isnan(a);
  case 4:
    return std::isfinite(a) && !isSubnormal;
  default:
    return isSubnormal;
  }
}

Evaluator decodeTest(Decoder &decode) {
  Spelling spelling(decode);
  const int property = spelling.takeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Type type = spelling.takeType();
  if (property < 0)
    decode.fail("expected a property of a number");
  if (!spelling.finish())
    return {};
  if (type.is(Type::Kind::Float, 32))
    return elementwise<bool, float>(decode, 1, [property](float a) { return hasProperty(property, a); });
  if (type.is(Type::Kind::Float, 64))
    return elementwise<bool, double>(decode, 1, [property](double a) { return hasProperty(property, a); });
  decode.fail("expected f32 or f64");
  return {};
}

} // namespace

void headrace::sim::addSigns(Registry &registry) {
  registry.add("abs", decodeSign<SignChange::Clear>);
  registry.add("neg", decodeSign<SignChange::Flip>);
  registry.add("copysign", decodeCopySign);
  registry.add("testp", decodeTest);
}
