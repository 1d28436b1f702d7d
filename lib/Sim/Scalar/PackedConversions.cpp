// cvt to and from packed pairs and tf32 (PTX ISA 9.7.9.21), and cvt.pack (9.7.9.22).
#include "Elementwise.h"
#include "Families.h"
#include "Spelling.h"

#include "headrace/Sim/Numerics/Convert.h"
#include "headrace/Sim/Numerics/Integer.h"

using namespace headrace::sim;

namespace {

struct PackedMode {
  Rounding rounding = Rounding::NearestEven;
  Overflow overflow = Overflow::Infinity;
  bool relu = false;
};

/// The elements `high` and `low`, each converted.
uint64_t packed(const PackedElement &to, const PackedMode &mode, float high, float low) {
  uint64_t upper = to.encode(high, mode.rounding, mode.overflow, mode.relu);
  return upper << to.stride | to.encode(low, mode.rounding, mode.overflow, mode.relu);
}

/// The width of the register: at least that of the pair.
int destBits(Decoder &decode, int bits) {
  const int actual = decode.dest(0).bits();
  if (actual < bits)
    decode.fail("expected a destination of at least " + std::to_string(bits) + " bits, got " + std::to_string(actual));
  return actual;
}

/// cvt.x2.f32 d, a, b: a becomes the upper element.
Evaluator fromNumbers(Decoder &decode, const PackedElement &to, const PackedMode &mode) {
  return elementwise<uint64_t, float, float>(decode, destBits(decode, 2 * to.stride),
                                             [=](float a, float b) { return packed(to, mode, a, b); });
}

Evaluator fromPair(Decoder &decode, const PackedElement &to, const PackedElement &from, const PackedMode &mode) {
  return elementwise<uint64_t, uint32_t>(decode, destBits(decode, 2 * to.stride), [=](uint32_t a) {
    return packed(to, mode, from.decode(a >> from.stride), from.decode(a));
  });
}

Evaluator toTf32(Decoder &decode, const PackedMode &mode) {
  return elementwise<uint32_t, float>(
      decode, 32, [mode](float a) { return floatToTf32(mode.relu && a <= 0 ? 0 : a, mode.rounding, mode.overflow); });
}

/// Takes the next part that names a packed type; empty without one.
std::string_view takePacked(Decoder &decode, Spelling &spelling) {
  for (size_t i = 1; i < decode.numParts(); ++i)
    if (packedElement(decode.part(i)) && spelling.take(decode.part(i)))
      return decode.part(i);
  return "";
}

} // namespace

Evaluator headrace::sim::decodePackedConversion(Decoder &decode) {
  Spelling spelling(decode);
  PackedMode mode;
  std::optional<Rounding> rounding = spelling.takeRoundingIfAny();
  mode.rounding = rounding.value_or(Rounding::NearestEven);
  mode.relu = spelling.take("relu");
  mode.overflow = spelling.take("satfinite") ? Overflow::Largest : Overflow::Infinity;
  const bool isTf32 = spelling.take("tf32");
  std::optional<PackedElement> to = packedElement(isTf32 ? "" : takePacked(decode, spelling));
  std::optional<PackedElement> from = packedElement(takePacked(decode, spelling));
  const bool fromF32 = spelling.take("f32");
  if (!spelling.finish())
    return {};
  if (!rounding)
    decode.fail("expected a rounding");
  if (isTf32 && fromF32)
    return toTf32(decode, mode);
  if (!to || from.has_value() == fromF32) {
    decode.fail("expected a pair from f32 or from another pair");
    return {};
  }
  if (to->stride < 16 && !to->isPowerOfTwo && mode.overflow != Overflow::Largest)
    decode.fail("expected .satfinite, without which these formats have no conversion");
  if (to->isPowerOfTwo && mode.rounding != Rounding::Zero && mode.rounding != Rounding::Up)
    decode.fail("expected .rz or .rp to ue8m0");
  return from ? fromPair(decode, *to, *from, mode) : fromNumbers(decode, *to, mode);
}

Evaluator headrace::sim::decodeIntegerPack(Decoder &decode) {
  Spelling spelling(decode);
  const bool isPlain = spelling.take("pack") && spelling.take("sat") && spelling.take("s32");
  const int name = spelling.takeOneOf({"u2", "u4", "u8", "u16", "s2", "s4", "s8", "s16"});
  const bool hasRest = spelling.take("b32");
  if (!isPlain || name < 0)
    decode.fail("expected .pack.sat, a type of 2 to 16 bits, and .s32");
  if (!spelling.finish())
    return {};
  const int bits = 2 << (name % 4);
  const bool isSigned = name >= 4;
  auto pack = [=](int32_t a, int32_t b, uint32_t rest) {
    uint64_t upper = integerClamped(signExtended(static_cast<uint32_t>(a), 32), true, bits, isSigned) & lowMask(bits);
    uint64_t lower = integerClamped(signExtended(static_cast<uint32_t>(b), 32), true, bits, isSigned) & lowMask(bits);
    return static_cast<uint32_t>(shiftedLeft(rest, static_cast<uint32_t>(2 * bits)) | upper << bits | lower);
  };
  if (hasRest != (bits < 16))
    decode.fail("expected .b32 and a third source for fields of less than 16 bits");
  if (hasRest)
    return elementwise<uint32_t, int32_t, int32_t, uint32_t>(decode, 32, pack);
  return elementwise<uint32_t, int32_t, int32_t>(decode, 32, [pack](int32_t a, int32_t b) { return pack(a, b, 0); });
}
