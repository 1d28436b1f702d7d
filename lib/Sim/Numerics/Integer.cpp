// The dot products of bytes.
#include "headrace/Sim/Numerics/Integer.h"

using namespace headrace::sim;

namespace {

/// Field `index` of `bits` bits, as a 32-bit number.
uint32_t field(uint32_t word, int index, int bits, bool isSigned) {
  uint32_t aligned = word << (32 - bits * (index + 1));
  return isSigned ? static_cast<uint32_t>(static_cast<int32_t>(aligned) >> (32 - bits)) : aligned >> (32 - bits);
}

} // namespace

uint32_t headrace::sim::dot4(uint32_t a, uint32_t b, uint32_t c, bool signedA, bool signedB) {
  for (int i = 0; i < 4; ++i)
    c += field(a, i, 8, signedA) * field(b, i, 8, signedB);
  return c;
}

uint32_t headrace::sim::dot2(uint32_t a, uint32_t b, uint32_t c, bool signedA, bool signedB, bool high) {
  for (int i = 0; i < 2; ++i)
    c += field(a, i, 16, signedA) * field(b, (high ? 2 : 0) + i, 8, signedB);
  return c;
}
