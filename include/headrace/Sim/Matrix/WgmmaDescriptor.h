// Operands of wgmma in shared memory: the 64-bit descriptor, and where it puts a matrix (PTX ISA 9.7.15.5.1.2;
// hardware.md 6.3).
//
// Everything is in pieces of 16 bytes, and one instruction takes 32 bytes of K. With LBO and SBO the leading and the
// stride byte offset, and S the width of the swizzle, a piece is at
//
//   K-major, no swizzle    row r, piece p of K:    r % 8 * 16 + r / 8 * SBO + p * LBO
//   K-major, swizzle S     row r, piece p of K:    r % 8 * S  + r / 8 * SBO + p * 16             LBO is not used
//   MN-major, no swizzle   k, piece p of M or N:   k % 8 * 16 + k / 8 * LBO + p * SBO
//   MN-major, swizzle S    k, piece p of M or N:   k % 8 * S  + k / 8 * SBO + p % (S / 16) * 16 + p / (S / 16) * LBO
//
// from the start address, and a swizzle then exchanges pieces: address bits [6:4], [5:4] or [4] are XORed with those of
// the number of the 128-byte line. Lines count from address 0, or with a base offset from a pattern that starts at
// line `base offset` modulo 8. (The ISA says how to compute the base offset, not what it does: this is inferred.)
#ifndef HEADRACE_SIM_MATRIX_WGMMADESCRIPTOR_H
#define HEADRACE_SIM_MATRIX_WGMMADESCRIPTOR_H

#include <cstdint>
#include <string>

namespace headrace::sim {

/// A descriptor, decoded. Distances and addresses in bytes.
struct WgmmaDescriptor {
  uint32_t start = 0;
  uint32_t leading = 0;
  uint32_t stride = 0;
  uint32_t baseOffset = 0; // in lines of 128 bytes
  uint32_t swizzle = 0;    // 0, 32, 64 or 128

  static WgmmaDescriptor decode(uint64_t bits);
  /// What is wrong with these bits, or "".
  static std::string invalid(uint64_t bits);

  /// Shared-memory address of a piece of 16 bytes: of row `line` (K-major) or of k = `line` (MN-major).
  uint32_t address(bool mnMajor, int line, int piece) const;
};

} // namespace headrace::sim

#endif
