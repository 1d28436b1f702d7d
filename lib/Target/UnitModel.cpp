// The table of throughputs and latencies. Sources of the columns:
//   multiplyAdds16        dense tensor throughput of the architecture white papers, divided by clock and multiprocessors
//   multiplyAdds32 .. special   CUDA programming guide, "Arithmetic Instructions", results per cycle and multiprocessor
//   copyBytes             64 bytes from L2 on every generation since sm_80 (tuning guides)
//   sharedBytes           32 banks of 4 bytes
//   tensorMemoryBytes     tcgen05.ld of 32x32b: four warps read a column of 128 lanes in a cycle
//   latencies             wgmma and mma.sync: published microbenchmarks of sm_80 and sm_90; tcgen05, TMA, mbarriers and
//                         reductions: those of B200 in the latency model of Triton's automatic warp specialization
#include "headrace/Target/UnitModel.h"

namespace headrace {

llvm::StringRef unitName(Unit unit) {
  switch (unit) {
  case Unit::Tensor:
    return "matmul";
  case Unit::Copy:
    return "copy";
  case Unit::Shared:
    return "shared memory";
  case Unit::Special:
    return "special function";
  case Unit::Alu:
    return "alu";
  }
  return "";
}

Unit UnitCycles::busiest() const {
  int most = 0;
  for (int unit = 1; unit < kNumUnits; ++unit)
    if (busy[unit] > busy[most])
      most = unit;
  return static_cast<Unit>(most);
}

const UnitModel &getUnitModel(const TargetInfo &target) {
  //                                   mma16 fma32 int spec copy shared tmem | mma copy hand reduce load
  static constexpr UnitModel kTuring{512, 64, 64, 16, 64, 128, 0, 30, 500, 30, 60, 500};
  static constexpr UnitModel kAmpere{1024, 64, 64, 16, 64, 128, 0, 35, 500, 30, 60, 500};
  static constexpr UnitModel kConsumer{512, 128, 64, 16, 64, 128, 0, 35, 500, 30, 60, 500};
  static constexpr UnitModel kHopper{2048, 128, 64, 16, 64, 128, 0, 60, 500, 60, 60, 600};
  static constexpr UnitModel kBlackwell{4096, 128, 64, 16, 64, 128, 512, 300, 500, 90, 60, 600};
  if (target.has(Feature::Tcgen05))
    return kBlackwell;
  if (target.has(Feature::Wgmma))
    return kHopper;
  if (target.sm == 75)
    return kTuring;
  return target.sm == 80 ? kAmpere : kConsumer;
}

} // namespace headrace
