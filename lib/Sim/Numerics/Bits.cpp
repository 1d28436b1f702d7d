// Bit fields, searches, and byte permutations.
#include "headrace/Sim/Numerics/Bits.h"

#include <algorithm>

using namespace headrace::sim;

uint64_t headrace::sim::extractField(uint64_t value, uint32_t position, uint32_t length, int bits, bool isSigned) {
  const auto width = static_cast<uint32_t>(bits);
  position &= 0xFF;
  length &= 0xFF;
  if (length == 0)
    return 0;
  bool sign = isSigned && (value >> std::min(position + length - 1, width - 1) & 1);
  uint32_t taken = position >= width ? 0 : std::min(length, width - position);
  uint64_t field = taken ? value >> position & lowMask(static_cast<int>(taken)) : 0;
  return sign ? field | (lowMask(bits) & ~lowMask(static_cast<int>(taken))) : field;
}

uint64_t headrace::sim::insertField(uint64_t field, uint64_t base, uint32_t position, uint32_t length, int bits) {
  const auto width = static_cast<uint32_t>(bits);
  position &= 0xFF;
  length &= 0xFF;
  if (length == 0 || position >= width)
    return base;
  uint64_t mask = lowMask(static_cast<int>(std::min(length, width - position))) << position;
  return (base & ~mask) | (field << position & mask);
}

uint32_t headrace::sim::findHighest(uint64_t value, int bits, bool isSigned, bool shiftAmount) {
  if (isSigned && (value >> (bits - 1) & 1))
    value = ~value & lowMask(bits);
  if (value == 0)
    return 0xFFFFFFFF;
  int place = 63 - __builtin_clzll(value);
  return static_cast<uint32_t>(shiftAmount ? bits - 1 - place : place);
}

uint32_t headrace::sim::findNthSet(uint32_t mask, uint32_t base, int32_t offset) {
  if (offset == 0)
    return mask >> base & 1 ? base : 0xFFFFFFFF;
  int64_t left = offset < 0 ? -int64_t(offset) : offset;
  for (int place = static_cast<int>(base); place >= 0 && place < 32; place += offset > 0 ? 1 : -1)
    if ((mask >> place & 1) && --left == 0)
      return static_cast<uint32_t>(place);
  return 0xFFFFFFFF;
}

uint64_t headrace::sim::reversed(uint64_t value) {
  value = (value >> 1 & 0x5555555555555555) | (value & 0x5555555555555555) << 1;
  value = (value >> 2 & 0x3333333333333333) | (value & 0x3333333333333333) << 2;
  value = (value >> 4 & 0x0F0F0F0F0F0F0F0F) | (value & 0x0F0F0F0F0F0F0F0F) << 4;
  return __builtin_bswap64(value);
}

uint32_t headrace::sim::reversed(uint32_t value) { return static_cast<uint32_t>(reversed(uint64_t(value)) >> 32); }

uint32_t headrace::sim::extendField(uint32_t value, uint32_t count, bool isSigned, bool wraps) {
  if (count >= 32 && !wraps)
    return value;
  count &= 31;
  if (count == 0)
    return 0;
  auto field = static_cast<uint32_t>(value & lowMask(static_cast<int>(count)));
  return isSigned ? static_cast<uint32_t>(signExtended(field, static_cast<int>(count))) : field;
}

uint32_t headrace::sim::maskField(uint32_t position, uint32_t count, bool wraps) {
  if (wraps) {
    position &= 31;
    count &= 31;
  }
  if (position >= 32)
    return 0;
  return static_cast<uint32_t>(lowMask(static_cast<int>(std::min(count, 32u))) << position);
}

uint32_t headrace::sim::lookUp3(uint32_t a, uint32_t b, uint32_t c, uint8_t table) {
  uint32_t result = 0;
  for (int row = 0; row < 8; ++row)
    if (table >> row & 1)
      result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  return result;
}

uint32_t headrace::sim::permuteSelector(PermuteMode mode, uint32_t control) {
  // Nibble i is the source of byte i: the tables of PTX ISA 9.7.9.7, by the low two bits of the control.
  static constexpr uint16_t kSelectors[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, // f4e
      {0x5670, 0x6701, 0x7012, 0x0123}, // b4e
      {0x0000, 0x1111, 0x2222, 0x3333}, // rc8
      {0x3210, 0x3211, 0x3222, 0x3333}, // ecl
      {0x0000, 0x1110, 0x2210, 0x3210}, // ecr
      {0x1010, 0x3232, 0x1010, 0x3232}, // rc16
  };
  return kSelectors[static_cast<int>(mode)][control & 3];
}
