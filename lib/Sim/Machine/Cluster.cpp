// CTAs and clusters: what they own and how addresses find it.
#include "headrace/Sim/Machine/Cluster.h"

#include "Scheduler.h"
#include "headrace/Sim/Machine/Program.h"

#include <algorithm>
#include <cstdio>

namespace headrace::sim {

namespace {

constexpr uint32_t kRankShift = 24; // hardware.md section 3: rank << 24 | offset
constexpr int kFirstWithTensorMemory = 100;

std::array<uint32_t, 3> coordinatesOf(int index, const std::array<uint32_t, 3> &grid) {
  uint32_t i = static_cast<uint32_t>(index);
  return {i % grid[0], i / grid[0] % grid[1], i / grid[0] / grid[1]};
}

int threadsOf(const Launch &launch) { return static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]); }

LaneMask lanesOfWarp(int warp, int threads) {
  int lanes = std::min(kLanes, threads - warp * kLanes);
  return lanes == kLanes ? ~LaneMask(0) : (LaneMask(1) << lanes) - 1;
}

} // namespace

Cta::Cta(int index, std::array<uint32_t, 3> coordinates, uint32_t rank, int64_t sharedBytes, bool hasTensorMemory,
         Findings &findings)
    : index(index), coordinates(coordinates), rank(rank),
      shared("shared memory", (sharedBytes + 15) / 16 * 16, findings) {
  if (hasTensorMemory)
    tensor = std::make_unique<TrackedMemory>("tensor memory", kTensorLanes * kTensorColumns * 4, findings);
}

bool Cta::finished() const {
  return std::all_of(warps.begin(), warps.end(), [](const auto &warp) { return warp->live == 0; });
}

const Stream *Cta::findStream(StreamKind kind, int owner) const {
  auto it = streams.find({kind, owner});
  return it == streams.end() ? nullptr : it->second.get();
}

Cluster::Cluster(const Program &program, const Launch &launch, int first, uint64_t seed, Findings &findings)
    : program(program), launch(launch), findings(findings), engine(*this, launch.policy, seed) {
  int threads = threadsOf(launch);
  uint32_t size = launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
  components = size * threads;
  std::array<uint32_t, 3> clusters;
  for (int i = 0; i < 3; ++i)
    clusters[i] = launch.grid[i] / launch.cluster[i];
  std::array<uint32_t, 3> origin = coordinatesOf(first / static_cast<int>(size), clusters);
  for (uint32_t rank = 0; rank < size; ++rank) {
    std::array<uint32_t, 3> within = coordinatesOf(static_cast<int>(rank), launch.cluster);
    std::array<uint32_t, 3> at;
    for (int i = 0; i < 3; ++i)
      at[i] = origin[i] * launch.cluster[i] + within[i];
    int index = static_cast<int>((at[2] * launch.grid[1] + at[1]) * launch.grid[0] + at[0]);
    auto cta =
        std::make_unique<Cta>(index, at, rank, program.sharedBase + program.staticSharedBytes + launch.sharedBytes,
                              program.architecture >= kFirstWithTensorMemory && program.architecture < 120, findings);
    for (int warp = 0; warp * kLanes < threads; ++warp)
      cta->warps.push_back(
          std::make_unique<Warp>(warp, lanesOfWarp(warp, threads), program.function->registers.size()));
    cta->shared.describe = [this](int64_t offset) {
      std::string name = nameOfRange(offset);
      return name.empty() ? name : " (" + name + ")";
    };
    ctas.push_back(std::move(cta));
  }
  scheduler = std::make_unique<Scheduler>(*this, seed);
}

Cluster::~Cluster() = default;

Cluster::State Cluster::run(uint64_t steps) { return scheduler->run(steps); }

Component Cluster::componentOf(const Cta &cta, int thread) const {
  return cta.rank * static_cast<uint32_t>(threadsOf(launch)) + static_cast<uint32_t>(thread);
}

Stream &Cluster::stream(Cta &cta, StreamKind kind, int owner) {
  std::unique_ptr<Stream> &stream = cta.streams[{kind, owner}];
  if (!stream)
    stream = std::make_unique<Stream>(newComponent());
  return *stream;
}

Cta *Cluster::ownerOf(uint32_t address, uint32_t &offset) {
  uint32_t rank = address >> kRankShift;
  offset = address & ((1u << kRankShift) - 1);
  return rank < ctas.size() ? ctas[rank].get() : nullptr;
}

Mbarrier *Cluster::mbarrierAt(uint32_t address) {
  uint32_t offset = 0;
  Cta *cta = ownerOf(address, offset);
  if (!cta)
    return nullptr;
  auto it = cta->mbarriers.find(offset);
  return it == cta->mbarriers.end() ? nullptr : &it->second;
}

uint64_t Cluster::digest() const {
  uint64_t hash = engine.digest();
  auto mix = [&](uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29); };
  for (const auto &cta : ctas) {
    for (const auto &warp : cta->warps)
      mix(warp->digest());
    mix(cta->shared.digest());
    if (cta->tensor)
      mix(cta->tensor->digest());
    for (const auto &[offset, barrier] : cta->mbarriers) {
      mix(barrier.phase() << 32 | barrier.pendingArrivals());
      mix(static_cast<uint64_t>(barrier.pendingBytes()));
    }
  }
  return hash;
}

std::string Cluster::nameOfRange(int64_t offset) const {
  for (const NamedRange &range : launch.names)
    if (offset >= range.offset + program.sharedBase && offset < range.offset + range.bytes + program.sharedBase)
      return range.name;
  return "";
}

std::string Cluster::nameOfShared(uint32_t address) const {
  char text[40];
  std::snprintf(text, sizeof text, "mbarrier 0x%x", address);
  std::string name = nameOfRange(address & ((1u << kRankShift) - 1));
  return name.empty() ? text : std::string(text) + " (" + name + ")";
}

} // namespace headrace::sim
