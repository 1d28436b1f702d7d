// cvt between scalar types (PTX ISA 9.7.9.21).
#include "Elementwise.h"
#include "Families.h"
#include "Spelling.h"

#include "headrace/Sim/Numerics/Convert.h"

#include <algorithm>

using namespace headrace::sim;

namespace {

/// The modifiers of a conversion.
struct Conversion {
  Type to, from;
  int destBits = 0; // of the register, to which the result is extended
  std::optional<Rounding> integerRounding;
  std::optional<Rounding> floatRounding;
  bool flush = false;
  bool saturate = false;
  bool relu = false;
  Overflow overflow = Overflow::Infinity;
};

std::optional<Rounding> takeIntegerRounding(Spelling &spelling) {
  switch (spelling.takeOneOf({"rni", "rzi", "rmi", "rpi"})) {
  case 0:
    return Rounding::NearestEven;
  case 1:
    return Rounding::Zero;
  case 2:
    return Rounding::Down;
  case 3:
    return Rounding::Up;
  default:
    return std::nullopt;
  }
}

/// The low bits of a cell as an integer of `type`, extended to 64 bits.
uint64_t extended(uint64_t cell, const Type &type) {
  return type.isSigned() ? signExtended(cell, type.elementBits) : cell & lowMask(type.elementBits);
}

const FloatFormat &formatOf(const Type &type) {
  if (type.kind == Type::Kind::Bfloat)
    return kBf16;
  return type.elementBits == 16 ? kF16 : type.elementBits == 32 ? kF32 : kF64;
}

double numberOf(uint64_t cell, const Type &type, bool flush) {
  if (type.kind == Type::Kind::Bfloat)
    return bfloatToFloat(static_cast<uint16_t>(cell));
  if (type.elementBits == 16)
    return halfToFloat(static_cast<uint16_t>(cell));
  if (type.elementBits == 64)
    return doubleOfBits(cell);
  const float value = floatOfBits(static_cast<uint32_t>(cell));
  return flush ? flushed(value) : value;
}

uint64_t integerToInteger(const Conversion &how, uint64_t cell) {
  uint64_t value = extended(cell, how.from);
  if (how.saturate)
    value = integerClamped(value, how.from.isSigned(), how.to.elementBits, how.to.isSigned());
  return extended(value, how.to);
}

uint64_t numberToInteger(const Conversion &how, uint64_t cell) {
  const double value = numberOf(cell, how.from, how.flush);
  return extended(
      floatToInteger(value, *how.integerRounding, how.to.elementBits, how.to.isSigned(), how.from.elementBits == 64),
      how.to);
}

uint64_t integerToNumber(const Conversion &how, uint64_t cell) {
  uint64_t value = extended(cell, how.from);
  if (how.saturate) // to [0.0, 1.0]
    value = integerClamped(value, how.from.isSigned(), 1, false);
  return integerToFloat(value, how.from.isSigned() && !how.saturate, formatOf(how.to), *how.floatRounding);
}

uint64_t numberToNumber(const Conversion &how, uint64_t cell) {
  double value = numberOf(cell, how.from, how.flush);
  if (how.integerRounding)
    value = roundedToInteger(value, *how.integerRounding);
  if (how.saturate)
    value = saturated(value);
  if (how.relu && value <= 0)
    value = 0;
  const uint64_t result =
      encodeFloat(value, formatOf(how.to), how.floatRounding.value_or(Rounding::NearestEven), how.overflow);
  return how.flush && how.to.is(Type::Kind::Float, 32) ? cellOf(flushed(cellAs<float>(result))) : result;
}

/// Fails where a mandatory rounding is missing.
void checkRounding(Decoder &decode, const Conversion &how) {
  if (how.to.isFloat() != how.from.isFloat()) {
    if (how.from.isFloat() && !how.integerRounding)
      decode.fail("expected .rni, .rzi, .rmi or .rpi from a number to an integer");
    if (how.to.isFloat() && !how.floatRounding)
      decode.fail("expected .rn, .rz, .rm or .rp from an integer to a number");
  }
  const bool narrows = how.to.isFloat() && how.from.isFloat() && how.to.elementBits < how.from.elementBits;
  if (narrows && !how.floatRounding)
    decode.fail("expected .rn, .rz, .rm or .rp to a narrower number");
}

/// An integer made wider or narrower: its bytes stay what they are, those added are zeros or copies of the sign.
Evaluator extension(Decoder &decode, const Conversion &how) {
  const Type to = how.to, from = how.from;
  Evaluator run = elementwise<uint64_t, uint64_t>(decode, how.destBits,
                                                  [=](uint64_t cell) { return extended(extended(cell, from), to); });
  if (decode.failed())
    return {};
  Input input(decode, 1);
  const int kept = std::min(to.elementBits, from.elementBits) / 8;
  return movingBytes(decode, std::move(run), decode.dest(0), {input}, {}, [=](const Lanes &lanes, int lane) {
    const ByteMask bytes = input.definedBytes(lanes, lane), low = (1u << kept) - 1;
    const bool isSign = from.isSigned() && !(bytes >> (kept - 1) & 1);
    return static_cast<ByteMask>((bytes & low) | (isSign ? 0 : ~low));
  });
}

Evaluator conversionEvaluator(Decoder &decode, const Conversion &how) {
  auto with = [&](auto function) {
    return elementwise<uint64_t, uint64_t>(
        decode, how.destBits, [=](uint64_t cell) { return function(how, cell); }, &how.from);
  };
  if (how.from.isFloat())
    return how.to.isFloat() ? with(numberToNumber) : with(numberToInteger);
  if (how.to.isFloat())
    return with(integerToNumber);
  if (how.saturate)
    return with(integerToInteger);
  return extension(decode, how);
}

/// Whether a part makes the conversion one of PackedConversions.cpp.
bool isPacked(std::string_view part) {
  return part == "tf32" || packedElement(part) || (part.size() > 2 && part.substr(part.size() - 2) == "x4");
}

Evaluator decodeCvt(Decoder &decode) {
  if (decode.part(1) == "pack")
    return decodeIntegerPack(decode);
  for (size_t i = 1; i < decode.numParts(); ++i)
    if (isPacked(decode.part(i)))
      return decodePackedConversion(decode);
  Spelling spelling(decode);
  Conversion how;
  how.integerRounding = takeIntegerRounding(spelling);
  how.floatRounding = spelling.takeRoundingIfAny();
  how.flush = spelling.take("ftz");
  how.saturate = spelling.take("sat");
  how.relu = spelling.take("relu");
  how.overflow = spelling.take("satfinite") ? Overflow::Largest : Overflow::Infinity;
  how.to = spelling.takeType();
  how.from = spelling.takeType();
  checkRounding(decode, how);
  expectOperands(decode, 2);
  if (!spelling.finish())
    return {};
  how.destBits = decode.dest(0).bits();
  if (how.destBits < how.to.bits())
    decode.fail("expected a destination of at least " + std::to_string(how.to.bits()) + " bits, got " +
                std::to_string(how.destBits));
  return conversionEvaluator(decode, how);
}

} // namespace

void headrace::sim::addConversions(Registry &registry) { registry.add("cvt", decodeCvt); }
