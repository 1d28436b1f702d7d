// Planning: atoms first, since they fix the warps; then whether copies get warps of their own; then how each tile moves.
#include "headrace/Dialect/Tile/Transforms/Plan.h"
#include "CheckSource.h"
#include "ChooseAtom.h"
#include "ExpandFills.h"
#include "ExpandScales.h"
#include "HoistLoads.h"
#include "PadTiles.h"
#include "headrace/Dialect/Tile/Transforms/CopyMechanism.h"
#include "headrace/Dialect/Tile/Transforms/Order.h"
#include "headrace/Dialect/Tile/Transforms/Passes.h"
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
  if (load.getTile().getRank() > 2)
    return false;
  if (isWritten(load.getArray()) && !feedsDot(load.getResult()))
    return false; // it stays where it is in the order of the writes
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
  int64_t chooseWarps();
  LogicalResult checkAccumulators(ForOp loop);
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
  for (DotOp product : expandScales(kernel))
    explain(product, "scales", "numbers take their scales before and are multiplied as bf16");
  expandFills(kernel);
  if (failed(chooseAtoms()))
    return failure();
  padTiles(kernel);
  hoistLoads(kernel, target);
  chooseSpecialization();
  chooseCopies();
  return success();
}

void Planner::explain(Operation *op, StringRef what, const std::string &why) {
  if (why.empty())
    return;
  auto known = op->getAttrOfType<StringAttr>(kWhyAttr);
  op->setAttr(kWhyAttr, StringAttr::get(op->getContext(), known ? known.str() + "; " + why : why));
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
  kernel.setWarps(request.warps > 0 ? request.warps : chooseWarps());
  WalkResult accumulators = kernel.walk([&](ForOp loop) -> WalkResult { return checkAccumulators(loop); });
  return failure(accumulators.wasInterrupted());
}

/// Accumulators that a loop carries live in registers all at once.
LogicalResult Planner::checkAccumulators(ForOp loop) {
  constexpr int64_t kRegisters = 255;
  SmallVector<DotOp> dots;
  int64_t registers = 0, threads = 32 * *kernel.getWarps();
  for (auto dot : loop.getBody()->getOps<DotOp>()) {
    auto argument = dyn_cast<BlockArgument>(dot.getAcc());
    if (!argument || argument.getOwner() != loop.getBody() || dot.getAtom()->getFamily() == Family::Tcgen05)
      continue;
    dots.push_back(dot);
    registers += dot.getM() * dot.getN() * dot.getAccType().getElementTypeBitWidth() / 32 / threads;
  }
  if (registers <= kRegisters)
    return success();
  InFlightDiagnostic error = loop.emitError("the accumulators of this loop take ")
                             << registers << " registers of each of " << threads << " threads, which have "
                             << kRegisters << "; take smaller tiles or more warps";
  for (DotOp dot : dots)
    error.attachNote(dot.getLoc()) << dot.getM() << " x " << dot.getN() << " of them here";
  return error;
}

/// Without matmuls: as many as let each thread hold a few dozen words of the largest tile.
int64_t Planner::chooseWarps() {
  constexpr int64_t kWords = 32, kMostUsual = 16;
  int64_t largest = 0;
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        largest = std::max(largest, type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 32));
  });
  int64_t warps = kDefaultWarps;
  while (warps < kMostUsual && largest > warps * 32 * kWords)
    warps *= 2;
  // Half the registers of a thread for the double of threads: only for what would not fit otherwise.
  return largest > warps * 32 * 4 * kWords ? kMostWarps : warps;
}

/// Copies get warps of their own if the user says so, or, left to us, if one thread can start all of them (TMA) for a
/// matmul. tcgen05 is issued by a warp of its own either way.
void Planner::chooseSpecialization() {
  bool asked = false, refused = false, allTma = true, anyDot = false;
  Operation *ordered = nullptr; // a read that other roles could not keep in order with the writes
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
  kernel.walk([&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    if ((isa<LoadScalarOp, GatherOp>(op) || (load && feedsDot(load.getResult()))) && isWritten(op->getOperand(0)))
      ordered = op;
  });
  if (asked && ordered) {
    InFlightDiagnostic remark = kernel.emitRemark("specialize = on has no effect: an array is read and written");
    remark.attachNote(ordered->getLoc()) << "read here";
    asked = false;
  }
  if (asked && !target.has(Feature::Tma)) {
    kernel.emitRemark() << "specialize = on has no effect: " << missingFeature(Feature::Tma, target);
    asked = false;
  }
  bool fits = *kernel.getWarps() + kMostOtherWarps <= kMostWarps;
  specialize = asked || (!refused && !ordered && anyDot && allTma && fits && target.has(Feature::Tma));
  kernel->setAttr(kSpecializeAttr, BoolAttr::get(kernel.getContext(), specialize));
}

void Planner::chooseCopies() {
  bool tcgen05 = hasFamily(Family::Tcgen05), anyDot = false;
  kernel.walk([&](DotOp) { anyDot = true; });
  kernel.walk([&](LoadOp load) {
    if (!movesThroughShared(load)) {
      auto loop = load->getParentOfType<ForOp>();
      if (isWritten(load.getArray()) && loop && isPipelined(loop))
        load.emitRemark() << "this load is not pipelined: the kernel writes its array";
      return;
    }
    if (isWritten(load.getArray())) {
      load.setMechanism(Mechanism::Plain);
      explain(load, "copy by plain", "the kernel writes this array: reads and writes stay in order");
      return;
    }
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
    if (store.getValid()) {
      store.setMechanism(Mechanism::Plain);
      explain(store, "store by plain", "tma: the tile is padded to more than what is stored");
      return;
    }
    CopyChoice choice = chooseStore(store, target);
    if (choice.mechanism == Mechanism::Tma && needsOrder(store))
      choice = {Mechanism::Plain, "tma: other ops or trips may read or write the same elements, in order"};
    RankedTensorType tile = store.getTileType();
    int64_t bytes = tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
    if (choice.mechanism == Mechanism::Tma && bytes > target.sharedPerBlock / 2)
      choice = {Mechanism::Plain, llvm::formatv("tma: staging {0} bytes would leave less than half of {1} for the loop",
                                                bytes, target.sharedPerBlock)
                                      .str()};
    store.setMechanism(choice.mechanism);
    explain(store, ("store by " + stringifyMechanism(choice.mechanism)).str(), choice.whyNotFaster);
  });
}
