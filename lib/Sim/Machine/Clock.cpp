// Vector clocks: joins and sharing.
#include "headrace/Sim/Machine/Clock.h"

#include <algorithm>

namespace headrace::sim {

void VectorClock::raise(Epoch epoch) {
  if (epoch.component >= steps.size())
    steps.resize(epoch.component + 1);
  steps[epoch.component] = std::max(steps[epoch.component], epoch.number);
}

void VectorClock::join(const VectorClock &other) {
  if (other.steps.size() > steps.size())
    steps.resize(other.steps.size());
  const uint32_t *from = other.steps.data();
  uint32_t *to = steps.data();
  for (size_t i = 0, e = other.steps.size(); i < e; ++i)
    to[i] = std::max(to[i], from[i]);
}

bool VectorClock::covers(const VectorClock &other) const {
  size_t common = std::min(steps.size(), other.steps.size());
  for (size_t i = 0; i < common; ++i)
    if (steps[i] < other.steps[i])
      return false;
  return std::all_of(other.steps.begin() + common, other.steps.end(), [](uint32_t step) { return step == 0; });
}

void Clock::acquire(const Clock &other) {
  generic.join(other.generic);
  async.join(other.async);
}

void Clock::complete(Epoch epoch) {
  generic.raise(epoch);
  async.raise(epoch);
}

SharedClock joined(const SharedClock &lhs, const SharedClock &rhs) {
  if (lhs == rhs)
    return lhs;
  if (lhs->generic.covers(rhs->generic) && lhs->async.covers(rhs->async))
    return lhs;
  auto result = std::make_shared<Clock>(*lhs);
  result->acquire(*rhs);
  return result;
}

} // namespace headrace::sim
