// Who may read and write what: the race detector. Clock.h has the idea.
#include "headrace/Sim/Machine/TrackedMemory.h"

#include "headrace/Sim/Machine/Hex.h"

#include <algorithm>
#include <cstring>

namespace headrace::sim {

namespace {

constexpr int64_t kGranule = 16;

/// Bits of the bytes [first, last) of a granule.
uint16_t bytesBetween(int64_t first, int64_t last) {
  return static_cast<uint16_t>(((1u << last) - 1) & ~((1u << first) - 1));
}

/// Calls `body(offset of the granule, bytes of it)` for each granule of a range.
template <typename Body> void forEachGranule(int64_t offset, int64_t count, Body body) {
  for (int64_t at = offset / kGranule * kGranule; at < offset + count; at += kGranule)
    body(at, bytesBetween(std::max(offset, at) - at, std::min(offset + count, at + kGranule) - at));
}

/// Whether `epoch` is one of the agent's own component that it comes after without any clock.
bool isOwn(const Agent &agent, Epoch epoch) {
  return agent.isInOrder && epoch.component == agent.own.component && epoch.number <= agent.own.number;
}

/// Whether `epoch` is before everything that `agent` does.
bool isOrdered(const Agent &agent, Epoch epoch) {
  return isOwn(agent, epoch) || (epoch.component == agent.issuer.component && epoch.number <= agent.issuer.number) ||
         agent.seen->generic.has(epoch) || (agent.view == View::Tensor && agent.seen->tensor.has(epoch));
}

/// Requires: isOrdered. Whether what was done in view `view` can also be seen by the agent.
bool isVisible(const Agent &agent, Epoch epoch, View view) {
  if (isOwn(agent, epoch))
    return true;
  if (agent.view == View::Tensor)
    return agent.seen->tensor.has(epoch);
  return agent.view == View::Generic || view == View::Async || agent.seen->async.has(epoch);
}

FindingKind missingFence(const Agent &agent) {
  return agent.view == View::Tensor ? FindingKind::MissingTensorFence : FindingKind::MissingProxyFence;
}

} // namespace

TrackedMemory::TrackedMemory(std::string name, int64_t bytes, Findings &findings)
    : name(std::move(name)), data(bytes, 0xFF), granules(bytes / kGranule), findings(findings) {}

void TrackedMemory::read(const Agent &agent, int64_t offset, int64_t count, void *out) {
  forEachGranule(offset, count, [&](int64_t at, uint16_t bytes) { noteRead(agent, at, bytes, true); });
  std::memcpy(out, data.data() + offset, count);
}

void TrackedMemory::readAny(const Agent &agent, int64_t offset, int64_t count, void *out) {
  forEachGranule(offset, count, [&](int64_t at, uint16_t bytes) { noteRead(agent, at, bytes, false); });
  std::memcpy(out, data.data() + offset, count);
}

bool TrackedMemory::isWritten(int64_t offset, int64_t count) const {
  bool result = true;
  forEachGranule(offset, count, [&](int64_t at, uint16_t bytes) {
    for (const Access &write : granules[at / kGranule].writes)
      bytes &= ~write.bytes;
    result &= bytes == 0;
  });
  return result;
}

void TrackedMemory::write(const Agent &agent, int64_t offset, int64_t count, const void *in) {
  forEachGranule(offset, count, [&](int64_t at, uint16_t bytes) { noteWrite(agent, at, bytes); });
  std::memcpy(data.data() + offset, in, count);
}

void TrackedMemory::release(const Agent &agent, int64_t offset, int64_t count) {
  forEachGranule(offset, count, [&](int64_t at, uint16_t bytes) {
    for (const std::vector<Access> *accesses : {&granules[at / kGranule].writes, &granules[at / kGranule].reads})
      for (const Access &access : *accesses)
        if (access.bytes & bytes && !isOrdered(agent, access.epoch))
          accuse(agent, FindingKind::Overwrite, "frees", access, at);
  });
}

void TrackedMemory::forget(int64_t offset, int64_t count) {
  forEachGranule(offset, count, [&](int64_t at, uint16_t) { granules[at / kGranule] = {}; });
  std::memset(data.data() + offset, 0xFF, count);
}

uint64_t TrackedMemory::digest() const {
  uint64_t hash = 0;
  for (size_t i = 0; i + 8 <= data.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, data.data() + i, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u + (hash >> 29);
  }
  return hash;
}

void TrackedMemory::noteRead(const Agent &agent, int64_t offset, uint16_t bytes, bool mustBeWritten) {
  Granule &granule = granules[offset / kGranule];
  uint16_t unwritten = bytes;
  for (const Access &write : granule.writes) {
    if (!(write.bytes & bytes))
      continue;
    unwritten &= ~write.bytes;
    if (!isOrdered(agent, write.epoch))
      accuse(agent, FindingKind::ReadBeforeLanded, "reads", write, offset);
    else if (!isVisible(agent, write.epoch, write.view))
      accuse(agent, missingFence(agent), "reads", write, offset);
  }
  if (unwritten && mustBeWritten) {
    Access nobody;
    accuse(agent, FindingKind::Uninitialised, "reads", nobody, offset);
    granule.writes.push_back({{}, unwritten, agent.view, agent.origin, "nobody"}); // say it once
  }
  for (Access &read : granule.reads) {
    if (read.epoch.component != agent.own.component)
      continue;
    if (read.epoch.number == agent.own.number || !(read.bytes & ~bytes)) {
      read.bytes |= bytes;
      read.epoch = agent.own;
      read.origin = agent.origin;
      return;
    }
  }
  granule.reads.push_back({agent.own, bytes, agent.view, agent.origin, agent.what});
}

void TrackedMemory::noteWrite(const Agent &agent, int64_t offset, uint16_t bytes) {
  Granule &granule = granules[offset / kGranule];
  auto release = [&](std::vector<Access> &accesses, FindingKind unordered, const char *fenced) {
    for (size_t i = 0; i < accesses.size();) {
      Access &earlier = accesses[i];
      if (earlier.bytes & bytes) {
        if (!isOrdered(agent, earlier.epoch))
          accuse(agent, unordered, "writes", earlier, offset);
        else if (!isVisible(agent, earlier.epoch, earlier.view))
          accuse(agent, missingFence(agent), fenced, earlier, offset);
        earlier.bytes &= ~bytes;
      }
      if (earlier.bytes) {
        ++i;
      } else {
        accesses[i] = accesses.back();
        accesses.pop_back();
      }
    }
  };
  release(granule.reads, FindingKind::Overwrite, "overwrites");
  release(granule.writes, FindingKind::UnorderedWrites, "writes");
  for (Access &write : granule.writes) {
    if (write.epoch.component == agent.own.component && write.epoch.number == agent.own.number &&
        write.origin.instruction == agent.origin.instruction) {
      write.bytes |= bytes;
      return;
    }
  }
  granule.writes.push_back({agent.own, bytes, agent.view, agent.origin, agent.what});
}

void TrackedMemory::accuse(const Agent &agent, FindingKind kind, const char *verb, const Access &access,
                           int64_t offset) const {
  auto who = [](const char *what, const Origin &origin) {
    return std::string(what) + (std::strcmp(what, "thread") ? " of thread " : " ") + std::to_string(origin.thread);
  };
  std::string text = who(agent.what, agent.origin) + " " + verb + " " + name + " " + hexText(offset);
  if (describe)
    text += describe(offset);
  std::vector<std::string> notes;
  switch (kind) {
  case FindingKind::Uninitialised:
    text += ", which nobody has written";
    break;
  case FindingKind::ReadBeforeLanded:
    text += ", which " + who(access.what, access.origin) + " writes, with no wait between";
    break;
  case FindingKind::Overwrite:
    text += ", which " + who(access.what, access.origin) +
            (std::strcmp(verb, "frees") ? " may still be reading" : " may still be using");
    break;
  case FindingKind::UnorderedWrites:
    text += ", which " + who(access.what, access.origin) + " writes too, with nothing between";
    break;
  case FindingKind::MissingTensorFence:
    text += " after " + who(access.what, access.origin) + " without tcgen05.wait or tcgen05.fence between";
    break;
  default:
    text += ", which " + who(access.what, access.origin) + (std::strcmp(verb, "overwrites") ? " wrote" : " read") +
            ", without fence.proxy.async between";
  }
  if (access.origin.instruction)
    notes.push_back("the other access is " + describePlace(*access.origin.instruction));
  findings.add({kind, agent.origin, std::move(text), std::move(notes)});
}

} // namespace headrace::sim
