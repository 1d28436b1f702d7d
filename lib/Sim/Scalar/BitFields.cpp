// Fields and searches of bits (PTX ISA 9.7.1.14 to 9.7.1.22).
#include "Dispatch.h"
#include "Elementwise.h"
#include "Families.h"

#include <algorithm>

using namespace headrace::sim;

namespace {

Evaluator decodeExtract(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  if (!spelling.finish())
    return {};
  return forWord(decode, type.bits(), [&](auto zero) {
    using T = decltype(zero);
    return elementwise<T, T, uint32_t, uint32_t>(decode, type.bits(),
                                                 [isSigned = type.isSigned()](T a, uint32_t position, uint32_t length) {
                                                   return extractField(a, position, length, 8 * sizeof(T), isSigned);
                                                 });
  });
}

/// Bytes with a value after a field was inserted: a byte that both have bits of needs both.
ByteMask insertedBytes(ByteMask field, ByteMask base, uint64_t position, uint64_t length) {
  ByteMask result = 0;
  for (uint64_t byte = 0; byte < 8; ++byte) {
    const uint64_t first = std::max(8 * byte, position), last = std::min(8 * byte + 8, position + length);
    bool isDefined = first < last && last - first == 8; // all of it from the field
    isDefined = isDefined || (base >> byte & 1);
    for (uint64_t bit = first; bit < last; ++bit)
      isDefined = isDefined && (field >> (bit - position) / 8 & 1);
    result |= static_cast<ByteMask>(isDefined) << byte;
  }
  return result;
}

Evaluator decodeInsert(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  if (!spelling.finish())
    return {};
  Evaluator run = forWord(decode, type.bits(), [&](auto zero) {
    using T = decltype(zero);
    return elementwise<T, T, T, uint32_t, uint32_t>(decode, type.bits(),
                                                    [](T field, T base, uint32_t position, uint32_t length) {
                                                      return insertField(field, base, position, length, 8 * sizeof(T));
                                                    });
  });
  if (decode.failed())
    return {};
  Input field(decode, 1), base(decode, 2), position(decode, 3), length(decode, 4);
  return movingBytes(decode, std::move(run), decode.dest(0), {field, base}, {position, length},
                     [=](const Lanes &lanes, int lane) {
                       return insertedBytes(field.definedBytes(lanes, lane), base.definedBytes(lanes, lane),
                                            position(lanes, lane) & 0xFF, length(lanes, lane) & 0xFF);
                     });
}

Evaluator decodeFind(Decoder &decode) {
  Spelling spelling(decode);
  const bool shiftAmount = spelling.take("shiftamt");
  Type type = spelling.takeType();
  if (!spelling.finish())
    return {};
  return forWord(decode, type.bits(), [&](auto zero) {
    using T = decltype(zero);
    return elementwise<uint32_t, T>(decode, 32, [=, isSigned = type.isSigned()](T a) {
      return findHighest(a, 8 * sizeof(T), isSigned, shiftAmount);
    });
  });
}

/// brev, popc and clz: op of a word, to Result bits or as many as the word has.
template <bool KeepsWidth, typename Op> Evaluator wordEvaluator(Decoder &decode, Op op) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  if (!spelling.finish())
    return {};
  return forWord(decode, type.bits(), [&](auto zero) {
    using T = decltype(zero);
    using R = std::conditional_t<KeepsWidth, T, uint32_t>;
    return elementwise<R, T>(decode, 8 * sizeof(R), op);
  });
}

Evaluator decodeReverse(Decoder &decode) {
  return wordEvaluator<true>(decode, [](auto a) { return reversed(a); });
}
Evaluator decodePopc(Decoder &decode) {
  return wordEvaluator<false>(decode, [](auto a) { return __builtin_popcountll(a); });
}
Evaluator decodeClz(Decoder &decode) {
  return wordEvaluator<false>(decode, [](auto a) {
    const int unused = 64 - 8 * static_cast<int>(sizeof a);
    return a ? __builtin_clzll(a) - unused : 64 - unused;
  });
}

Evaluator decodeFindNth(Decoder &decode) {
  Spelling spelling(decode);
  spelling.takeType();
  if (!spelling.finish())
    return {};
  return elementwise<uint32_t, uint32_t, uint32_t, int32_t>(
      decode, 32, [](uint32_t mask, uint32_t base, int32_t offset) { return findNthSet(mask, base & 31, offset); });
}

Evaluator decodeExtend(Decoder &decode) {
  Spelling spelling(decode);
  const int mode = spelling.takeOneOf({"clamp", "wrap"});
  Type type = spelling.takeType();
  if (mode < 0 || type.bits() != 32)
    decode.fail("expected .clamp or .wrap, and 32 bits");
  if (!spelling.finish())
    return {};
  return elementwise<uint32_t, uint32_t, uint32_t>(
      decode, 32, [wraps = mode == 1, isSigned = type.isSigned()](uint32_t a, uint32_t count) {
        return extendField(a, count, isSigned, wraps);
      });
}

Evaluator decodeMask(Decoder &decode) {
  Spelling spelling(decode);
  const int mode = spelling.takeOneOf({"clamp", "wrap"});
  if (spelling.takeType().bits() != 32 || mode < 0)
    decode.fail("expected .clamp or .wrap, and .b32");
  if (!spelling.finish())
    return {};
  return elementwise<uint32_t, uint32_t, uint32_t>(
      decode, 32, [wraps = mode == 1](uint32_t position, uint32_t count) { return maskField(position, count, wraps); });
}

} // namespace

void headrace::sim::addBitFields(Registry &registry) {
  registry.add("bfe", decodeExtract);
  registry.add("bfi", decodeInsert);
  registry.add("bfind", decodeFind);
  registry.add("brev", decodeReverse);
  registry.add("popc", decodePopc);
  registry.add("clz", decodeClz);
  registry.add("fns", decodeFindNth);
  registry.add("szext", decodeExtend);
  registry.add("bmsk", decodeMask);
}
