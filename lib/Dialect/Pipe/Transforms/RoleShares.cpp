// Shares of warps and registers: setmaxnreg where equal shares would be too small for wgmma.
#include "RoleShares.h"
#include "headrace/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

static constexpr int64_t kThreadsPerGroup = 128, kThreadsPerWarp = 32;
/// A thread that only issues TMA gets by with the least that setmaxnreg takes; one that copies by itself needs more.
static constexpr int64_t kIssuerRegisters = 24, kCopierRegisters = 72;
/// setmaxnreg takes up to 256, but addresses 255; what is left over helps no one.
static constexpr int64_t kMostRegisters = 240;
/// What an instruction can address.
static constexpr int64_t kAddressed = 255;

RoleShares headrace::pipe::getRoleShares(func::FuncOp kernel, const TargetInfo &target) {
  bool plainCopies = false, wgmma = false, tcgen05 = false;
  kernel.walk([&](CopyOp copy) { plainCopies |= copy.getMechanism() != tile::Mechanism::Tma; });
  kernel.walk([&](MmaAsyncOp) { wgmma = true; });
  kernel.walk([&](MmaTmemOp) { tcgen05 = true; });
  RoleShares shares;
  auto warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttr);
  shares.computeWarps = warps ? warps.getInt() : 1;
  bool specialized = kernel->hasAttr("pipe.specialize");
  // setmaxnreg works on whole groups of four warps and pays where the launch's equal shares are too small for wgmma.
  bool shareRegisters = specialized && wgmma && shares.computeWarps >= 8 && shares.computeWarps % 4 == 0 &&
                        target.has(Feature::SetMaxNReg) && !kernel->hasAttr("pipe.occupancy");
  int64_t all = target.registersPerSM;
  if (specialized) {
    shares.loadWarps = plainCopies || shareRegisters ? 4 : 1;
    shares.loadActive = plainCopies ? shares.loadWarps : 1;
  }
  if (shareRegisters) {
    shares.loadRegisters = plainCopies ? kCopierRegisters : kIssuerRegisters;
    int64_t rest = all / kThreadsPerGroup - shares.loadRegisters;
    shares.computeRegisters = std::min(kMostRegisters, rest / (shares.computeWarps / 4) / 8 * 8);
    shares.computeBudget = shares.computeRegisters;
    return shares;
  }
  auto occupancy = kernel->getAttrOfType<IntegerAttr>("pipe.occupancy");
  int64_t threads = kThreadsPerWarp * (shares.computeWarps + shares.loadWarps + (specialized && tcgen05));
  int64_t equal = all / (threads * (occupancy ? occupancy.getInt() : 1)) / 8 * 8;
  shares.computeBudget = std::min(kAddressed, equal);
  return shares;
}
