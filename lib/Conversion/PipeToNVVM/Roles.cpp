// pipe.roles: branches on the warp, with the register budget of each role in front of its work.
#include "Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

/// Registers that a thread has when the kernel starts: an equal share of the file, which ptxas
/// fixes from .reqntid and .minnctapersm in kernels with setmaxnreg.
static int64_t launchRegisters(RolesOp roles, const TargetInfo &target) {
  auto kernel = roles->getParentOfType<func::FuncOp>();
  int64_t threads = 32 * kernel->getAttrOfType<IntegerAttr>(kWarpsAttr).getInt();
  auto occupancy = kernel->getAttrOfType<IntegerAttr>("pipe.occupancy");
  int64_t share = target.registersPerSM / (threads * (occupancy ? occupancy.getInt() : 1));
  return std::min<int64_t>(llvm::alignDown(share, 8), 255);
}

static Value isBelow(OpBuilder &builder, Location loc, Value warp, int64_t bound) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, warp, constI32(builder, loc, bound));
}

/// Builds role `i`, its budget first, at the builder's position. setmaxnreg: PTX ISA 9.7.19.5; all
/// warps of the role execute it, those without work, too.
static void buildRole(OpBuilder &builder, RolesOp roles, size_t i, Value warp, int64_t launch) {
  Location loc = roles.getLoc();
  int64_t registers = roles.getRegisters()[i], active = roles.getActive()[i];
  if (registers) {
    StringRef direction = registers < launch ? "dec" : "inc";
    ptx(builder, loc, llvm::formatv("setmaxnreg.{0}.sync.aligned.u32 {1};", direction, registers).str(), {}, {});
  }
  Block *block = builder.getInsertionBlock();
  auto at = builder.getInsertionPoint();
  if (active < roles.getWarps()[i]) {
    Value first = warp;
    if (int64_t before = std::accumulate(roles.getWarps().begin(), roles.getWarps().begin() + i, int64_t(0)))
      first = arith::SubIOp::create(builder, loc, warp, constI32(builder, loc, before));
    auto working = scf::IfOp::create(builder, loc, isBelow(builder, loc, first, active),
                                     /*withElseRegion=*/false);
    block = working.thenBlock();
    at = block->getTerminator()->getIterator();
  }
  block->getOperations().splice(at, roles.getBodies()[i].front().getOperations());
}

void lowering::lowerRoles(RolesOp roles, const TargetInfo &target) {
  OpBuilder builder(roles);
  Location loc = roles.getLoc();
  Value warp = getThread(builder, roles).warp;
  int64_t launch = launchRegisters(roles, target);
  int64_t end = 0;
  size_t last = roles.getBodies().size() - 1;
  for (size_t i = 0; i < last; ++i) {
    end += roles.getWarps()[i];
    auto branch = scf::IfOp::create(builder, loc, isBelow(builder, loc, warp, end), /*withElseRegion=*/true);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    buildRole(builder, roles, i, warp, launch);
    builder.setInsertionPoint(branch.elseBlock()->getTerminator());
  }
  buildRole(builder, roles, last, warp, launch);
  roles.erase();
}
