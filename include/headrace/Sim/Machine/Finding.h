// What the simulator accuses a program of, and the list that collects it.
#ifndef HEADRACE_SIM_MACHINE_FINDING_H
#define HEADRACE_SIM_MACHINE_FINDING_H

#include "headrace/Sim/Ptx/Module.h"

#include <mutex>
#include <string>
#include <vector>

namespace headrace::sim {

enum class FindingKind {
  Assert,             // a condition that the kernel checks is false
  ReadBeforeLanded,   // of data that an asynchronous operation has not brought, or another thread not written, yet
  Overwrite,          // of data that somebody may still read
  UnorderedWrites,    // two writes of the same bytes with nothing between them
  MissingProxyFence,  // ordered, but not visible to the async proxy
  MissingTensorFence, // ordered, but without tcgen05.fence or tcgen05.wait
  RegisterInFlight,   // accumulator or tcgen05.ld result touched before its wait
  Barrier,            // arrive count, transaction bytes, re-initialisation, use before init, exit under a peer's arrive
  Deadlock,           // nobody can go on
  Divergence,         // a warp-wide instruction reached by part of the warp
  TensorMemory,       // leaked, freed twice, not allocated, too much
  Uninitialised,      // read of shared memory, tensor memory or a register that nobody wrote
  OutOfBounds,
  Misaligned,
  Operand, // a value the ISA forbids: wait count, descriptor, tensor coordinates, ...
  TimeLimit,
};

/// The kind as the report and `--check` name it: "read-before-landed".
const char *nameOf(FindingKind kind);

/// A thread of the grid, and the instruction it was at.
struct Origin {
  int cta = 0;    // linear index in the grid
  int thread = 0; // linear index in the CTA
  const ptx::Instruction *instruction = nullptr;
};

/// "PTX line 164, stmatrix.sync.aligned.m8n8.x4.shared.b16, from gemm.mlir:44:5" for notes.
std::string describePlace(const ptx::Instruction &instruction);

struct Finding {
  FindingKind kind = FindingKind::Operand;
  Origin origin;
  std::string message; // one line, in the tone of the compiler's errors
  std::vector<std::string> notes;
};

/// Findings of a run, each (kind, instruction) once with a count. Safe for use by many threads.
class Findings {
public:
  struct Entry {
    Finding finding;
    uint64_t count = 1;
  };

  void add(Finding finding);
  bool empty() const;
  /// In the order of kinds, then of PTX lines.
  std::vector<Entry> sorted() const;

private:
  mutable std::mutex mutex;
  std::vector<Entry> entries;
};

} // namespace headrace::sim

#endif
