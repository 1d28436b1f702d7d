// A loop's body as a graph for the scheduler: what must come before what, in which trip, and what it costs.
#pragma once

#include "RoleSlice.h"
#include "headrace/Dialect/Pipe/Transforms/OpCosts.h"
#include "headrace/Dialect/Pipe/Transforms/Schedules.h"

#include <string>

namespace headrace::pipe {

/// `to` of a trip comes after `from` of `distance` trips before.
struct LoopEdge {
  unsigned from, to;
  int64_t distance;
  /// A place to cut: the number of the cut that makes `to` wait for the next trip, or -1.
  int cut = -1;
};

/// One op of the body.
struct LoopNode {
  mlir::Operation *op;
  UnitCycles cost;       ///< with what its regions do
  double busy = 0;       ///< cycles that its warps spend on it
  double latency = 0;    ///< of what it starts, beyond the units' cycles
  Role stream;           ///< whose warps do it; of a kernel of one role: compute
  bool anywhere = false; ///< costs nothing, and each role does it for itself
  bool starts = false;   ///< an asynchronous matmul: its warps go on
  bool blocks = false;   ///< waits for a matmul that this loop starts
  unsigned group;        ///< ops that stay in one stage
  int64_t fixed = -1;    ///< the stage that the user wants, or -1
};

/// A value in registers that ops of the body use.
struct LoopValue {
  int64_t registers;
  unsigned maker;
  /// Who uses it, and how many trips after it was made.
  llvm::SmallVector<std::pair<unsigned, int64_t>> uses;
};

/// The graph of one loop, built once.
class LoopGraph {
public:
  LoopGraph(mlir::scf::ForOp loop, bool specialized, const UnitModel &model);

  /// Why the loop cannot be cut; empty if it can. Then nothing else may be asked.
  std::string refusal;
  /// The op that refusal is about.
  mlir::Operation *culprit = nullptr;

  llvm::SmallVector<LoopNode, 0> nodes; ///< in an order in which the body can run
  llvm::SmallVector<LoopEdge, 0> edges;
  unsigned numGroups = 0;
  llvm::SmallVector<LoopValue, 0> values;
  int64_t registersFromOutside = 0; ///< of values that the loop only uses
  /// Whether threads store to global memory or meet at barriers.
  bool meetsOthers = false;
  /// What each cut is: "what reads the product at line 7", "the matmul at line 9".
  llvm::SmallVector<std::string> cuts;

  /// Cycles of a trip that each unit is busy.
  UnitCycles total() const;
  /// The op of the body that makes a value, and how many trips before; nothing for what comes from outside.
  struct Maker {
    unsigned node;
    int64_t distance;
  };
  std::optional<Maker> findMaker(mlir::Value value) const;

private:
  void addNodes(bool specialized, const UnitModel &model);
  void addValues();
  void addRegisters();
  void addReaders();
  void addSlots();
  bool addRings();
  void addEffects();
  void addCuts();
  void joinSlot(mlir::Operation *begin, mlir::Operation *end, mlir::ValueRange buffers);
  void join(mlir::Operation *first, mlir::Operation *second);
  void order(mlir::Operation *first, mlir::Operation *second, int64_t distance = 0);
  unsigned find(unsigned group);
  void numberGroups();
  bool mustFollow(unsigned later, unsigned first) const;
  bool refuse(mlir::Operation *op, llvm::StringRef why);
  unsigned indexOf(mlir::Operation *op) const { return numbers.lookup(op); }

  mutable mlir::scf::ForOp loop; ///< getters of ops are not const
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  llvm::SmallVector<unsigned> parents; ///< of groups, while they are joined
};

} // namespace headrace::pipe
