// What the units of one multiprocessor do in a cycle, and how long their results take: the numbers behind schedules and
// reports. A model, not a simulator: within a few tens of percent, which is enough to tell what binds.
#ifndef HEADRACE_TARGET_UNITMODEL_H
#define HEADRACE_TARGET_UNITMODEL_H

#include "headrace/Target/TargetInfo.h"

#include <array>

namespace headrace {

/// The units whose cycles are counted.
enum class Unit { Tensor, Copy, Shared, Special, Alu };
constexpr int kNumUnits = 5;

/// The unit's name in reports: "matmul", "copy", "shared memory", "special function", "alu".
llvm::StringRef unitName(Unit unit);

/// Cycles of each unit.
struct UnitCycles {
  std::array<double, kNumUnits> busy{};
  double &operator[](Unit unit) { return busy[static_cast<int>(unit)]; }
  double operator[](Unit unit) const { return busy[static_cast<int>(unit)]; }
  UnitCycles &operator+=(const UnitCycles &other) {
    for (int unit = 0; unit < kNumUnits; ++unit)
      busy[unit] += other.busy[unit];
    return *this;
  }
  /// The unit with the most, in the order of the enumeration.
  Unit busiest() const;
};

struct UnitModel {
  // Throughputs of one multiprocessor, per cycle.
  double multiplyAdds16; ///< tensor core, 16-bit operands; 8-bit ones go twice as fast, tf32 half as fast
  double multiplyAdds32; ///< FMA
  double integers;       ///< compare, minimum, maximum, select, conversions
  double special;        ///< ex2, lg2, rcp, rsqrt, tanh
  double copyBytes;      ///< what the L2 delivers to one multiprocessor when all ask
  double sharedBytes;
  double tensorMemoryBytes; ///< to registers, 0 without tensor memory
  // Cycles from the start of something to its result, beyond those that it keeps a unit busy.
  double matmulLatency;    ///< asynchronous matmuls: until a wait for it returns
  double copyLatency;      ///< TMA and cp.async, from L2
  double handoverLatency;  ///< one role's arrival at an mbarrier seen by another
  double reductionLatency; ///< shuffles across the lanes that share a row
  double loadLatency;      ///< plain loads of global memory
};

/// The model of a target.
const UnitModel &getUnitModel(const TargetInfo &target);

} // namespace headrace

#endif // HEADRACE_TARGET_UNITMODEL_H
