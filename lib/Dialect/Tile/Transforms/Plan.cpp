// Planning: atoms first, since they fix the warps; then whether copies get warps of their own; then how each tile moves.
#include "CheckSource.h"
#include "ChooseAtom.h"
#include "headrace/Dialect/Tile/Transforms/CopyMechanism.h"
#include "headrace/Dialect/Tile/Transforms/Passes.h"
#include "headrace/Dialect/Tile/Transforms/Plan.h"
#include "llvm/Support/FormatVariadic.h"

namespace headrace::tile {
#define GEN_PASS_DEF_TILEPLAN
#include "headrace/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace headrace::tile

using namespace mlir;
using namespace headrace;
using namespace headrace::tile;

/// Warps of a block, and of the roles beside the compute warps, at most: 4 that copy and 1 that issues tcgen05.
static constexpr int64_t kMostWarps = 32, kMostOtherWarps = 5;
/// Warps of a kernel without matmuls, unless it asks for others.
static constexpr int64_t kDefaultWarps = 4;

bool headrace::tile::isPipelined(ForOp loop) {
  return loop.getPipeline() && (loop.getPipeline()->getStages() < 0 || loop.getPipeline()->getStages() > 1);
}

bool headrace::tile::feedsDot(Value tile) {
  return llvm::any_of(tile.getUses(), [](OpOperand &use) {
    auto dot = dyn_cast<DotOp>(use.getOwner());
    return dot && use.get() != dot.getAcc();
  });
}

bool headrace::tile::movesThroughShared(LoadOp load) {
  if (load.getMechanism() == Mechanism::Plain && !feedsDot(load.getResult()))
    return false; // a plain copy into shared memory would gain nothing over registers
  auto loop = load->getParentOfType<ForOp>();
  return feedsDot(load.getResult()) || (loop && loop->isAncestor(load) && isPipelined(loop));
}

namespace {
/// The plan of one kernel.
class Planner {
public:
  Planner(KernelOp kernel, const TargetInfo &target) : kernel(kernel), target(target) {}
  LogicalResult run();

private:
  LogicalResult chooseAtoms();
  void chooseSpecialization();
  void chooseCopies();
  /// Notes on `op` why nothing faster was chosen, and tells the user.
  void explain(Operation *op, StringRef what, const std::string &why);
  bool hasFamily(Family family);

  KernelOp kernel;
  const TargetInfo &target;
  bool specialize = false;
};

struct TilePlanPass : public headrace::tile::impl::TilePlanBase<TilePlanPass> {
  void runOnOperation() override {
    FailureOr<TargetInfo> target = getTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    if (failed(checkModule(getOperation())))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(checkSource(kernel, *target)) || failed(Planner(kernel, *target).run()))
        return signalPassFailure();
  }
};
} // namespace

LogicalResult Planner::run() {
  if (failed(chooseAtoms()))
    return failure();
  chooseSpecialization();
  chooseCopies();
  return success();
}

void Planner::explain(Operation *op, StringRef what, const std::string &why) {
  if (why.empty())
    return;
  op->setAttr(kWhyAttr, StringAttr::get(op->getContext(), why));
  op->emitRemark() << what << ": " << why;
}

bool Planner::hasFamily(Family family) {
  return kernel
      .walk([&](DotOp dot) {
        return dot.getAtom() && dot.getAtom()->getFamily() == family ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult Planner::chooseAtoms() {
  WarpRequest request;
  if (kernel.getWarps())
    request.warps = *kernel.getWarps();
  kernel.walk([&](ForOp loop) {
    if (loop.getPipeline() && loop.getPipeline()->getConsumers() > 0)
      request.consumers = loop.getPipeline()->getConsumers();
  });
  WalkResult result = kernel.walk([&](DotOp dot) -> WalkResult {
    std::string error;
    std::optional<AtomChoice> choice = chooseAtom(dot, target, request, error);
    if (!choice)
      return dot.emitError(error);
    dot.setAtomAttr(choice->atom);
    request.warps = choice->warps; // all dots of a kernel are computed by the same warps
    explain(dot, ("matmul by " + stringifyFamily(choice->atom.getFamily())).str(), choice->whyNotFaster);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  kernel.setWarps(request.warps > 0 ? request.warps : kDefaultWarps);
  return success();
}

/// Copies get warps of their own if the user says so, or, left to us, if one thread can start all of them (TMA) for a
/// matmul. tcgen05 is issued by a warp of its own either way.
void Planner::chooseSpecialization() {
  bool asked = false, refused = false, allTma = true, anyDot = false;
  kernel.walk([&](ForOp loop) {
    if (!isPipelined(loop))
      return;
    asked |= loop.getPipeline()->getSpecialize() == Tristate::On;
    refused |= loop.getPipeline()->getSpecialize() == Tristate::Off;
    loop.walk([&](LoadOp load) {
      if (!movesThroughShared(load))
        return;
      anyDot |= feedsDot(load.getResult());
      allTma &= chooseLoad(load, target, /*allowCpAsync=*/true).mechanism == Mechanism::Tma;
    });
  });
  if (asked && !target.has(Feature::Tma)) {
    kernel.emitRemark() << "specialize = on has no effect: " << missingFeature(Feature::Tma, target);
    asked = false;
  }
  bool fits = *kernel.getWarps() + kMostOtherWarps <= kMostWarps;
  specialize = asked || (!refused && anyDot && allTma && fits && target.has(Feature::Tma));
  kernel->setAttr(kSpecializeAttr, BoolAttr::get(kernel.getContext(), specialize));
}

void Planner::chooseCopies() {
  bool tcgen05 = hasFamily(Family::Tcgen05), anyDot = false;
  kernel.walk([&](DotOp) { anyDot = true; });
  kernel.walk([&](LoadOp load) {
    if (!movesThroughShared(load))
      return;
    CopyChoice choice = chooseLoad(load, target, /*allowCpAsync=*/!specialize && !tcgen05);
    load.setMechanism(choice.mechanism);
    explain(load, ("copy by " + stringifyMechanism(choice.mechanism)).str(), choice.whyNotFaster);
    if (load.getMechanism() == Mechanism::Plain && !movesThroughShared(load))
      load.emitRemark() << "this load is not pipelined: it has no asynchronous mechanism";
  });
  kernel.walk([&](StoreOp store) {
    // Only fragments of matmuls are scattered enough over threads to gain from a pass through shared memory.
    auto loop = store->getParentOfType<ForOp>();
    if (!anyDot || (loop && isPipelined(loop))) {
      store.setMechanism(Mechanism::Plain);
      return;
    }
    CopyChoice choice = chooseStore(store, target);
    RankedTensorType tile = store.getTileType();
    int64_t bytes = tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
    if (choice.mechanism == Mechanism::Tma && bytes > target.sharedPerBlock / 2)
      choice = {Mechanism::Plain,
                llvm::formatv("tma: staging {0} bytes would leave less than half of {1} for the loop", bytes,
                              target.sharedPerBlock)
                    .str()};
    store.setMechanism(choice.mechanism);
    explain(store, ("store by " + stringifyMechanism(choice.mechanism)).str(), choice.whyNotFaster);
  });
}
