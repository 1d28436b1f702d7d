// Asynchronous operations in flight, and the order in which they come to be done.
//
// An operation is issued by a thread and *performed* at some later moment that the policy chooses: as early as possible,
// as late as possible (only when every thread waits), newest first, or at random. All its reads and writes happen when
// it is performed. Its stream says how a wait finds out.
#ifndef HEADRACE_SIM_MACHINE_ENGINE_H
#define HEADRACE_SIM_MACHINE_ENGINE_H

#include "headrace/Sim/Machine/Clock.h"
#include "headrace/Sim/Machine/TrackedMemory.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <random>
#include <string>
#include <vector>

namespace headrace::sim {

class Cluster;

/// Operations of one issuer that one kind of wait counts: the cp.async of a thread, the bulk stores of a thread, the
/// wgmma of a warpgroup, the tcgen05.mma of a thread, the tcgen05.ld of a warp.
class Stream {
public:
  explicit Stream(Component component) : component(component) {}

  /// The epoch of the `number`-th operation, from 1.
  Epoch epoch(uint32_t number) const { return {component, number}; }
  uint32_t issued() const { return count; }

  /// Closes the open group (commit_group), which may be empty.
  void commitGroup() { groups.push_back(count); }
  /// The last operation of all groups but the `pending` newest; 0 if there is none.
  uint32_t endOfGroups(uint32_t pending) const;
  /// Whether operations 1..`number` are all done.
  bool done(uint32_t number) const;
  /// Operations 1..result are all done.
  uint32_t doneUpTo() const;

private:
  friend class Engine;
  Component component;
  uint32_t count = 0;
  std::vector<uint32_t> groups;     // number of the last operation of each group
  std::vector<uint32_t> unfinished; // sorted
};

/// How an operation that is being performed reaches memory. Everything goes through its agent and is checked.
class AsyncContext {
public:
  AsyncContext(Cluster &cluster, Agent agent) : cluster(cluster), agent(std::move(agent)) {}

  Cluster &cluster;
  Agent agent;

  /// Reads or writes shared memory at a shared::cluster address. Out of bounds is a finding; then reads give zeros.
  void readShared(uint32_t address, int64_t count, void *out);
  void writeShared(uint32_t address, int64_t count, const void *in);
  /// Global memory, by device address. Out of bounds is a finding; then reads give zeros.
  void readGlobal(uint64_t address, int64_t count, void *out);
  void writeGlobal(uint64_t address, int64_t count, const void *in);

  /// From here on the writes belong to the current phase of the mbarrier at shared::cluster address `mbarrier`: whoever
  /// waits for that phase sees them.
  void landOn(uint32_t mbarrier);
  /// complete_tx of `bytes` on the mbarrier.
  void completeTx(uint32_t mbarrier, int64_t bytes);
  /// One arrival on the mbarrier, which passes on `passed`.
  void arrive(uint32_t mbarrier, const Clock &passed);

  void report(FindingKind kind, std::string message);
};

struct AsyncOp {
  std::function<void(AsyncContext &)> perform;
  Agent agent;
  /// For messages: "TMA load of 49152 bytes onto mbarrier 0x34000".
  std::string description;
  Stream *stream = nullptr;
  uint32_t number = 0;
  /// Not performed before this is true; empty: always.
  std::function<bool()> ready;
  /// Operations of one key (not 0) are performed in the order of their issue.
  uint64_t order = 0;
};

enum class Policy { Early, Late, Reversed, Random, Chosen };

/// Decides for Policy::Chosen.
class Chooser {
public:
  virtual ~Chooser() = default;
  /// Every thread waits: which of `count` operations is done next. Result: below `count`.
  virtual size_t choose(const Cluster &cluster, size_t count) = 0;
};

class Engine {
public:
  Engine(Cluster &cluster, Policy policy, uint64_t seed);

  /// Takes an operation. `op.agent.own` need not be set where `stream` is given: it becomes the stream's next epoch.
  /// Under Policy::Early it is performed before this returns. Result: its number in the stream (0 without one).
  uint32_t issue(AsyncOp op, Stream *stream);

  bool idle() const { return pending.empty(); }
  /// Gives the policy a chance: Random may perform something.
  void tick();
  /// Performs one operation; called when no thread can go on. Result: whether there was one that could be.
  bool performOne();
  /// Descriptions of what is in flight, for a deadlock report.
  std::vector<std::string> inFlight() const;
  /// A number that differs, as a rule, where other operations are in flight. The order of their issue does not count.
  uint64_t digest() const;

private:
  void perform(std::list<AsyncOp>::iterator op);
  bool mayPerform(std::list<AsyncOp>::const_iterator op) const;

  Cluster &cluster;
  Policy policy;
  std::mt19937_64 random;
  std::list<AsyncOp> pending;
};

} // namespace headrace::sim

#endif
