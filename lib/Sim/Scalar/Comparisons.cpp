// setp and set (PTX ISA 9.7.6, 9.7.7).
//
// Two values stand in one of four relations, and a comparison is a set of them: `le` is {less, equal}, and an unordered
// form has "unordered" as well. So one evaluator does all comparisons of a type.
#include "Elementwise.h"
#include "Families.h"
#include "Spelling.h"

#include <cstring>

using namespace headrace::sim;

namespace {

struct Comparison {
  uint8_t relations = 0;
  bool isForNumbers = false;  // equ, num, ...
  bool isForUnsigned = false; // lo, ls, hi, hs
};

std::optional<Comparison> takeComparison(Spelling &spelling) {
  static constexpr struct {
    std::string_view name;
    Comparison comparison;
  } kComparisons[] = {
      {"eq", {Equal}},
      {"ne", {Less | Greater}},
      {"lt", {Less}},
      {"le", {Less | Equal}},
      {"gt", {Greater}},
      {"ge", {Greater | Equal}},
      {"equ", {Equal | Unordered, true}},
      {"neu", {Less | Greater | Unordered, true}},
      {"ltu", {Less | Unordered, true}},
      {"leu", {Less | Equal | Unordered, true}},
      {"gtu", {Greater | Unordered, true}},
      {"geu", {Greater | Equal | Unordered, true}},
      {"num", {Less | Equal | Greater, true}},
      {"nan", {Unordered, true}},
      {"lo", {Less, false, true}},
      {"ls", {Less | Equal, false, true}},
      {"hi", {Greater, false, true}},
      {"hs", {Greater | Equal, false, true}},
  };
  for (const auto &[name, comparison] : kComparisons)
    if (spelling.take(name))
      return comparison;
  return std::nullopt;
}

/// How the third source, a predicate, is combined with the comparison.
enum class Combination { None, And, Or, Xor };

bool combined(Combination combination, bool compared, bool other) {
  switch (combination) {
  case Combination::And:
    return compared && other;
  case Combination::Or:
    return compared || other;
  case Combination::Xor:
    return compared != other;
  default:
    return compared;
  }
}

/// What setp and set have in common.
struct Compare {
  Comparison comparison;
  Combination combination = Combination::None;
  bool flush = false;
  Type type;
  Input a, b, c;

  bool holds(uint8_t relation) const { return (comparison.relations & relation) != 0; }
};

using Relate = uint8_t (*)(uint64_t a, uint64_t b, bool flush);

template <typename T> uint8_t relate(uint64_t a, uint64_t b, bool flush) {
  if constexpr (std::is_integral_v<T>)
    return relationOf(cellAs<T>(a), cellAs<T>(b));
  else if (flush)
    return relationOf(toFloat(flushed(cellAs<T>(a))), toFloat(flushed(cellAs<T>(b))));
  else
    return relationOf(toFloat(cellAs<T>(a)), toFloat(cellAs<T>(b)));
}

/// The relation of two elements of `type`; null after a failure.
Relate relateOf(Decoder &decode, const Type &type) {
  if (type.kind == Type::Kind::Bfloat)
    return relate<Bfloat>;
  if (type.kind == Type::Kind::Float)
    return type.elementBits == 16 ? relate<Half> : type.elementBits == 32 ? relate<float> : relate<double>;
  switch (type.elementBits) {
  case 16:
    return type.isSigned() ? relate<int16_t> : relate<uint16_t>;
  case 32:
    return type.isSigned() ? relate<int32_t> : relate<uint32_t>;
  case 64:
    return type.isSigned() ? relate<int64_t> : relate<uint64_t>;
  default:
    decode.fail("expected a type of 16, 32 or 64 bits");
    return nullptr;
  }
}

Compare takeCompare(Decoder &decode, Spelling &spelling) {
  Compare result;
  std::optional<Comparison> comparison = takeComparison(spelling);
  if (!comparison)
    decode.fail("expected a comparison in the opcode");
  result.comparison = comparison.value_or(Comparison());
  result.combination = static_cast<Combination>(1 + spelling.takeOneOf({"and", "or", "xor"}));
  result.flush = spelling.take("ftz");
  return result;
}

void takeSources(Decoder &decode, Compare &compare) {
  expectOperands(decode, compare.combination == Combination::None ? 3 : 4);
  if (decode.failed())
    return;
  if (!compare.type.isFloat() && compare.comparison.isForNumbers)
    decode.fail("expected a type of numbers, which this comparison is for");
  if (compare.type.isFloat() && compare.comparison.isForUnsigned)
    decode.fail("expected an unsigned type, which this comparison is for");
  compare.a = Input(decode, 1, compare.type);
  compare.b = Input(decode, 2, compare.type);
  if (compare.combination != Combination::None)
    compare.c = Input(decode, 3);
}

/// The relation of each lane's operands, for the lanes of the mask.
template <typename T> void relateRows(const Lanes &lanes, const Compare &compare, uint8_t *relations) {
  uint64_t bufferA[kLanes], bufferB[kLanes];
  const uint64_t *a = compare.a.read(lanes, bufferA), *b = compare.b.read(lanes, bufferB);
  if (lanes.mask == ~LaneMask(0))
    for (int lane = 0; lane < kLanes; ++lane)
      relations[lane] = relationOf(cellAs<T>(a[lane]), cellAs<T>(b[lane]));
  else
    lanes.forEach([&](int lane) { relations[lane] = relationOf(cellAs<T>(a[lane]), cellAs<T>(b[lane])); });
}

/// setp with one result and nothing to combine it with, of the types that loops count and compare in.
template <typename T> Evaluator plainSetp(const Compare &compare, const Dest &dest) {
  return [=](Lanes &lanes) {
    uint8_t relations[kLanes];
    relateRows<T>(lanes, compare, relations);
    uint64_t *out = lanes.warp.cells(dest.registerId());
    if (lanes.mask == ~LaneMask(0))
      for (int lane = 0; lane < kLanes; ++lane)
        out[lane] = compare.holds(relations[lane]);
    else
      lanes.forEach([&](int lane) { out[lane] = compare.holds(relations[lane]); });
    lanes.warp.define(dest.registerId(), lanes.mask);
    return Step::Done;
  };
}

/// setp p|q of one value: q is of the opposite of the comparison. Of a pair: q is of its upper element.
Evaluator generalSetp(Decoder &decode, const Compare &compare, const Dest &p, const Dest &q) {
  Relate relate = relateOf(decode, compare.type);
  if (decode.failed())
    return {};
  const bool isPair = compare.type.elements == 2;
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      const uint64_t a = compare.a(lanes, lane), b = compare.b(lanes, lane);
      const bool other = compare.combination != Combination::None && (compare.c(lanes, lane) & 1);
      const bool first = compare.holds(relate(a, b, compare.flush));
      const bool second = isPair ? compare.holds(relate(a >> 16, b >> 16, compare.flush)) : !first;
      p.set(lanes, lane, combined(compare.combination, first, other));
      q.set(lanes, lane, combined(compare.combination, second, other));
    });
    return Step::Done;
  };
}

