// The mbarrier object (PTX ISA 9.7.13.15): arrivals, transaction bytes, phases.
#ifndef HEADRACE_SIM_MACHINE_MBARRIER_H
#define HEADRACE_SIM_MACHINE_MBARRIER_H

#include "headrace/Sim/Machine/Clock.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::sim {

/// One mbarrier. Each function returns what the ISA forbids about the call, or an empty string.
class Mbarrier {
public:
  /// `initialised`: the epoch of mbarrier.init, which every user must come after.
  Mbarrier(Component component, uint32_t arrivals, Epoch initialised)
      : initialised(initialised), component(component), expected(arrivals), pending(arrivals) {}

  const Epoch initialised;

  uint64_t phase() const { return phaseNumber; }
  uint32_t pendingArrivals() const { return pending; }
  uint32_t expectedArrivals() const { return expected; }
  int64_t pendingBytes() const { return bytes; }

  /// `count` arrivals that pass on `clock`.
  std::string arrive(uint32_t count, const Clock &clock);
  /// As arrive, and one fewer is expected from the next phase on.
  std::string arriveAndDrop(uint32_t count, const Clock &clock);
  std::string expectBytes(int64_t count);
  std::string completeBytes(int64_t count);
  /// cp.async.mbarrier.arrive without .noinc: one more arrival is awaited in this phase.
  std::string addPending(uint32_t count);

  /// Whether the phase of this parity has completed: true also for the phase before the first.
  bool completed(unsigned parity) const { return (phaseNumber & 1) != (parity & 1); }
  /// Somebody has seen the last completed phase, in step `seen` of his. Whoever completes the next phase must come after
  /// that: a parity tells two phases apart, not three, so a waiter may not be left behind.
  void noteSeen(Epoch seen) { seenBy.push_back(seen); }
  /// What completed phases pass on.
  const SharedClock &passed() const { return completedClock; }
  /// The epoch of what lands in the current phase.
  Epoch landing() const { return {component, static_cast<uint32_t>(phaseNumber + 1)}; }

private:
  std::string completeIfReady();

  Component component;
  uint32_t expected;
  uint32_t pending;
  int64_t bytes = 0;
  uint64_t phaseNumber = 0;
  std::vector<Epoch> seenBy; // the last completed phase
  Clock gathering;           // of the arrivals so far; never cleared, since phases come in order
  SharedClock completedClock = std::make_shared<Clock>();
};

} // namespace headrace::sim

#endif
