// Issuing copies: the checks of their addresses, and what is given to the engine.
#ifndef HEADRACE_LIB_SIM_COPIES_ISSUE_H
#define HEADRACE_LIB_SIM_COPIES_ISSUE_H

#include "headrace/Sim/Copies/BulkOpcode.h"
#include "headrace/Sim/Copies/Destinations.h"
#include "headrace/Sim/Machine/Lanes.h"

#include <functional>
#include <string>
#include <vector>

namespace headrace::sim {

// Checks. Each reports what it finds; those with a result say whether the copy can go on.

void checkAlignment(const Lanes &lanes, int lane, const char *what, uint64_t address, uint64_t alignment);
/// Whether the address is in the executing CTA.
bool isOwnShared(const Lanes &lanes, int lane, const char *what, uint32_t address);
/// Whether there is an mbarrier, initialised before.
bool isMbarrier(const Lanes &lanes, int lane, const char *verb, uint32_t address);
/// Whether so many bytes are at most a CTA's shared memory.
bool fitsShared(const Lanes &lanes, int lane, int64_t bytes);
/// Where a load or a copy to a peer goes. `mask`: of a multicast. Empty: nowhere.
std::vector<Destination> findDestinations(const Lanes &lanes, int lane, const BulkOpcode &opcode, uint32_t data,
                                          uint32_t mbarrier, uint16_t mask);

/// A copy into shared memory that completes on mbarriers.
struct MbarrierCopy {
  const char *what = "";
  int64_t bytes = 0; // that each destination gets
  /// Each element is one atomic update: several of one phase may change the same.
  bool isAtomic = false;
  std::vector<Destination> destinations;
  std::function<std::vector<uint8_t>(AsyncContext &)> read;
  std::function<void(AsyncContext &, uint32_t address, const std::vector<uint8_t> &)> write;
};
/// Requires: there are destinations.
void issueOntoMbarriers(const Lanes &lanes, int lane, MbarrierCopy copy);

/// A copy to global memory that the bulk groups of the thread count.
void issueIntoBulkGroup(const Lanes &lanes, int lane, const char *what, int64_t bytes,
                        std::function<void(AsyncContext &)> perform);

/// Reduces `bytes` into global memory; each element is one atomic operation (PTX ISA 9.7.9.25.4.2).
void reduceGlobal(AsyncContext &ctx, uint64_t address, int64_t bytes, const uint8_t *from, const Reduction &reduction);

} // namespace headrace::sim

#endif
