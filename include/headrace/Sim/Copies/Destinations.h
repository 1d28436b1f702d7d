// Where a copy into shared memory lands, and which mbarriers it completes on: PTX ISA 9.7.9.25.4.1 and 9.7.9.27.1.2.
//
// Addresses are those of shared::cluster, rank << 24 | offset. A multicast goes to the same offset in every CTA of its mask,
// and signals the same mbarrier offset there; under .cta_group::2 in that CTA or its peer (ranks 2k and 2k + 1), whichever
// has the parity of the CTA that the mbarrier operand is in:
//
//   .cta_group   data operand   mbarrier operand   mask     data goes to   signals go to
//   1            in CTA 1       in CTA 1           0b1111   0 1 2 3        0 1 2 3
//   2            in CTA 1       in CTA 0           0b1111   0 1 2 3        0 0 2 2
#ifndef HEADRACE_SIM_COPIES_DESTINATIONS_H
#define HEADRACE_SIM_COPIES_DESTINATIONS_H

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::sim {

/// One CTA that a copy writes to.
struct Destination {
  uint32_t data = 0;     // address
  uint32_t mbarrier = 0; // address
};

constexpr uint32_t rankOf(uint32_t address) { return address >> 24; }
constexpr uint32_t addressIn(uint32_t rank, uint32_t address) { return rank << 24 | (address & 0x00FF'FFFF); }

/// Why the mbarrier may not be where it is, or "". `pair`: .cta_group::2.
std::string whyNotSignalled(uint32_t data, uint32_t mbarrier, bool pair);

/// The destinations of a multicast, by rank.
std::vector<Destination> multicastDestinations(uint32_t data, uint32_t mbarrier, uint16_t mask, bool pair);

} // namespace headrace::sim

#endif
