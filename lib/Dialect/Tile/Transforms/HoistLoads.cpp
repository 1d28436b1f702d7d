// Loads under conditions run ahead.
//
// A ring's (index, phase) advances once a trip, on both of its sides. So a load under a condition becomes one that every
// trip makes: if the condition does not hold it starts before the array's first element, where it reads nothing and its
// slot is filled with zeros, whichever mechanism copies. Only what is computed from the loop's index and from scalars can be
// known trips ahead.
#include "HoistLoads.h"
#include "headrace/Dialect/Tile/Transforms/CopyMechanism.h"
#include "headrace/Dialect/Tile/Transforms/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::tile;

namespace {
/// A load, the conditionals around it up to the loop, and what has to be computed for it.
class ConditionalLoad {
public:
  explicit ConditionalLoad(LoadOp load) : load(load) {}
  /// Whether the load is under conditions of a trip of a pipelined loop, and of nothing else.
  bool find();
  /// Whether all that it needs can be known ahead.
  bool canRunAhead();
  void hoist();

private:
  bool collect(Value value);
  Value makeCondition(OpBuilder &builder);

  LoadOp load;
  ForOp loop;
  SmallVector<std::pair<scf::IfOp, bool>> branches; ///< from inside out; true: the load is on the side where it holds
  SetVector<Operation *> needed;                    ///< in the loop's body, operands first
};
} // namespace

bool ConditionalLoad::find() {
  Operation *inner = load;
  for (auto branch = dyn_cast<scf::IfOp>(load->getParentOp()); branch;
       branch = dyn_cast<scf::IfOp>(inner->getParentOp())) {
    branches.push_back({branch, inner->getParentRegion() == &branch.getThenRegion()});
    inner = branch;
  }
  loop = dyn_cast<ForOp>(inner->getParentOp());
  return loop && isPipelined(loop) && !branches.empty();
}

/// Adds what computes `value`: false if that works on tiles, has regions, may not be done without need, or is of an earlier
/// trip.
bool ConditionalLoad::collect(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() != loop.getBody() || argument == loop.getInductionVar();
  Operation *op = value.getDefiningOp();
  if (!loop->isProperAncestor(op) || needed.contains(op))
    return true;
  auto isTile = [](Type type) { return isa<ShapedType>(type) && !isa<MemRefType>(type); };
  if (op->getNumRegions() || llvm::any_of(op->getResultTypes(), isTile) || llvm::any_of(op->getOperandTypes(), isTile))
    return false;
  // A single element is guarded by the array's extents; what is assumed counts where the condition holds.
  bool isConditional = op->getBlock() != loop.getBody();
  bool isAllowed = isMemoryEffectFree(op) && (!isConditional || isSpeculatable(op));
  if (auto scalar = dyn_cast<LoadScalarOp>(op))
    isAllowed = !isWritten(scalar.getArray());
  if (!isAllowed && !isa<AssumeOp>(op))
    return false;
  if (!llvm::all_of(op->getOperands(), [&](Value operand) { return collect(operand); }))
    return false;
  needed.insert(op);
  return true;
}

bool ConditionalLoad::canRunAhead() {
  return llvm::all_of(load.getOffsets(), [&](Value offset) { return collect(offset); }) &&
         llvm::all_of(branches, [&](auto &branch) { return collect(branch.first.getCondition()); });
}

Value ConditionalLoad::makeCondition(OpBuilder &builder) {
  Location loc = load.getLoc();
  Value all;
  for (auto [branch, holds] : llvm::reverse(branches)) {
    Value one = branch.getCondition();
    if (!holds)
      one =
          arith::XOrIOp::create(builder, loc, one, arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
    all = all ? arith::AndIOp::create(builder, loc, all, one).getResult() : one;
  }
  return all;
}

void ConditionalLoad::hoist() {
  Operation *outermost = branches.back().first;
  for (Operation *op : needed)
    if (op->getBlock() != loop.getBody())
      op->moveBefore(outermost);
  OpBuilder builder(outermost);
  Location loc = load.getLoc();
  // Before the first element along the first dimension, by a number that keeps what is known of the alignment.
  constexpr uint64_t kAligned = 4096;
  int64_t lead = int64_t(load.getOffsets().size()) - load.getTile().getRank();
  uint64_t extent = lead > 0 ? 1 : load.getTile().getDimSize(0);
  Value outside =
      arith::ConstantIndexOp::create(builder, loc, -int64_t(llvm::PowerOf2Ceil(std::max(extent, kAligned))));
  OpOperand &first = load.getOffsetsMutable()[0];
  first.set(arith::SelectOp::create(builder, loc, makeCondition(builder), first.get(), outside));
  load->moveBefore(outermost);
}

void headrace::tile::hoistLoads(KernelOp kernel, const TargetInfo &target) {
  SmallVector<LoadOp> loads;
  kernel.walk([&](LoadOp load) { loads.push_back(load); });
  for (LoadOp load : loads) {
    ConditionalLoad conditional(load);
    if (!conditional.find() || isWritten(load.getArray()) || !movesThroughShared(load))
      continue;
    if (chooseLoad(load, target, /*allowCpAsync=*/true).mechanism == Mechanism::Plain)
      continue;
    if (conditional.canRunAhead())
      conditional.hoist();
    else
      load.emitRemark("this load is not pipelined: its condition, or its place, cannot be computed trips ahead");
  }
}
