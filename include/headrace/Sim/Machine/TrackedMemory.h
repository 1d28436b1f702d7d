// Bytes that remember who wrote and who reads them: shared memory and tensor memory.
#ifndef HEADRACE_SIM_MACHINE_TRACKEDMEMORY_H
#define HEADRACE_SIM_MACHINE_TRACKEDMEMORY_H

#include "headrace/Sim/Machine/Clock.h"
#include "headrace/Sim/Machine/Finding.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace headrace::sim {

/// Who accesses memory: what he has seen, through which view, and how others know that he is done.
struct Agent {
  View view = View::Generic;
  SharedClock seen;
  /// His accesses carry this.
  Epoch own;
  /// Of an asynchronous operation: the step at which its thread issued it. It comes after that thread's earlier steps.
  Epoch issuer;
  Origin origin;
  /// What he is, for messages: "thread 12", "TMA load", "wgmma".
  const char *what = "thread";
  /// Whether he comes after the earlier accesses of his component, as a thread does, or a wgmma in its stream. Copies of
  /// one stream, or onto one mbarrier, may land in any order.
  bool isInOrder = true;
};

/// Memory with a shadow. Every access is made, whatever is found: the findings say what was wrong with it.
class TrackedMemory {
public:
  /// `name` is what messages call it ("shared memory"). Requires: bytes a multiple of 16.
  TrackedMemory(std::string name, int64_t bytes, Findings &findings);

  int64_t size() const { return static_cast<int64_t>(data.size()); }

  /// Copies `count` bytes at `offset` out. Requires: inside the memory.
  void read(const Agent &agent, int64_t offset, int64_t count, void *out);
  /// As read, but whether the bytes were ever written is the reader's business: see isWritten.
  void readAny(const Agent &agent, int64_t offset, int64_t count, void *out);
  bool isWritten(int64_t offset, int64_t count) const;
  /// Requires: inside the memory.
  void write(const Agent &agent, int64_t offset, int64_t count, const void *in);
  /// The range is given back: whoever still uses it is accused, as by a write that asks for order only.
  void release(const Agent &agent, int64_t offset, int64_t count);
  /// Forgets the accesses and contents of the range, as after an allocation.
  void forget(int64_t offset, int64_t count);

  /// Adds what a place is used for to messages: " (slot 1 of 'A')".
  std::function<std::string(int64_t offset)> describe;

  /// A number that differs, as a rule, where the contents do.
  uint64_t digest() const;
  /// The bytes as they are, unchecked: for messages and tests.
  const uint8_t *peek(int64_t offset) const { return data.data() + offset; }

private:
  // Accesses are kept for 16 bytes at a time, with a bit for each byte: most accesses are that wide, and bytes written
  // by several threads stay apart.
  struct Access {
    Epoch epoch;
    uint16_t bytes = 0;
    View view = View::Generic;
    Origin origin;
    const char *what = "";
  };
  struct Granule {
    std::vector<Access> writes; // no byte in two of them
    std::vector<Access> reads;  // since those writes
  };

  void noteRead(const Agent &agent, int64_t offset, uint16_t bytes, bool mustBeWritten);
  void noteWrite(const Agent &agent, int64_t offset, uint16_t bytes);
  void accuse(const Agent &agent, FindingKind kind, const char *verb, const Access &access, int64_t offset) const;

  std::string name;
  std::vector<uint8_t> data;
  std::vector<Granule> granules;
  Findings &findings;
};

} // namespace headrace::sim

#endif
