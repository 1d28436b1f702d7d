// Destinations of copies within a cluster.
#include "headrace/Sim/Copies/Destinations.h"

namespace headrace::sim {

std::string whyNotSignalled(uint32_t data, uint32_t mbarrier, bool pair) {
  uint32_t here = rankOf(data), there = rankOf(mbarrier);
  if (here == there || (pair && (here ^ there) == 1))
    return "";
  return "expected the mbarrier in CTA " + std::to_string(here) + " of the cluster, where the data goes" +
         (pair ? ", or in its peer " + std::to_string(here ^ 1) : "") + ", got CTA " + std::to_string(there);
}

std::vector<Destination> multicastDestinations(uint32_t data, uint32_t mbarrier, uint16_t mask, bool pair) {
  std::vector<Destination> result;
  for (uint32_t rank = 0; mask >> rank; ++rank) {
    uint32_t signalled = pair ? (rank & ~1u) | (rankOf(mbarrier) & 1) : rank;
    if (mask >> rank & 1)
      result.push_back({addressIn(rank, data), addressIn(signalled, mbarrier)});
  }
  return result;
}

} // namespace headrace::sim
