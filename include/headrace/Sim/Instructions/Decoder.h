// From a parsed instruction to something that runs.
//
// An opcode family is a factory: it looks at the opcode's parts and the operands once, and returns an evaluator, a
// function that runs the instruction for the lanes that reach it:
//
//   registry.add("not", [](Decoder &decode) -> Evaluator {
//     Dest d = decode.dest(0);
//     Source a = decode.source(1);
//     uint64_t mask = lowBits(decode.bits());
//     return [=](Lanes &lanes) {
//       lanes.forEach([&](int lane) { d.set(lanes, lane, ~a(lanes, lane) & mask); });
//       return Step::Done;
//     };
//   });
//
// A new instruction is one such evaluator, with the ISA section it follows and a program for it in test/Sim.
#ifndef HEADRACE_SIM_INSTRUCTIONS_DECODER_H
#define HEADRACE_SIM_INSTRUCTIONS_DECODER_H

#include "headrace/Sim/Machine/Lanes.h"
#include "headrace/Sim/Ptx/Module.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::sim {

using Evaluator = std::function<Step(Lanes &)>;

/// Who must be there for an instruction to run. A warp-wide instruction waits until all live lanes of its warp are at
/// it; a warpgroup-wide one until all lanes of four warps are, and is then run once, with the lanes of the first warp.
enum class Scope { Thread, Warp, Warpgroup };

/// A value that an operand gives to each lane.
class Source {
public:
  enum class Kind { Constant, Register, Predicate, Shared, Special };

  /// The low 64 bits; of floats the bit pattern.
  uint64_t operator()(const Lanes &lanes, int lane) const {
    if (kind == Kind::Register)
      return lanes.warp.cells(reg)[lane];
    if (kind == Kind::Constant)
      return bits;
    return other(lanes, lane);
  }
  uint64_t high(const Lanes &lanes, int lane) const; // of a 128-bit register
  bool isRegister() const { return kind == Kind::Register || kind == Kind::Predicate; }
  ptx::RegId registerId() const { return reg; }

private:
  friend class Decoder;
  uint64_t other(const Lanes &lanes, int lane) const;

  Kind kind = Kind::Constant;
  ptx::RegId reg = 0;
  bool negated = false;
  uint64_t bits = 0; // constant, offset in shared memory, or number of the special register
};

/// Where an operand puts a value. A sink takes it and forgets it.
class Dest {
public:
  void set(Lanes &lanes, int lane, uint64_t value) const {
    if (sink)
      return;
    lanes.warp.cells(reg)[lane] = value & mask;
    lanes.warp.define(reg, LaneMask(1) << lane);
  }
  void setHigh(Lanes &lanes, int lane, uint64_t value) const; // of a 128-bit register
  bool isSink() const { return sink; }
  ptx::RegId registerId() const { return reg; }
  int bits() const { return width; }

private:
  friend class Decoder;
  ptx::RegId reg = 0;
  uint64_t mask = ~uint64_t(0);
  int width = 64;
  bool sink = false;
};

/// The address an operand like [%r1+16] names for each lane.
class AddressSource {
public:
  uint64_t operator()(const Lanes &lanes, int lane) const { return base(lanes, lane) + static_cast<uint64_t>(offset); }

private:
  friend class Decoder;
  Source base;
  int64_t offset = 0;
};

/// Where the variables and parameters of a program are, and what functions it knows.
struct Symbols {
  struct Place {
    ptx::Space space = ptx::Space::Shared;
    bool isParameter = false;
    uint64_t offset = 0; // in shared or local memory, in the parameters; of all others: the generic address
  };
  std::map<std::string, Place> places;
  std::map<std::string, const ptx::ExternalFunction *> functions; // that calls may name
};

class Decoder {
public:
  Decoder(const ptx::Instruction &instruction, const ptx::Function &function, const Symbols &symbols)
      : instruction(instruction), function(function), symbols(symbols) {}

  const ptx::Instruction &instruction;
  const ptx::Function &function;
  const Symbols &symbols;

  // The opcode. Part 0 is the family.
  size_t numParts() const { return instruction.opcode.size(); }
  /// "" past the end.
  std::string_view part(size_t index) const;
  std::string_view lastPart() const { return part(numParts() - 1); }
  /// Whether a part is exactly this: has("x4").
  bool has(std::string_view part) const;
  /// Width of the type in the last part: 32 for "u32", "f32", "b32"; 1 for "pred"; 128 for "b128". Fails for others.
  int bits();

  // Operands. A wrong kind, or none at that place, is a failure; the result is then a default that does no harm.
  size_t numOperands() const { return instruction.operands.size(); }
  Source source(size_t index);
  Source source(const ptx::Operand &operand);
  Dest dest(size_t index);
  Dest dest(const ptx::Operand &operand);
  /// The elements of {a, b, ...}; a single operand counts as a vector of one.
  std::vector<Source> sources(size_t index);
  std::vector<Dest> dests(size_t index);
  AddressSource address(size_t index);
  /// The operands in [base, ...], the base first: [map, {c0, c1}] gives two, the second a vector.
  const std::vector<ptx::Operand> &insideAddress(size_t index);
  /// A constant.
  int64_t integer(size_t index);
  size_t label(size_t index);

  // What else there is to say.
  /// Who must be there; Thread if nothing is said.
  void executedBy(Scope value) { scope = value; }
  /// The evaluator looks after registers in flight itself (mov, wgmma); otherwise touching one is a finding.
  void mayTouchFlight() { touchesFlight = true; }
  /// The evaluator copes with undefined registers (mov, selp); otherwise reading one is a finding.
  void mayReadUndefined() { readsUndefined = true; }

  /// The instruction cannot be run: `message` says why. The first failure counts.
  void fail(std::string message);
  bool failed() const { return !error.empty(); }

  std::string error;
  Scope scope = Scope::Thread;
  bool touchesFlight = false;
  bool readsUndefined = false;
};

/// Families by the first part of the opcode.
class Registry {
public:
  using Factory = Evaluator (*)(Decoder &);

  void add(const std::string &family, Factory factory) { factories[family] = factory; }
  Factory find(const std::string &family) const;
  /// All that this simulator executes.
  static const Registry &all();

private:
  std::map<std::string, Factory> factories;
};

// Each in a folder of lib/Sim.
void addScalarInstructions(Registry &registry);       // Scalar: arithmetic, conversions, control, loads, atomics
void addSynchronization(Registry &registry);          // Machine: barriers, mbarriers, fences
void addCopyInstructions(Registry &registry);         // Copies: cp.async, bulk and tensor copies
void addMatrixInstructions(Registry &registry);       // Matrix: ldmatrix, stmatrix, mma, wgmma
void addTensorMemoryInstructions(Registry &registry); // TensorMemory: tcgen05, cluster launch control

} // namespace headrace::sim

#endif
