// Depth-first over choices, by running again from the start.
#include "headrace/Sim/Launch/Explorer.h"

#include "headrace/Sim/Machine/Cluster.h"

namespace headrace::sim {

size_t Explorer::choose(const Cluster &cluster, size_t count) {
  if (depth == path.size()) {
    // Several clusters run one after another: what the others did is part of the path, not of the state.
    uint64_t state =
        cluster.digest() ^ static_cast<uint64_t>(cluster.ctas.front()->index) * 0xD1B54A32D192ED03u ^ world();
    if (abandoned || !seen.insert(state).second) {
      abandoned = true;
      return count; // none of them: the engine does nothing more
    }
    path.push_back({0, count});
  }
  return path[depth++].taken;
}

bool Explorer::next() {
  ++numRuns;
  depth = 0;
  abandoned = false;
  while (!path.empty() && path.back().taken + 1 >= path.back().count)
    path.pop_back();
  if (path.empty())
    return false;
  ++path.back().taken;
  return true;
}

} // namespace headrace::sim
