// What the evaluator of an instruction sees: the lanes of one warp that execute it, and everything they can reach.
#ifndef HEADRACE_SIM_MACHINE_LANES_H
#define HEADRACE_SIM_MACHINE_LANES_H

#include "headrace/Sim/Machine/Cluster.h"
#include "headrace/Sim/Machine/Warp.h"

#include <cstdint>
#include <string>

namespace headrace::sim {

/// How an evaluator ended. Blocked: it changed nothing, and is to be run again when something has changed.
enum class Step { Done, Blocked };

class Lanes {
public:
  Lanes(Cluster &cluster, Cta &cta, Warp &warp, LaneMask mask, const ptx::Instruction &instruction)
      : cluster(cluster), cta(cta), warp(warp), mask(mask), instruction(instruction) {}

  Cluster &cluster;
  Cta &cta;
  Warp &warp;
  /// Those that execute the instruction: converged here, and with a true guard.
  const LaneMask mask;
  const ptx::Instruction &instruction;

  /// Calls `body(lane)` for each lane of the mask, in order.
  template <typename Body> void forEach(Body body) const {
    for (LaneMask rest = mask; rest; rest &= rest - 1)
      body(__builtin_ctz(rest));
  }
  bool active(int lane) const { return mask >> lane & 1; }
  /// The lowest lane of the mask. Requires: mask is not 0.
  int leader() const { return __builtin_ctz(mask); }

  /// Index of a lane's thread within the CTA.
  int thread(int lane) const { return warp.index * kLanes + lane; }
  /// The four warps of this warp's warpgroup, of which instructions of Scope::Warpgroup execute all lanes.
  std::array<Warp *, 4> warpgroup() const;
  int warpgroupIndex() const { return warp.index / 4; }

  // Control flow. Without a call the lanes go on to the next instruction.
  void jump(int lane, size_t target) const { warp.pc[lane] = target; }
  void exit(int lane) const { warp.live &= ~(LaneMask(1) << lane); }

  // Memory, checked. A finding is reported and reads give zeros where an access is not possible.
  // Addresses are state-space addresses; `loadGeneric` and `storeGeneric` find the space by the address.
  void loadShared(int lane, uint32_t address, int64_t count, void *out) const;
  void storeShared(int lane, uint32_t address, int64_t count, const void *in) const;
  void loadGlobal(int lane, uint64_t address, int64_t count, void *out) const;
  void storeGlobal(int lane, uint64_t address, int64_t count, const void *in) const;
  void loadGeneric(int lane, uint64_t address, int64_t count, void *out) const;
  void storeGeneric(int lane, uint64_t address, int64_t count, const void *in) const;
  /// Of the kernel, or of a call: those have generic addresses, in local memory.
  void loadParam(int lane, uint64_t address, int64_t count, void *out) const;
  void storeParam(int lane, uint64_t address, int64_t count, const void *in) const;
  void loadLocal(int lane, uint64_t address, int64_t count, void *out) const;
  void storeLocal(int lane, uint64_t address, int64_t count, const void *in) const;
  /// The bytes of an atomic operation, to be used under GlobalMemory::atomicMutex; null after a finding.
  uint8_t *atomicGlobal(int lane, uint64_t address, int64_t count) const;

  // Clocks.
  ThreadState &state(int lane) const { return warp.threads[lane]; }
  Epoch epoch(int lane) const;
  /// An asynchronous operation that the lane issues now: it has seen what the lane has, and what the lane does from here
  /// on comes after.
  Agent agent(int lane, View view = View::Generic) const;
  /// What a release passes on: the lane's clock with its own step; the lane then goes on to its next step.
  SharedClock release(int lane) const;
  /// What an asynchronous operation issued now has seen, as one clock: for operations that several lanes issue together.
  SharedClock snapshot(int lane) const;
  void acquire(int lane, const SharedClock &passed) const;
  /// The lane has seen the stream's operations 1..number complete: in the generic and the async view.
  void complete(int lane, Epoch epoch) const;
  /// The same in one view only: what cp.async and tcgen05.wait give.
  void completeFor(int lane, Epoch epoch, View view) const;
  /// The lane's clock, for changes. Whoever holds the old one keeps it.
  Clock &clock(int lane) const;

  // Asynchronous operations.
  Stream &stream(StreamKind kind, int owner) const { return cluster.stream(cta, kind, owner); }

  // Messages.
  Origin origin(int lane) const;
  void report(int lane, FindingKind kind, std::string message, std::vector<std::string> notes = {}) const;
  /// Why the evaluator returns Step::Blocked; `reason()` makes the text and is called only if it is wanted.
  template <typename Reason> Step waits(Reason reason) const {
    if (explanation)
      *explanation = reason();
    return Step::Blocked;
  }
  std::string *explanation = nullptr;
};

// Generic addresses (cvta): windows of the 64-bit address space.
inline constexpr uint64_t kSharedWindow = 0x0001'0000'0000'0000;
inline constexpr uint64_t kParamWindow = 0x0002'0000'0000'0000;
inline constexpr uint64_t kLocalWindow = 0x0003'0000'0000'0000;
inline constexpr uint64_t kWindowMask = 0xFFFF'0000'0000'0000;

} // namespace headrace::sim

#endif