Evaluator decodeSetp(Decoder &decode) {
  Spelling spelling(decode);
  Compare compare = takeCompare(decode, spelling);
  compare.type = spelling.takeType();
  if (!spelling.finish())
    return {};
  takeSources(decode, compare);
  if (decode.failed())
    return {};
  const ptx::Operand &result = decode.instruction.operands[0];
  const bool isPair = result.kind == ptx::Operand::Kind::Pair;
  Dest p = decode.dest(isPair ? result.elements[0] : result);
  if (!isPair && !p.isSink() && compare.combination == Combination::None && !compare.flush) {
    const Type &type = compare.type;
    if (!type.isFloat() && type.bits() == 32)
      return type.isSigned() ? plainSetp<int32_t>(compare, p) : plainSetp<uint32_t>(compare, p);
    if (!type.isFloat() && type.bits() == 64)
      return type.isSigned() ? plainSetp<int64_t>(compare, p) : plainSetp<uint64_t>(compare, p);
    if (type.is(Type::Kind::Float, 32))
      return plainSetp<float>(compare, p);
  }
  return generalSetp(decode, compare, p, decode.dest(isPair ? result.elements[1] : ptx::Operand()));
}

/// What set writes for "true": 1.0 in a type of numbers, else all ones.
uint64_t trueOf(const Type &type) {
  if (type.kind == Type::Kind::Bfloat)
    return encodeFloat(1, kBf16);
  if (type.kind == Type::Kind::Float)
    return type.elementBits == 16 ? encodeFloat(1, kF16) : encodeFloat(1, kF32);
  return lowMask(type.elementBits);
}

Evaluator decodeSet(Decoder &decode) {
  Spelling spelling(decode);
  Compare compare = takeCompare(decode, spelling);
  const Type to = spelling.takeType();
  compare.type = spelling.takeType();
  if (!spelling.finish())
    return {};
  takeSources(decode, compare);
  Relate relate = relateOf(decode, compare.type);
  Dest dest = exactDest(decode, 0, to.bits());
  const bool isPair = compare.type.elements == 2;
  // Pairs give 16 bits each whatever the type of the destination (9.7.7.1).
  const uint64_t yes = isPair && !to.isFloat() ? 0xFFFF : trueOf(to);
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      const uint64_t a = compare.a(lanes, lane), b = compare.b(lanes, lane);
      const bool other = compare.combination != Combination::None && (compare.c(lanes, lane) & 1);
      uint64_t result = 0;
      for (int i = 0; i < compare.type.elements; ++i)
        if (combined(compare.combination, compare.holds(relate(a >> (16 * i), b >> (16 * i), compare.flush)), other))
          result |= yes << (16 * i);
      dest.set(lanes, lane, result);
    });
    return Step::Done;
  };
}

} // namespace

void headrace::sim::addComparisons(Registry &registry) {
  registry.add("setp", decodeSetp);
  registry.add("set", decodeSet);
}
