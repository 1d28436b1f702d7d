// Contents of registers at fences and waits of wgmma.
#include "headrace/Sim/Matrix/WgmmaOrder.h"

#include <algorithm>

namespace headrace::sim {

namespace {

/// A digest of a register's 32 cells: their sum with odd weights that look random.
uint64_t digestOf(Warp &warp, ptx::RegId reg) {
  const uint64_t *cells = warp.cells(reg);
  uint64_t digest = 0, weight = 0x9E3779B97F4A7C15;
  for (int lane = 0; lane < kLanes; ++lane) {
    digest += cells[lane] * weight;
    weight *= 0xD1342543DE82EF95;
  }
  return digest;
}

bool contains(const std::vector<uint64_t> &digests, uint64_t digest) {
  return std::find(digests.begin(), digests.end(), digest) != digests.end();
}

} // namespace

void noteFence(WgmmaOrder &order, const std::array<Warp *, 4> &warps, size_t count) {
  order.fenced = true;
  order.landedSince = false;
  for (size_t i = 0; i < warps.size(); ++i) {
    order.landed[i].clear();
    order.ordered[i].resize(count);
    for (ptx::RegId reg = 0; reg < count; ++reg)
      order.ordered[i][reg] = digestOf(*warps[i], reg);
  }
}

void noteLanded(WgmmaOrder &order, const std::array<Warp *, 4> &warps, const std::vector<ptx::RegId> &registers) {
  order.landedSince = true;
  for (size_t i = 0; order.fenced && i < warps.size(); ++i) {
    for (ptx::RegId reg : registers) {
      if (warps[i]->flight(reg) != Flight::None)
        continue; // a later operation goes on with it
      uint64_t digest = digestOf(*warps[i], reg);
      order.ordered[i][reg] = digest;
      order.landed[i].push_back(digest);
    }
  }
}

bool isOrdered(const WgmmaOrder &order, Warp &warp, int index, ptx::RegId reg) {
  if (warp.flight(reg) != Flight::None)
    return true;
  uint64_t digest = digestOf(warp, reg);
  return order.ordered[index][reg] == digest ||
         contains(order.landedSince ? order.landed[index] : order.ordered[index], digest);
}

} // namespace headrace::sim
