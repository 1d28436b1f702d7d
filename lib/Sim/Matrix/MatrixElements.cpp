// From the bits of matrix elements to their values.
#include "headrace/Sim/Matrix/MatrixElements.h"

#include "headrace/Sim/Numerics/Float.h"

#include <cstddef>

namespace headrace::sim {

namespace {

struct NamedElement {
  std::string_view name;
  MatrixElement element;
  int bits;
};

constexpr NamedElement kElements[] = {
    {"f16", MatrixElement::F16, 16},  {"bf16", MatrixElement::Bf16, 16}, {"tf32", MatrixElement::Tf32, 32},
    {"f64", MatrixElement::F64, 64},  {"e4m3", MatrixElement::E4m3, 8},  {"e5m2", MatrixElement::E5m2, 8},
    {"e3m2", MatrixElement::E3m2, 6}, {"e2m3", MatrixElement::E2m3, 6},  {"e2m1", MatrixElement::E2m1, 4},
    {"s8", MatrixElement::S8, 8},     {"u8", MatrixElement::U8, 8},      {"s4", MatrixElement::S4, 4},
    {"u4", MatrixElement::U4, 4},     {"b1", MatrixElement::B1, 1},
};

int bitsOf(MatrixElement element) {
  for (const NamedElement &entry : kElements)
    if (entry.element == element)
      return entry.bits;
  return 1; // Xor1, which no opcode names
}

/// Calls `value(bits)` for each element. A template, so that each type gets a loop of its own.
template <int Bits, typename Value>
void unpackEach(int shift, const uint32_t *words, int count, double *values, Value value) {
  constexpr int kPerWord = 32 / Bits;
  constexpr uint32_t kMask = static_cast<uint32_t>((uint64_t(1) << Bits) - 1);
  for (int word = 0; word < count; ++word)
    for (int i = 0; i < kPerWord; ++i)
      values[word * kPerWord + i] = value((words[word] >> (i * Bits) & kMask) >> shift);
}

/// The types that come as a byte or as half of one.
template <int Bits> void unpackSmall(const WordPacking &packing, const uint32_t *words, int count, double *values) {
  auto each = [&](auto value) { unpackEach<Bits>(packing.shift, words, count, values, value); };
  switch (packing.element) {
  case MatrixElement::E4m3:
    return each([](uint32_t bits) { return e4m3ToFloat(static_cast<uint8_t>(bits)); });
  case MatrixElement::E5m2:
    return each([](uint32_t bits) { return e5m2ToFloat(static_cast<uint8_t>(bits)); });
  case MatrixElement::E3m2:
    return each([](uint32_t bits) { return e3m2ToFloat(static_cast<uint8_t>(bits & 0x3F)); });
  case MatrixElement::E2m3:
    return each([](uint32_t bits) { return e2m3ToFloat(static_cast<uint8_t>(bits & 0x3F)); });
  case MatrixElement::E2m1:
    return each([](uint32_t bits) { return e2m1ToFloat(static_cast<uint8_t>(bits & 0xF)); });
  case MatrixElement::S8:
  case MatrixElement::S4:
    return each([](uint32_t bits) { return static_cast<int32_t>(bits << (32 - Bits)) >> (32 - Bits); });
  default:
    return each([](uint32_t bits) { return static_cast<int32_t>(bits); });
  }
}

} // namespace

std::optional<MatrixElement> matrixElementNamed(std::string_view name) {
  for (const NamedElement &entry : kElements)
    if (entry.name == name)
      return entry.element;
  return std::nullopt;
}

WordPacking densePacking(MatrixElement element) { return {element, bitsOf(element), 0}; }

WordPacking bytePacking(MatrixElement element) { return {element, 8, element == MatrixElement::E2m1 ? 2 : 0}; }

void unpackWords(const WordPacking &packing, const uint32_t *words, int count, double *values) {
  auto each16 = [&](auto value) { unpackEach<16>(0, words, count, values, value); };
  switch (packing.element) {
  case MatrixElement::F16:
    return each16([](uint32_t bits) { return halfToFloat(static_cast<uint16_t>(bits)); });
  case MatrixElement::Bf16:
    return each16([](uint32_t bits) { return bfloatToFloat(static_cast<uint16_t>(bits)); });
  case MatrixElement::Tf32:
    return unpackEach<32>(0, words, count, values, [](uint32_t bits) { return tf32ToFloat(bits); });
  case MatrixElement::B1:
    return unpackEach<1>(0, words, count, values, [](uint32_t bits) { return static_cast<int32_t>(bits); });
  case MatrixElement::Xor1:
    return unpackEach<1>(0, words, count, values, [](uint32_t bits) { return 1 - 2 * static_cast<int32_t>(bits); });
  default:
    return packing.bits == 8 ? unpackSmall<8>(packing, words, count, values)
                             : unpackSmall<4>(packing, words, count, values);
  }
}

} // namespace headrace::sim
