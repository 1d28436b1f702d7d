// Specialization: what each role needs is marked backwards from its own ops, then each role gets a copy of just that.
#include "RoleSlice.h"
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "headrace/Dialect/Tile/Transforms/Target.h"

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPESPECIALIZEWARPS
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

namespace {
struct PipeSpecializeWarpsPass : public headrace::pipe::impl::PipeSpecializeWarpsBase<PipeSpecializeWarpsPass> {
  void runOnOperation() override {
    FailureOr<TargetInfo> target = tile::getTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr) && kernel->hasAttr("pipe.specialize")) {
        if (!kernel->hasAttr(kWarpsAttr) || !kernel.getOps<RolesOp>().empty()) {
          kernel.emitError("expected a kernel with ") << kWarpsAttr << " and without roles, to make roles of it";
          return signalPassFailure();
        }
        if (failed(specialize(kernel, *target)))
          return signalPassFailure();
      }
  }
  LogicalResult specialize(func::FuncOp kernel, const TargetInfo &target);
};
} // namespace

//===- the shares of warps and registers ----------------------------------------------------------------------------===//

static constexpr int64_t kRegistersPerBlock = 65536, kThreadsPerGroup = 128;
/// A thread that only issues TMA gets by with the least that setmaxnreg takes; one that copies by itself needs more.
static constexpr int64_t kIssuerRegisters = 24, kCopierRegisters = 72;
/// setmaxnreg takes up to 256, but addresses 255; what is left over helps no one.
static constexpr int64_t kMostRegisters = 240;

static int64_t getComputeRegisters(int64_t computeGroups, int64_t loadRegisters) {
  int64_t rest = kRegistersPerBlock / kThreadsPerGroup - loadRegisters;
  return std::min(kMostRegisters, rest / computeGroups / 8 * 8);
}

/// Warps of a block: 1024 threads.
static constexpr int64_t kMostWarps = 32;

LogicalResult PipeSpecializeWarpsPass::specialize(func::FuncOp kernel, const TargetInfo &target) {
  bool plainCopies = false, wgmma = false;
  kernel.walk([&](CopyOp copy) { plainCopies |= copy.getMechanism() != tile::Mechanism::Tma; });
  kernel.walk([&](MmaAsyncOp) { wgmma = true; });
  int64_t computeWarps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttr).getInt();
  // setmaxnreg works on whole groups of four warps and pays where the launch's equal shares are too small for wgmma.
  bool shareRegisters = wgmma && computeWarps >= 8 && computeWarps % 4 == 0 && target.has(Feature::SetMaxNReg) &&
                        !kernel->hasAttr("pipe.occupancy");
  int64_t loadWarps = plainCopies || shareRegisters ? 4 : 1;
  int64_t loadRegisters = shareRegisters ? (plainCopies ? kCopierRegisters : kIssuerRegisters) : 0;
  int64_t computeRegisters = shareRegisters ? getComputeRegisters(computeWarps / 4, loadRegisters) : 0;

  OpBuilder builder(kernel.getContext());
  Block &body = kernel.getBody().front();
  builder.setInsertionPoint(body.getTerminator());
  SmallVector<Attribute> names;
  SmallVector<int64_t> warps, registers, active;
  SmallVector<RoleSlice> slices;
  auto addRole = [&](StringRef name, Role role, int64_t count, int64_t budget, int64_t working) {
    RoleSlice slice(kernel, role);
    slice.mark();
    if (slice.empty())
      return;
    slices.push_back(std::move(slice));
    names.push_back(builder.getStringAttr(name));
    warps.push_back(count);
    registers.push_back(budget);
    active.push_back(working);
  };
  addRole("compute", Role::Compute, computeWarps, computeRegisters, computeWarps);
  addRole("load", Role::Load, loadWarps, loadRegisters, plainCopies ? loadWarps : 1);
  addRole("mma", Role::Mma, 1, 0, 1);
  int64_t total = std::accumulate(warps.begin(), warps.end(), int64_t(0));
  if (total > kMostWarps)
    return kernel.emitError("expected roles of at most ")
           << kMostWarps << " warps, got " << total << ": " << computeWarps << " that compute and "
           << total - computeWarps << " that copy and issue; take fewer warps, or specialize = off";

  SmallVector<Operation *> old;
  for (Operation &op : body.without_terminator())
    if (!isa<CreateChannelOp>(op))
      old.push_back(&op);
  auto roles = RolesOp::create(builder, kernel.getLoc(), builder.getArrayAttr(names), warps, registers, active,
                               slices.size());
  for (auto [slice, region] : llvm::zip(slices, roles.getBodies())) {
    builder.setInsertionPointToStart(&region.emplaceBlock());
    slice.clone(builder);
  }
  for (Operation *op : llvm::reverse(old)) {
    op->dropAllUses();
    op->erase();
  }
  kernel->setAttr(kWarpsAttr, builder.getI64IntegerAttr(total));
  return success();
}
