// A kernel decoded for execution, and one launch of it.
#ifndef HEADRACE_SIM_MACHINE_PROGRAM_H
#define HEADRACE_SIM_MACHINE_PROGRAM_H

#include "headrace/Sim/Copies/TensorMap.h"
#include "headrace/Sim/Instructions/Decoder.h"
#include "headrace/Sim/Machine/Engine.h"
#include "headrace/Sim/Machine/GlobalMemory.h"
#include "headrace/Sim/Machine/Output.h"
#include "headrace/Sim/Ptx/Module.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::sim {

/// An instruction ready to run.
struct Decoded {
  Evaluator run;
  Scope scope = Scope::Thread;
  bool touchesFlight = false;
  bool readsUndefined = false;
  std::vector<ptx::RegId> reads;  // registers, for the checks of flight and definedness
  std::vector<ptx::RegId> writes; // and those it only writes
};

/// A function of a module, decoded once for all launches.
class Program {
public:
  /// Without a value `error` names the instruction, its line, and what is not understood.
  static std::optional<Program> decode(const ptx::Module &module, const std::string &kernel, std::string &error);

  const ptx::Module *module = nullptr;
  const ptx::Function *function = nullptr;
  std::vector<Decoded> code; // as function->instructions
  Symbols symbols;
  int64_t sharedBase = 0; // shared addresses start here: the first kilobyte belongs to the system
  int64_t staticSharedBytes = 0;
  /// Global and constant variables, each at the address that its name stands for.
  std::vector<std::pair<const ptx::Variable *, uint64_t>> globals;
  int64_t localBytes = 0; // of a thread: its local variables, and the parameters of its calls
  std::vector<uint64_t> parameterOffsets;
  int64_t parameterBytes = 0;
  /// The chip's number: 90 of "sm_90a".
  int architecture = 0;
};

/// Names for places in shared memory, from the launch record.
struct NamedRange {
  std::string name; // "A", "full of 'A', slot 1"
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// An assert of the kernel, from the launch record.
struct NamedAssert {
  std::string message, file;
  int line = 0;
  int column = 0;
};

struct Launch {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  std::array<uint32_t, 3> cluster = {1, 1, 1};
  int64_t sharedBytes = 0; // dynamic
  std::vector<uint8_t> parameters;
  std::map<uint64_t, TensorMap> tensorMaps; // by offset in the parameters
  GlobalMemory *memory = nullptr;
  Policy policy = Policy::Random;
  Chooser *chooser = nullptr; // for Policy::Chosen; used from one host thread
  uint64_t seed = 0;
  double timeLimit = 0; // seconds without progress before that is reported; 0: 10
  std::vector<NamedRange> names;
  std::vector<std::pair<int, std::string>> roles; // (first warp, name), ascending
  std::vector<NamedAssert> asserts;
  Output *output = nullptr; // null: what is printed is lost
};

} // namespace headrace::sim

#endif
