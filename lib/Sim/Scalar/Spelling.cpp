// Types and modifiers of opcodes.
#include "Spelling.h"

#include <algorithm>

using namespace headrace::sim;

std::optional<Type> headrace::sim::typeOf(std::string_view part) {
  using Kind = Type::Kind;
  struct Entry {
    std::string_view name;
    Type type;
  };
  static constexpr Entry kTypes[] = {
      {"pred", {Kind::Bits, 1, 1}},       {"b8", {Kind::Bits, 8, 1}},       {"b16", {Kind::Bits, 16, 1}},
      {"b32", {Kind::Bits, 32, 1}},       {"b64", {Kind::Bits, 64, 1}},     {"b128", {Kind::Bits, 128, 1}},
      {"u8", {Kind::Unsigned, 8, 1}},     {"u16", {Kind::Unsigned, 16, 1}}, {"u32", {Kind::Unsigned, 32, 1}},
      {"u64", {Kind::Unsigned, 64, 1}},   {"s8", {Kind::Signed, 8, 1}},     {"s16", {Kind::Signed, 16, 1}},
      {"s32", {Kind::Signed, 32, 1}},     {"s64", {Kind::Signed, 64, 1}},   {"f16", {Kind::Float, 16, 1}},
      {"f32", {Kind::Float, 32, 1}},      {"f64", {Kind::Float, 64, 1}},    {"bf16", {Kind::Bfloat, 16, 1}},
      {"f16x2", {Kind::Float, 16, 2}},    {"f32x2", {Kind::Float, 32, 2}},  {"bf16x2", {Kind::Bfloat, 16, 2}},
      {"u16x2", {Kind::Unsigned, 16, 2}}, {"s16x2", {Kind::Signed, 16, 2}},
  };
  for (const Entry &entry : kTypes)
    if (entry.name == part)
      return entry.type;
  return std::nullopt;
}

bool Spelling::take(std::string_view part) {
  for (size_t i = 1; i < decode.numParts(); ++i)
    if ((rest >> i & 1) && decode.part(i) == part) {
      rest &= ~(1u << i);
      return true;
    }
  return false;
}

int Spelling::takeOneOf(std::initializer_list<std::string_view> parts) {
  int index = 0;
  for (std::string_view part : parts) {
    if (take(part))
      return index;
    ++index;
  }
  return -1;
}

bool Spelling::takeAllWith(std::string_view prefix) {
  bool any = false;
  for (size_t i = 1; i < decode.numParts(); ++i)
    if ((rest >> i & 1) && decode.part(i).substr(0, prefix.size()) == prefix) {
      rest &= ~(1u << i);
      any = true;
    }
  return any;
}

std::optional<Type> Spelling::takeTypeIfAny() {
  for (size_t i = 1; i < decode.numParts(); ++i)
    if (rest >> i & 1)
      if (std::optional<Type> type = typeOf(decode.part(i))) {
        rest &= ~(1u << i);
        return type;
      }
  return std::nullopt;
}

Type Spelling::takeType() {
  std::optional<Type> type = takeTypeIfAny();
  if (!type)
    decode.fail("expected a type in the opcode");
  return type.value_or(Type());
}

std::optional<Rounding> Spelling::takeRoundingIfAny() {
  switch (takeOneOf({"rn", "rz", "rm", "rp", "rna"})) {
  case 0:
    return Rounding::NearestEven;
  case 1:
    return Rounding::Zero;
  case 2:
    return Rounding::Down;
  case 3:
    return Rounding::Up;
  case 4:
    return Rounding::NearestAway;
  default:
    return std::nullopt;
  }
}

Rounding Spelling::takeRounding() { return takeRoundingIfAny().value_or(Rounding::NearestEven); }

FloatMode Spelling::takeFloatMode() {
  FloatMode mode;
  mode.rounding = takeRounding();
  mode.flush = take("ftz");
  mode.saturate = take("sat");
  mode.relu = take("relu");
  return mode;
}

bool Spelling::finish() {
  if (rest)
    decode.fail("'." + std::string(decode.part(static_cast<size_t>(__builtin_ctz(rest)))) + "' is not understood");
  return !decode.failed();
}

Type headrace::sim::firstType(Decoder &decode) { return Spelling(decode).takeType(); }
