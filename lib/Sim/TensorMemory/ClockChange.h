// One change to the clocks of all lanes of an instruction.
#ifndef HEADRACE_LIB_SIM_TENSORMEMORY_CLOCKCHANGE_H
#define HEADRACE_LIB_SIM_TENSORMEMORY_CLOCKCHANGE_H

#include "headrace/Sim/Machine/Lanes.h"

#include <memory>

namespace headrace::sim::tcgen05 {

/// Calls `change(clock)` for the clock of each lane where `needed(clock)`. Lanes that share a clock share the changed
/// one.
template <typename Needed, typename Change> void changeClocks(const Lanes &lanes, Needed needed, Change change) {
  SharedClock before, after;
  lanes.forEach([&](int lane) {
    SharedClock &own = lanes.state(lane).clock;
    if (own != before) {
      before = after = own;
      if (needed(*own)) {
        auto changed = std::make_shared<Clock>(*own);
        change(*changed);
        after = std::move(changed);
      }
    }
    own = after;
  });
}

} // namespace headrace::sim::tcgen05

#endif
