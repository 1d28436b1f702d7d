// From the bytes of a row to values.
#include "headrace/Sim/TensorMemory/Elements.h"

#include <algorithm>
#include <cstring>

namespace headrace::sim {

namespace {

constexpr int kSlot = 16; // bytes, and elements in them
constexpr int kWord = 4;

void unpackDense(const WordPacking &packing, const uint8_t *bytes, int count, double *out) {
  uint32_t words[kSlot];
  for (const int perChunk = kSlot * packing.perWord(); count > 0; count -= perChunk) {
    const int numWords = std::min(count, perChunk) / packing.perWord();
    std::memcpy(words, bytes, numWords * kWord);
    unpackWords(packing, words, numWords, out);
    bytes += numWords * kWord;
    out += perChunk;
  }
}

/// One slot of elements of 6 bits, to a byte each.
void spread6(const uint8_t *slot, uint8_t *out) {
  for (int i = 0; i < kSlot; i += 4) { // four elements are three bytes
    uint32_t bits = 0;
    std::memcpy(&bits, slot + i / 4 * 3, 3);
    for (int j = 0; j < 4; ++j)
      out[i + j] = bits >> (6 * j) & 0x3F;
  }
}

} // namespace

int widthOf(MatrixElement element) { return densePacking(element).bits; }

const char *nameOf(MatrixElement element) {
  constexpr const char *kNames[] = {"f16",  "bf16", "tf32", "f64", "e4m3", "e5m2", "e3m2", "e2m3",
                                    "e2m1", "s8",   "u8",   "s4",  "u4",   "b1",   "b1"};
  return kNames[static_cast<int>(element)];
}

void unpack(MatrixElement element, ElementPlacing placing, const uint8_t *bytes, int count, double *out) {
  if (placing == ElementPlacing::Dense)
    return unpackDense(densePacking(element), bytes, count, out);
  if (placing == ElementPlacing::PerByte)
    return unpackDense(bytePacking(element), bytes, count, out);
  for (int first = 0; first < count; first += kSlot) {
    uint8_t spread[kSlot];
    if (widthOf(element) == 6) {
      spread6(bytes + first, spread);
      unpackDense(bytePacking(element), spread, kSlot, out + first);
    } else {
      unpackDense(densePacking(element), bytes + first, kSlot, out + first);
    }
  }
}

} // namespace headrace::sim
