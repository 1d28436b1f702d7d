// Shared-memory descriptors of tcgen05: PTX ISA 9.7.16.4.1.
#include "headrace/Sim/TensorMemory/SharedDescriptor.h"

namespace headrace::sim {

namespace {

constexpr uint32_t kPiece = 16; // bytes

uint64_t field(uint64_t bits, int high, int low) { return bits >> low & ((uint64_t(2) << (high - low)) - 1); }

/// A field of 14 bits, in units of 16 bytes.
uint32_t bytesAt(uint64_t bits, int low) { return static_cast<uint32_t>(field(bits, low + 13, low)) * kPiece; }

struct SwizzleCode {
  uint64_t code;
  uint32_t width;
  bool units32;
};
constexpr SwizzleCode kSwizzles[] = {{0, 0, false}, {1, 128, true}, {2, 128, false}, {4, 64, false}, {6, 32, false}};

} // namespace

uint32_t SharedDescriptor::address(bool mnMajor, int line, int piece) const {
  if (!units32)
    return canonical.address(mnMajor, line, piece);
  constexpr int kPieces = 8, kDepths = 4;
  uint32_t place = canonical.start + piece % kPieces * kPiece + piece / kPieces * canonical.leading +
                   line % kDepths * canonical.swizzle + line / kDepths * canonical.stride;
  return place ^ (place >> 2 & 0x60);
}

std::optional<SharedDescriptor> decodeSharedDescriptor(uint64_t bits, std::string &error) {
  auto fail = [&](std::string message) {
    error = "shared memory descriptor: " + message;
    return std::nullopt;
  };
  if (field(bits, 48, 46) != 1)
    return fail("expected bits 48:46 to be 1, got " + std::to_string(field(bits, 48, 46)));
  if (field(bits, 51, 49) != 0)
    return fail("base offset " + std::to_string(field(bits, 51, 49)) +
                " is not modelled, expected a swizzle pattern that starts at a multiple of its size");
  if (field(bits, 60, 52) != 0)
    return fail("expected bits 60:52 to be 0, got " + std::to_string(field(bits, 60, 52)));
  for (const SwizzleCode &swizzle : kSwizzles)
    if (field(bits, 63, 61) == swizzle.code)
      return SharedDescriptor{{bytesAt(bits, 0), bytesAt(bits, 16), bytesAt(bits, 32), 0, swizzle.width},
                              swizzle.units32};
  return fail("no swizzle has the code " + std::to_string(field(bits, 63, 61)));
}

} // namespace headrace::sim
