// Fields and searches of bits (PTX ISA 9.7.1.14 to 9.7.1.22).
#include "Dispatch.h"
#include "Elementwise.h"
#include "Families.h"

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

Evaluator decodeInsert(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  if (!spelling.finish())
    return {};
  return forWord(decode, type.bits(), [&](auto zero) {
    using T = decltype(zero);
    return elementwise<T, T, T, uint32_t, uint32_t>(decode, type.bits(),
                                                    [](T field, T base, uint32_t position, uint32_t length) {
                                                      return insertField(field, base, position, length, 8 * sizeof(T));
                                                    });
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
