// Fields of the wgmma descriptor, and its addresses.
#include "headrace/Sim/Matrix/WgmmaDescriptor.h"

#include <cstdio>

namespace headrace::sim {

namespace {

/// Bits that no field has (PTX ISA 9.7.15.5.1.2.2).
constexpr uint64_t kUnused = uint64_t(0x3) << 14 | uint64_t(0x3) << 30 | uint64_t(0x7) << 46 | uint64_t(0x3FF) << 52;

/// A field of 14 bits, in units of 16 bytes.
uint32_t bytesAt(uint64_t bits, int shift) { return static_cast<uint32_t>(bits >> shift & 0x3FFF) << 4; }

} // namespace

WgmmaDescriptor WgmmaDescriptor::decode(uint64_t bits) {
  constexpr uint32_t kSwizzles[] = {0, 128, 64, 32};
  return {bytesAt(bits, 0), bytesAt(bits, 16), bytesAt(bits, 32), static_cast<uint32_t>(bits >> 49 & 7),
          kSwizzles[bits >> 62]};
}

std::string WgmmaDescriptor::invalid(uint64_t bits) {
  char text[96] = "";
  if (bits & kUnused)
    std::snprintf(text, sizeof text, "matrix descriptor 0x%016llx has bits that must be 0: 0x%016llx",
                  static_cast<unsigned long long>(bits), static_cast<unsigned long long>(bits & kUnused));
  else if (bits >> 62 == 0 && bits >> 49 & 7)
    std::snprintf(text, sizeof text, "matrix descriptor 0x%016llx has a base offset but no swizzle",
                  static_cast<unsigned long long>(bits));
  return text;
}

uint32_t WgmmaDescriptor::address(bool mnMajor, int line, int piece) const {
  const uint32_t inner = static_cast<uint32_t>(line % 8), outer = static_cast<uint32_t>(line / 8);
  const uint32_t column = static_cast<uint32_t>(piece);
  if (swizzle == 0)
    return start + inner * 16 + (mnMajor ? outer * leading + column * stride : outer * stride + column * leading);
  uint32_t place = start + inner * swizzle + outer * stride;
  const uint32_t pieces = swizzle / 16;
  place += mnMajor ? column % pieces * 16 + column / pieces * leading : column * 16;
  const uint32_t patternLine = (place >> 7) - baseOffset;
  return place ^ (patternLine & (pieces - 1)) << 4;
}

} // namespace headrace::sim
