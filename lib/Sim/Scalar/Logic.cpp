// Logic, shifts and byte permutation (PTX ISA 9.7.8, 9.7.9.7).
#include "Dispatch.h"
#include "Elementwise.h"
#include "Families.h"

#include <algorithm>

using namespace headrace::sim;

namespace {

/// The width of the only type in the opcode, with no modifiers; 0 after a failure.
int onlyBits(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  return spelling.finish() ? type.bits() : 0;
}

// Predicates are registers of one bit: what is dropped above the width of the destination makes these right for them.

template <typename Op> Evaluator bitwise(Decoder &decode, Op op) {
  const int bits = onlyBits(decode);
  return decode.failed() ? Evaluator() : elementwise<uint64_t, uint64_t, uint64_t>(decode, bits, op);
}

/// The bytes of an operand that have this value.
ByteMask bytesThatAre(uint8_t value, uint64_t cell, ByteMask defined) {
  ByteMask result = 0;
  for (int i = 0; i < 8; ++i)
    result |= static_cast<ByteMask>((cell >> 8 * i & 0xFF) == value) << i;
  return result & defined;
}

/// and, or: a byte of one operand that is `decisive`, all zeros or all ones, gives the result's whatever the other is.
template <typename Op> Evaluator masking(Decoder &decode, uint8_t decisive, Op op) {
  Evaluator run = bitwise(decode, op);
  if (decode.failed() || decode.dest(0).bits() < 8)
    return run;
  Input a(decode, 1), b(decode, 2);
  return movingBytes(decode, std::move(run), decode.dest(0), {a, b}, {}, [=](const Lanes &lanes, int lane) {
    const ByteMask ofA = a.definedBytes(lanes, lane), ofB = b.definedBytes(lanes, lane);
    return static_cast<ByteMask>((ofA & ofB) | bytesThatAre(decisive, a(lanes, lane), ofA) |
                                 bytesThatAre(decisive, b(lanes, lane), ofB));
  });
}

Evaluator decodeAnd(Decoder &decode) {
  return masking(decode, 0, [](uint64_t a, uint64_t b) { return a & b; });
}
Evaluator decodeOr(Decoder &decode) {
  return masking(decode, 0xFF, [](uint64_t a, uint64_t b) { return a | b; });
}

Evaluator decodeXor(Decoder &decode) {
  Evaluator run = bitwise(decode, [](uint64_t a, uint64_t b) { return a ^ b; });
  return computingCommonBytes(decode, std::move(run), 2, sameBytes);
}

Evaluator decodeNot(Decoder &decode) {
  const int bits = onlyBits(decode);
  if (decode.failed())
    return {};
  Evaluator run = elementwise<uint64_t, uint64_t>(decode, bits, [](uint64_t a) { return ~a; });
  return computingCommonBytes(decode, std::move(run), 1, sameBytes);
}

Evaluator decodeCnot(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  if (!spelling.finish())
    return {};
  return forUnsigned(decode, type, [&](auto zero) {
    using T = decltype(zero);
    return elementwise<T, T>(decode, type.bits(), [](T a) { return a == 0 ? 1 : 0; });
  });
}

/// Bytes of a value shifted by `amount` to the left, that is down if it is negative: what is shifted in from outside, zeros
/// or signs, is taken for the outermost byte where there is one.
ByteMask shiftedBytes(ByteMask bytes, int64_t amount, int width) {
  ByteMask result = 0;
  for (int64_t byte = 0; byte < width / 8; ++byte) {
    bool isDefined = true;
    for (int64_t bit : {8 * byte - amount, 8 * byte + 7 - amount}) {
      const int64_t from = std::min<int64_t>(bit, width - 1);
      isDefined = isDefined && (from < 0 || (bytes >> from / 8 & 1));
    }
    result |= static_cast<ByteMask>(isDefined) << byte;
  }
  return result;
}

Evaluator shiftingBytes(Decoder &decode, Evaluator run, int width, int64_t sign) {
  if (decode.failed())
    return run;
  Input value(decode, 1), amount(decode, 2);
  return computingBytes(decode, std::move(run), {value}, {amount}, [=](const Lanes &lanes, int lane) {
    const int64_t by = std::min<uint64_t>(static_cast<uint32_t>(amount(lanes, lane)), width);
    return shiftedBytes(value.definedBytes(lanes, lane), sign * by, width);
  });
}

Evaluator decodeShl(Decoder &decode) {
  const int bits = onlyBits(decode);
  if (decode.failed())
    return {};
  return shiftingBytes(decode, elementwise<uint64_t, uint64_t, uint32_t>(decode, bits, shiftedLeft), bits, 1);
}

Evaluator decodeShr(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  if (!spelling.finish())
    return {};
  Evaluator run = forInteger(decode, type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_signed_v<T>)
      return elementwise<int64_t, T, uint32_t>(decode, type.bits(), shiftedRightSigned);
    else
      return elementwise<uint64_t, T, uint32_t>(decode, type.bits(), shiftedRight);
  });
  return shiftingBytes(decode, std::move(run), type.bits(), -1);
}

