// Specialization: what each role needs is marked backwards from its own ops, then each role gets a copy of just that.
#include "RoleShares.h"
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

/// Warps of a block: 1024 threads.
static constexpr int64_t kMostWarps = 32;

LogicalResult PipeSpecializeWarpsPass::specialize(func::FuncOp kernel, const TargetInfo &target) {
  RoleShares shares = getRoleShares(kernel, target);

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
  addRole("compute", Role::Compute, shares.computeWarps, shares.computeRegisters, shares.computeWarps);
  addRole("load", Role::Load, shares.loadWarps, shares.loadRegisters, shares.loadActive);
  addRole("mma", Role::Mma, 1, 0, 1);
  int64_t total = std::accumulate(warps.begin(), warps.end(), int64_t(0));
  if (total > kMostWarps)
    return kernel.emitError("expected roles of at most ")
           << kMostWarps << " warps, got " << total << ": " << shares.computeWarps << " that compute and "
           << total - shares.computeWarps << " that copy and issue; take fewer warps, or specialize = off";

  SmallVector<Operation *> old;
  for (Operation &op : body.without_terminator())
    if (!isa<CreateChannelOp>(op))
      old.push_back(&op);
  auto roles =
      RolesOp::create(builder, kernel.getLoc(), builder.getArrayAttr(names), warps, registers, active, slices.size());
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
