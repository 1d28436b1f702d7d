// Matrices in shared memory as tcgen05.mma and tcgen05.cp find them (PTX ISA 9.7.16.4.1, 9.7.16.5.1).
//
// The fields differ from those of wgmma, the canonical layouts do not, but for one more: 32-bit elements that are
// contiguous along M or N are swizzled in units of 32 bytes. With LBO and SBO the leading and the stride byte offset,
// and piece c the bytes [16 c, 16 c + 16) of the contiguous dimension, it has
//
//   piece c, depth k    (c % 8) * 16 + (c / 8) * LBO + (k % 4) * 128 + (k / 4) * SBO
//
// and then XORs address bits [6:5] with bits [8:7].
#ifndef HEADRACE_SIM_TENSORMEMORY_SHAREDDESCRIPTOR_H
#define HEADRACE_SIM_TENSORMEMORY_SHAREDDESCRIPTOR_H

#include "headrace/Sim/Matrix/WgmmaDescriptor.h"

#include <cstdint>
#include <optional>
#include <string>

namespace headrace::sim {

struct SharedDescriptor {
  /// Start, strides and swizzle, 128 with `units32`. The start is an offset in the shared memory of the CTA that reads.
  WgmmaDescriptor canonical;
  bool units32 = false;

  /// Where piece `piece` is of row `line` of a matrix contiguous along K, or with `mnMajor` of the vector at depth
  /// `line` of one contiguous along M or N. Requires: `mnMajor` if `units32`.
  uint32_t address(bool mnMajor, int line, int piece) const;
};

/// Reads `bits`. Ensures: without a value, `error` says what they break.
std::optional<SharedDescriptor> decodeSharedDescriptor(uint64_t bits, std::string &error);

} // namespace headrace::sim

#endif
