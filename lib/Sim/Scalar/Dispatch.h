// From a type of an opcode to a type of C++.
#ifndef HEADRACE_SIM_SCALAR_DISPATCH_H
#define HEADRACE_SIM_SCALAR_DISPATCH_H

#include "Spelling.h"

#include <type_traits>

namespace headrace::sim {

/// body(T()) for the unsigned integer type of the width of `type`. Fails for numbers and for pairs.
template <typename Body> Evaluator forUnsigned(Decoder &decode, const Type &type, Body body) {
  if (!type.isFloat() && type.elements == 1) {
    if (type.elementBits == 16)
      return body(uint16_t());
    if (type.elementBits == 32)
      return body(uint32_t());
    if (type.elementBits == 64)
      return body(uint64_t());
  }
  decode.fail("expected an integer type of 16, 32 or 64 bits");
  return {};
}

/// body(T()) for the integer type that `type` is: bits count as unsigned. Fails as forUnsigned.
template <typename Body> Evaluator forInteger(Decoder &decode, const Type &type, Body body) {
  if (!type.isSigned())
    return forUnsigned(decode, type, body);
  return forUnsigned(decode, type, [&](auto zero) { return body(std::make_signed_t<decltype(zero)>()); });
}

/// body(T()) for the unsigned integer of `bits` bits. Fails but for 32 and 64.
template <typename Body> Evaluator forWord(Decoder &decode, int bits, Body body) {
  if (bits == 32)
    return body(uint32_t());
  if (bits == 64)
    return body(uint64_t());
  decode.fail("expected a type of 32 or 64 bits, got one of " + std::to_string(bits));
  return {};
}

} // namespace headrace::sim

#endif
