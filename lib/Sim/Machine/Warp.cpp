// Registers of a warp, and those in flight.
#include "headrace/Sim/Machine/Warp.h"

#include <algorithm>
#include <cstring>

namespace headrace::sim {

Warp::Warp(int index, LaneMask live, size_t numRegisters)
    : index(index), live(live), registers(numRegisters * kLanes), definedLanes(numRegisters), flights(numRegisters) {}

uint64_t *Warp::highCells(ptx::RegId reg) {
  for (auto &[owner, cells] : highHalves)
    if (owner == reg)
      return cells.data();
  highHalves.push_back({reg, {}});
  return highHalves.back().second.data();
}

void Warp::writeLocal(int lane, uint64_t offset, int64_t count, const void *in) {
  size_t end = static_cast<size_t>(offset) + static_cast<size_t>(count);
  if (local[lane].size() < end) {
    local[lane].resize(end);
    localWritten[lane].resize(end);
  }
  std::memcpy(local[lane].data() + offset, in, static_cast<size_t>(count));
  std::memset(localWritten[lane].data() + offset, 1, static_cast<size_t>(count));
}

bool Warp::readLocal(int lane, uint64_t offset, int64_t count, void *out) const {
  bool all = true;
  auto *bytes = static_cast<uint8_t *>(out);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    size_t place = static_cast<size_t>(offset) + i;
    bool written = place < local[lane].size() && localWritten[lane][place];
    bytes[i] = written ? local[lane][place] : 0;
    all &= written;
  }
  return all;
}

uint64_t Warp::digest() const {
  uint64_t hash = live;
  auto mix = [&](uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29); };
  for (size_t place : pc)
    mix(place);
  for (uint64_t cell : registers)
    mix(cell);
  for (const std::vector<uint8_t> &bytes : local)
    for (uint8_t byte : bytes)
      mix(byte);
  return hash;
}

/// Brings `kind` and the count of registers in flight in line with the rest of the state.
void Warp::undefine(ptx::RegId reg, LaneMask lanes) {
  definedLanes[reg] &= ~lanes;
  if (auto found = partlyDefined.find(reg); found != partlyDefined.end())
    for (; lanes; lanes &= lanes - 1)
      found->second[__builtin_ctz(lanes)] = 0;
}

ByteMask Warp::definedBytes(ptx::RegId reg, int lane) const {
  if (definedLanes[reg] >> lane & 1)
    return ~ByteMask(0);
  auto found = partlyDefined.find(reg);
  return found == partlyDefined.end() ? 0 : found->second[lane];
}

void Warp::setDefinedBytes(ptx::RegId reg, int lane, ByteMask bytes, int width) {
  const LaneMask bit = LaneMask(1) << lane;
  const ByteMask all = (1u << width / 8) - 1;
  if ((bytes & all) == all)
    return define(reg, bit);
  definedLanes[reg] &= ~bit;
  partlyDefined.try_emplace(reg).first->second[lane] = bytes & all;
}

void Warp::settle(ptx::RegId reg) {
  FlightState &state = flights[reg];
  bool was = state.kind != Flight::None;
  if (state.operations == 0 && !state.isCopy)
    state.kind = Flight::None;
  numInFlight += (state.kind != Flight::None) - was;
}

void Warp::takeOff(ptx::RegId reg, Flight kind) {
  FlightState &state = flights[reg];
  numInFlight += state.kind == Flight::None;
  state.kind = kind;
  ++state.operations;
  ++state.unperformed;
}

void Warp::arrive(ptx::RegId reg) {
  if (flights[reg].kind != Flight::Operand)
    definedLanes[reg] |= live;
  --flights[reg].unperformed;
  copyArrived(reg);
}

void Warp::land(ptx::RegId reg) {
  --flights[reg].operations;
  settle(reg);
  copyLanded(reg);
}

void Warp::copyArrived(ptx::RegId from) {
  for (Rename &rename : renames) {
    if (rename.from != from || rename.unperformed == 0)
      continue;
    --rename.unperformed;
    std::copy_n(cells(from), kLanes, cells(rename.to));
  }
}

void Warp::copyLanded(ptx::RegId from) {
  for (size_t i = 0; i < renames.size();) {
    Rename &rename = renames[i];
    if (rename.from != from || --rename.unlanded != 0) {
      ++i;
      continue;
    }
    flights[rename.to].isCopy = false;
    settle(rename.to);
    renames.erase(renames.begin() + i);
  }
}

ptx::RegId Warp::originOf(ptx::RegId reg) const {
  for (const Rename &rename : renames)
    if (rename.to == reg)
      return rename.from;
  return reg;
}

void Warp::dropCopy(ptx::RegId reg) {
  renames.erase(std::remove_if(renames.begin(), renames.end(), [&](const Rename &rename) { return rename.to == reg; }),
                renames.end());
  flights[reg].isCopy = false;
  settle(reg);
}

bool Warp::renameInFlight(ptx::RegId from, ptx::RegId to) {
  // A copy that has become the accumulator of an operation of its own is an original from then on.
  ptx::RegId origin = flights[from].operations ? from : originOf(from);
  if (origin == to)
    return true;
  if (flights[to].operations)
    return false;
  dropCopy(to);
  std::copy_n(cells(from), kLanes, cells(to));
  definedLanes[to] |= live;
  renames.push_back({origin, to, flights[origin].unperformed, flights[origin].operations});
  FlightState &state = flights[to];
  numInFlight += state.kind == Flight::None;
  state.kind = flights[origin].kind;
  state.isCopy = true;
  return true;
}

bool Warp::overwrite(ptx::RegId reg) {
  if (flights[reg].operations)
    return false;
  dropCopy(reg);
  return true;
}

} // namespace headrace::sim
