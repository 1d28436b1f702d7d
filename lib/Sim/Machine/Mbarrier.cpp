// The mbarrier object: PTX ISA 9.7.13.15.
#include "headrace/Sim/Machine/Mbarrier.h"

#include <algorithm>

namespace headrace::sim {

namespace {
constexpr int64_t kMaxCount = (1 << 20) - 1; // 9.7.13.15.2: arrivals, and bytes either way
} // namespace

std::string Mbarrier::completeIfReady() {
  if (pending != 0 || bytes != 0)
    return "";
  bool isOrdered = std::all_of(seenBy.begin(), seenBy.end(), [&](Epoch seen) { return gathering.generic.has(seen); });
  seenBy.clear();
  gathering.complete({component, static_cast<uint32_t>(phaseNumber + 1)});
  completedClock = std::make_shared<Clock>(gathering);
  ++phaseNumber;
  pending = expected;
  return isOrdered ? ""
                   : "phase " + std::to_string(phaseNumber - 1) +
                         " completes with nothing between it and the waits for phase " +
                         std::to_string(phaseNumber - 2) + ": a slow waiter would sleep through both";
}

std::string Mbarrier::arrive(uint32_t count, const Clock &clock) {
  if (count > pending)
    return std::to_string(count) + " arrivals where phase " + std::to_string(phaseNumber) + " awaits " +
           std::to_string(pending) + " of " + std::to_string(expected) +
           (pending == 0 ? " (its transaction bytes are still " + std::to_string(bytes) + " short)" : std::string());
  // 9.7.13.15.4: some wait must have seen a phase complete before anything arrives on the next. It counts all the same.
  std::string unseen;
  if (phaseNumber > 0 && seenBy.empty())
    unseen = "arrives on phase " + std::to_string(phaseNumber) + " though nobody has waited for phase " +
             std::to_string(phaseNumber - 1);
  gathering.acquire(clock);
  pending -= count;
  std::string problem = completeIfReady();
  return unseen.empty() ? problem : unseen;
}

std::string Mbarrier::arriveAndDrop(uint32_t count, const Clock &clock) {
  if (count > expected)
    return "drops " + std::to_string(count) + " arrivals of " + std::to_string(expected);
  expected -= count;
  return arrive(count, clock);
}

std::string Mbarrier::expectBytes(int64_t count) {
  bytes += count;
  if (bytes > kMaxCount)
    return std::to_string(bytes) + " transaction bytes in one phase, at most " + std::to_string(kMaxCount) +
           " are possible";
  return completeIfReady();
}

std::string Mbarrier::completeBytes(int64_t count) {
  bytes -= count;
  if (bytes < -kMaxCount)
    return std::to_string(-bytes) + " bytes landed that nobody expects, at most " + std::to_string(kMaxCount) +
           " are possible";
  return completeIfReady();
}

std::string Mbarrier::addPending(uint32_t count) {
  pending += count;
  return pending > kMaxCount ? "over " + std::to_string(kMaxCount) + " pending arrivals" : "";
}

} // namespace headrace::sim
