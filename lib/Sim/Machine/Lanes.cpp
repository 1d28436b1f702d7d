// What evaluators reach through Lanes: memory, clocks, messages.
#include "headrace/Sim/Machine/Lanes.h"

#include "headrace/Sim/Machine/Hex.h"
#include "headrace/Sim/Machine/Program.h"

#include <cstring>

namespace headrace::sim {

namespace {

/// A lane's own accesses: unlike Lanes::agent this does not start a new step.
Agent accessor(const Lanes &lanes, int lane) {
  Epoch epoch = lanes.epoch(lane);
  return {View::Generic, lanes.state(lane).clock, epoch, epoch, lanes.origin(lane), "thread"};
}

/// The CTA that owns the range, or null after a finding.
Cta *sharedRange(const Lanes &lanes, int lane, const char *verb, uint32_t address, int64_t count, uint32_t &offset) {
  Cta *cta = lanes.cluster.ownerOf(address, offset);
  if (cta && offset + count <= cta->shared.size() && offset >= lanes.cluster.program.sharedBase) {
    if (cta == &lanes.cta || !cta->finished())
      return cta;
    lanes.report(lane, FindingKind::Barrier,
                 std::string(verb) + " shared memory of CTA " + std::to_string(cta->index) + ", which has exited");
    return nullptr;
  }
  lanes.report(lane, FindingKind::OutOfBounds,
               std::string(verb) + " " + std::to_string(count) + " bytes at shared memory " + hexText(address) +
                   ", which goes from " + hexText(lanes.cluster.program.sharedBase) + " to " +
                   hexText(lanes.cta.shared.size()));
  return nullptr;
}

} // namespace

std::array<Warp *, 4> Lanes::warpgroup() const {
  std::array<Warp *, 4> result = {};
  for (int i = 0; i < 4; ++i)
    result[i] = cta.warps[warpgroupIndex() * 4 + i].get();
  return result;
}

void Lanes::loadShared(int lane, uint32_t address, int64_t count, void *out) const {
  uint32_t offset = 0;
  if (Cta *owner = sharedRange(*this, lane, "reads", address, count, offset))
    owner->shared.read(accessor(*this, lane), offset, count, out);
  else
    std::memset(out, 0, count);
}

void Lanes::storeShared(int lane, uint32_t address, int64_t count, const void *in) const {
  uint32_t offset = 0;
  Cta *owner = sharedRange(*this, lane, "writes", address, count, offset);
  if (!owner)
    return;
  auto after = owner->mbarriers.lower_bound(offset);
  bool hitsNext = after != owner->mbarriers.end() && after->first < offset + count;
  bool hitsPrevious = after != owner->mbarriers.begin() && std::prev(after)->first + 8 > offset;
  if (hitsNext || hitsPrevious)
    report(lane, FindingKind::Barrier,
           "writes over " + cluster.nameOfShared(hitsNext ? after->first : std::prev(after)->first) +
               ", which is in use: expected mbarrier.inval first");
  owner->shared.write(accessor(*this, lane), offset, count, in);
  cluster.changed();
}

void Lanes::loadGlobal(int lane, uint64_t address, int64_t count, void *out) const {
  const GlobalMemory &memory = *cluster.launch.memory;
  if (const uint8_t *data = memory.find(address, count)) {
    std::memcpy(out, data, count);
    return;
  }
  std::memset(out, 0, count);
  report(lane, FindingKind::OutOfBounds,
         "reads " + std::to_string(count) + " bytes at " + hexText(address) + ": " + memory.describe(address));
}

void Lanes::storeGlobal(int lane, uint64_t address, int64_t count, const void *in) const {
  const GlobalMemory &memory = *cluster.launch.memory;
  if (uint8_t *data = memory.find(address, count))
    std::memcpy(data, in, count);
  else
    report(lane, FindingKind::OutOfBounds,
           "writes " + std::to_string(count) + " bytes at " + hexText(address) + ": " + memory.describe(address));
  cluster.changed();
}

void Lanes::loadGeneric(int lane, uint64_t address, int64_t count, void *out) const {
  uint64_t low = address & ~kWindowMask;
  switch (address & kWindowMask) {
  case kSharedWindow:
    return loadShared(lane, static_cast<uint32_t>(low), count, out);
  case kParamWindow:
    return loadParam(lane, low, count, out);
  case kLocalWindow:
    return loadLocal(lane, low, count, out);
  default:
    return loadGlobal(lane, address, count, out);
  }
}

void Lanes::storeGeneric(int lane, uint64_t address, int64_t count, const void *in) const {
  if ((address & kWindowMask) == kSharedWindow)
    return storeShared(lane, static_cast<uint32_t>(address & ~kWindowMask), count, in);
  if ((address & kWindowMask) == kLocalWindow)
    return storeLocal(lane, address & ~kWindowMask, count, in);
  storeGlobal(lane, address, count, in);
}

/// Whether the range is within a thread's local memory; a finding if not.
static bool isInLocal(const Lanes &lanes, int lane, const char *verb, uint64_t address, int64_t count) {
  uint64_t size = static_cast<uint64_t>(lanes.cluster.program.localBytes);
  if (address <= size && static_cast<uint64_t>(count) <= size - address)
    return true;
  lanes.report(lane, FindingKind::OutOfBounds,
               std::string(verb) + " " + std::to_string(count) + " bytes at local memory " + hexText(address) +
                   ", of which there are " + std::to_string(size));
  return false;
}

void Lanes::loadLocal(int lane, uint64_t address, int64_t count, void *out) const {
  if (!isInLocal(*this, lane, "reads", address, count))
    std::memset(out, 0, static_cast<size_t>(count));
  else if (!warp.readLocal(lane, address, count, out))
    report(lane, FindingKind::Uninitialised, "reads local memory " + hexText(address) + ", which nobody has written");
}

void Lanes::storeLocal(int lane, uint64_t address, int64_t count, const void *in) const {
  if (isInLocal(*this, lane, "writes", address, count))
    warp.writeLocal(lane, address, count, in);
}

void Lanes::storeParam(int lane, uint64_t address, int64_t count, const void *in) const {
  if ((address & kWindowMask) == kLocalWindow)
    return storeLocal(lane, address & ~kWindowMask, count, in);
  report(lane, FindingKind::OutOfBounds, "writes to a parameter of the kernel");
}

void Lanes::loadParam(int lane, uint64_t address, int64_t count, void *out) const {
  if ((address & kWindowMask) == kLocalWindow)
    return loadLocal(lane, address & ~kWindowMask, count, out);
  const std::vector<uint8_t> &parameters = cluster.launch.parameters;
  if (address <= parameters.size() && static_cast<uint64_t>(count) <= parameters.size() - address) {
    std::memcpy(out, parameters.data() + address, count);
    return;
  }
  std::memset(out, 0, count);
  report(lane, FindingKind::OutOfBounds,
         "reads " + std::to_string(count) + " bytes at parameter byte " + std::to_string(address) + " of " +
             std::to_string(parameters.size()));
}

uint8_t *Lanes::atomicGlobal(int lane, uint64_t address, int64_t count) const {
  const GlobalMemory &memory = *cluster.launch.memory;
  cluster.changed();
  if (uint8_t *data = memory.find(address, count))
    return data;
  report(lane, FindingKind::OutOfBounds,
         "updates " + std::to_string(count) + " bytes at " + hexText(address) + ": " + memory.describe(address));
  return nullptr;
}

Epoch Lanes::epoch(int lane) const { return {cluster.componentOf(cta, thread(lane)), state(lane).step}; }

Agent Lanes::agent(int lane, View view) const {
  Agent result = accessor(*this, lane);
  result.view = view;
  ++state(lane).step; // what the lane does from here on comes after the issue
  return result;
}

Clock &Lanes::clock(int lane) const {
  auto fresh = std::make_shared<Clock>(*state(lane).clock);
  Clock &result = *fresh;
  state(lane).clock = std::move(fresh);
  return result;
}

SharedClock Lanes::release(int lane) const {
  auto result = std::make_shared<Clock>(*state(lane).clock);
  result->generic.raise(epoch(lane));
  ++state(lane).step;
  return result;
}

SharedClock Lanes::snapshot(int lane) const { return release(lane); }

void Lanes::acquire(int lane, const SharedClock &passed) const {
  // The lanes of a warp mostly share a clock and wait for the same barrier: one join serves them all.
  thread_local SharedClock lastClock, lastPassed, lastResult;
  SharedClock &own = state(lane).clock;
  if (own != lastClock || passed != lastPassed) {
    lastClock = own;
    lastPassed = passed;
    lastResult = joined(own, passed);
  }
  own = lastResult;
}

void Lanes::complete(int lane, Epoch epoch) const { clock(lane).complete(epoch); }

void Lanes::completeFor(int lane, Epoch epoch, View view) const {
  Clock &own = clock(lane);
  (view == View::Generic ? own.generic : view == View::Async ? own.async : own.tensor).raise(epoch);
}

Origin Lanes::origin(int lane) const { return {cta.index, thread(lane), &instruction}; }

void Lanes::report(int lane, FindingKind kind, std::string message, std::vector<std::string> notes) const {
  cluster.findings.add({kind, origin(lane), std::move(message), std::move(notes)});
}

} // namespace headrace::sim
