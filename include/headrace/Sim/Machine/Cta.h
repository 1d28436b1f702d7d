// One CTA: warps, shared memory, tensor memory, barriers.
#ifndef HEADRACE_SIM_MACHINE_CTA_H
#define HEADRACE_SIM_MACHINE_CTA_H

#include "headrace/Sim/Machine/Engine.h"
#include "headrace/Sim/Machine/Mbarrier.h"
#include "headrace/Sim/Machine/TrackedMemory.h"
#include "headrace/Sim/Machine/Warp.h"

#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace headrace::sim {

/// Who owns a stream of asynchronous operations.
enum class StreamKind {
  CpAsync,     // a thread
  Bulk,        // a thread: bulk and tensor stores, for cp.async.bulk.wait_group
  Wgmma,       // a warpgroup
  TensorCore,  // a thread: tcgen05.mma, cp, shift, for tcgen05.commit
  TensorLoad,  // a warp: tcgen05.ld
  TensorStore, // a warp: tcgen05.st
};

/// A barrier that threads arrive on and wait for: bar.sync, barrier.cluster.
struct ThreadBarrier {
  uint32_t arrived = 0;  // threads, of this use
  uint32_t expected = 0; // 0: as many as there are
  uint64_t uses = 0;     // completed
  Clock gathering;
  SharedClock passed = std::make_shared<Clock>();
  /// For each waiting (CTA rank, thread): the number of completed uses that lets it go on.
  std::map<std::pair<uint32_t, int>, uint64_t> waiting;
};

/// Registers of a warpgroup that a wgmma writes or still reads.
struct WgmmaInFlight {
  uint32_t number = 0;               // in the warpgroup's stream
  std::vector<ptx::RegId> registers; // accumulators, then those of A
  const ptx::Instruction *instruction = nullptr;
};

/// What wgmma.fence has put in order for a warpgroup (Sim/Matrix/WgmmaOrder.h): the contents of registers, as digests,
/// when it was executed and when accumulators landed since.
struct WgmmaOrder {
  bool fenced = false;                          // at all
  bool landedSince = false;                     // some accumulators, since the fence
  std::array<std::vector<uint64_t>, 4> ordered; // by warp and register
  std::array<std::vector<uint64_t>, 4> landed;  // by warp: of accumulators that landed since the fence
};

/// What tcgen05.alloc has given out: columns [first, first + count).
struct TensorColumns {
  int first = 0;
  int count = 0;
  const ptx::Instruction *allocated = nullptr;
};

struct TensorAllocator {
  std::vector<TensorColumns> live;
  int last = 512; // columns of the last allocation, which the next must not exceed (PTX ISA 9.7.16.7.1)
  bool relinquished = false;
};

class Cta {
public:
  static constexpr int kNamedBarriers = 16;
  static constexpr int kTensorLanes = 128;
  static constexpr int kTensorColumns = 512; // of 4 bytes

  Cta(int index, std::array<uint32_t, 3> coordinates, uint32_t rank, int64_t sharedBytes, bool hasTensorMemory,
      Findings &findings);

  const int index;                           // linear, in the grid
  const std::array<uint32_t, 3> coordinates; // %ctaid
  const uint32_t rank;                       // in the cluster
  std::vector<std::unique_ptr<Warp>> warps;

  TrackedMemory shared;
  /// Byte (lane * 512 + column) * 4 + b. Null before sm_100.
  std::unique_ptr<TrackedMemory> tensor;
  TensorAllocator tensorAllocator;

  std::map<uint32_t, Mbarrier> mbarriers; // by offset in shared memory
  std::array<ThreadBarrier, kNamedBarriers> barriers;
  std::map<int, std::vector<WgmmaInFlight>> wgmmaInFlight; // by warpgroup
  std::map<int, WgmmaOrder> wgmmaOrder;                    // by warpgroup
  std::map<int, std::vector<ptx::RegId>> tensorLoads;      // by warp: what tcgen05.ld writes, until tcgen05.wait::ld

  bool finished() const;
  /// A stream that Cluster::stream has made, or null.
  const Stream *findStream(StreamKind kind, int owner) const;

private:
  friend class Cluster;
  std::map<std::pair<StreamKind, int>, std::unique_ptr<Stream>> streams;
};

} // namespace headrace::sim

#endif