/// Funnel shift: of the pair (operand 2, operand 1), the latter low.
Evaluator decodeShf(Decoder &decode) {
  Spelling spelling(decode);
  const int direction = spelling.takeOneOf({"l", "r"});
  const int mode = spelling.takeOneOf({"clamp", "wrap"});
  Type type = spelling.takeType();
  if (direction < 0 || mode < 0 || type.bits() != 32)
    decode.fail("expected .l or .r, .clamp or .wrap, and .b32");
  if (!spelling.finish())
    return {};
  const bool left = direction == 0, wraps = mode == 1;
  return elementwise<uint32_t, uint32_t, uint32_t, uint32_t>(
      decode, 32, [=](uint32_t low, uint32_t high, uint32_t amount) {
        amount = wraps ? amount & 31 : std::min(amount, 32u);
        return left ? funnelLeft(low, high, amount) : funnelRight(low, high, amount);
      });
}

/// prmt without a mode: a byte has a value where the one that the selector takes has.
Evaluator permutingBytes(Decoder &decode) {
  Evaluator run = elementwise<uint32_t, uint32_t, uint32_t, uint32_t>(decode, 32, permuteBytes);
  if (decode.failed())
    return {};
  Input a(decode, 1), b(decode, 2), selector(decode, 3);
  return movingBytes(
      decode, std::move(run), exactDest(decode, 0, 32), {a, b}, {selector}, [=](const Lanes &lanes, int lane) {
        const ByteMask from = (a.definedBytes(lanes, lane) & 15) | (b.definedBytes(lanes, lane) & 15) << 4;
        const uint64_t selectors = selector(lanes, lane);
        ByteMask bytes = 0;
        for (int i = 0; i < 4; ++i)
          bytes |= (from >> (selectors >> 4 * i & 7) & 1) << i;
        return bytes;
      });
}

Evaluator decodePrmt(Decoder &decode) {
  Spelling spelling(decode);
  const int mode = spelling.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  if (spelling.takeType().bits() != 32)
    decode.fail("expected .b32");
  if (!spelling.finish())
    return {};
  if (mode < 0)
    return permutingBytes(decode);
  return elementwise<uint32_t, uint32_t, uint32_t, uint32_t>(decode, 32, [mode](uint32_t a, uint32_t b, uint32_t c) {
    return permuteBytes(a, b, permuteSelector(static_cast<PermuteMode>(mode), c));
  });
}

/// lop3 d|p, a, b, c, table, q: the predicate is (d != 0) combined with q.
Evaluator lop3WithPredicate(Decoder &decode, bool isAnd) {
  expectOperands(decode, 6);
  if (decode.failed())
    return {};
  const ptx::Operand &results = decode.instruction.operands[0];
  if (results.kind != ptx::Operand::Kind::Pair) {
    decode.fail("expected two destinations, d|p");
    return {};
  }
  Dest dest = decode.dest(results.elements[0]), predicate = decode.dest(results.elements[1]);
  Input a(decode, 1), b(decode, 2), c(decode, 3), q(decode, 5);
  const auto table = static_cast<uint8_t>(decode.integer(4));
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      uint32_t result = lookUp3(static_cast<uint32_t>(a(lanes, lane)), static_cast<uint32_t>(b(lanes, lane)),
                                static_cast<uint32_t>(c(lanes, lane)), table);
      bool other = q(lanes, lane) & 1;
      dest.set(lanes, lane, result);
      predicate.set(lanes, lane, isAnd ? result != 0 && other : result != 0 || other);
    });
    return Step::Done;
  };
}

Evaluator decodeLop3(Decoder &decode) {
  Spelling spelling(decode);
  const int combination = spelling.takeOneOf({"or", "and"});
  if (spelling.takeType().bits() != 32)
    decode.fail("expected .b32");
  if (!spelling.finish())
    return {};
  if (combination >= 0)
    return lop3WithPredicate(decode, combination == 1);
  const int64_t table = decode.integer(4);
  if (table < 0 || table > 255)
    decode.fail("expected a table of 8 bits, got " + std::to_string(table));
  return elementwise<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>(
      decode, 32,
      [](uint32_t a, uint32_t b, uint32_t c, uint32_t table) { return lookUp3(a, b, c, static_cast<uint8_t>(table)); });
}

} // namespace

void headrace::sim::addLogic(Registry &registry) {
  registry.add("and", decodeAnd);
  registry.add("or", decodeOr);
  registry.add("xor", decodeXor);
  registry.add("not", decodeNot);
  registry.add("cnot", decodeCnot);
  registry.add("lop3", decodeLop3);
  registry.add("shl", decodeShl);
  registry.add("shr", decodeShr);
  registry.add("shf", decodeShf);
  registry.add("prmt", decodePrmt);
}
