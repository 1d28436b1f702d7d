// Specialization: what each role needs is marked backwards from its own ops, then each role gets a copy of just that.
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "headrace/Dialect/Tile/Transforms/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPESPECIALIZEWARPS
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

namespace {
enum class Role { Compute, Load, Mma };

/// One role's share of a kernel: the ops it executes, and which values of each loop it carries.
class RoleSlice {
public:
  RoleSlice(func::FuncOp kernel, Role role) : kernel(kernel), role(role) {}
  /// Marks everything that the role's own ops need.
  void mark();
  bool empty() const { return live.empty(); }
  /// Clones the marked part of the kernel's body to the builder's place.
  void clone(OpBuilder &builder);

private:
  void need(Operation *op);
  void need(Value value);
  void needLoopValue(scf::ForOp loop, unsigned index);
  void needBefore(scf::WhileOp loop, unsigned index);
  void needAfter(scf::WhileOp loop, unsigned index);
  void cloneBlock(Block &from, OpBuilder &builder, IRMapping &mapping);
  void cloneFor(scf::ForOp loop, OpBuilder &builder, IRMapping &mapping);
  void cloneIf(scf::IfOp branch, OpBuilder &builder, IRMapping &mapping);
  void cloneWhile(scf::WhileOp loop, OpBuilder &builder, IRMapping &mapping);
  void cloneOther(Operation *op, OpBuilder &builder, IRMapping &mapping);

  func::FuncOp kernel;
  Role role;
  DenseSet<Operation *> live;
  DenseSet<std::pair<Operation *, unsigned>> liveValues; ///< (loop or branch, number of its result)
  DenseSet<std::pair<Operation *, unsigned>> liveBefore; ///< (scf.while, number of its initial value)
  SmallVector<Operation *> worklist;
};

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

/// The role whose warps an op with effects belongs to; nothing for control flow and for what any role may compute.
static std::optional<Role> getOwner(Operation *op) {
  if (isa<CopyOp>(op))
    return Role::Load;
  if (isa<MmaTmemOp>(op))
    return Role::Mma;
  if (CreateChannelOp channel = getChannelOf(op)) {
    bool copied = llvm::any_of(channel->getUsers(), [](Operation *user) { return isa<CopyOp>(user); });
    if (isa<ProducerAcquireOp, ProducerCommitOp>(op))
      return channel.getAsyncCommit() ? Role::Mma : copied ? Role::Load : Role::Compute;
    return channel.getAsyncRelease() ? Role::Mma : Role::Compute;
  }
  bool onDemand = isMemoryEffectFree(op) || isGlobalRead(op) || isa<CreateChannelOp>(op) || op->getNumRegions() ||
                  op->hasTrait<OpTrait::IsTerminator>();
  if (onDemand)
    return std::nullopt;
  return Role::Compute;
}

void RoleSlice::mark() {
  kernel.walk([&](Operation *op) {
    if (getOwner(op) == role)
      need(op);
  });
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      need(loop.getLowerBound());
      need(loop.getUpperBound());
      need(loop.getStep());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      need(branch.getCondition());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      need(loop.getConditionOp().getCondition());
    } else {
      for (Value operand : op->getOperands())
        need(operand);
      // Ops with regions of another kind (reductions) are taken whole.
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
            for (Value operand : block.back().getOperands())
              need(operand);
    }
    if (Operation *parent = op->getParentOp(); parent != kernel)
      need(parent);
  }
}

void RoleSlice::need(Operation *op) {
  if (!isa<CreateChannelOp>(op) && live.insert(op).second)
    worklist.push_back(op);
}

void RoleSlice::needLoopValue(scf::ForOp loop, unsigned index) {
  need(loop);
  if (!liveValues.insert({loop, index}).second)
    return;
  need(loop.getInits()[index]);
  need(loop.getYieldedValues()[index]);
}

/// A value that goes into the condition's region, from before the loop and from its body.
void RoleSlice::needBefore(scf::WhileOp loop, unsigned index) {
  need(loop);
  if (!liveBefore.insert({loop, index}).second)
    return;
  need(loop.getInits()[index]);
  need(loop.getYieldOp()->getOperand(index));
}

/// A value that the condition passes on, to the body and out of the loop.
void RoleSlice::needAfter(scf::WhileOp loop, unsigned index) {
  need(loop);
  if (liveValues.insert({loop, index}).second)
    need(loop.getConditionOp().getArgs()[index]);
}

void RoleSlice::need(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      need(loop);
      if (argument != loop.getInductionVar())
        needLoopValue(loop, argument.getArgNumber() - 1);
    } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      bool before = argument.getOwner() == loop.getBeforeBody();
      before ? needBefore(loop, argument.getArgNumber()) : needAfter(loop, argument.getArgNumber());
    } else if (parent != kernel) {
      need(parent);
    }
    return;
  }
  Operation *op = value.getDefiningOp();
  unsigned index = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return needLoopValue(loop, index);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return needAfter(loop, index);
  need(op);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    if (liveValues.insert({op, index}).second)
      for (Region &region : branch->getRegions())
        need(region.front().getTerminator()->getOperand(index));
}

void RoleSlice::clone(OpBuilder &builder) {
  IRMapping mapping;
  cloneBlock(kernel.getBody().front(), builder, mapping);
}

void RoleSlice::cloneBlock(Block &from, OpBuilder &builder, IRMapping &mapping) {
  for (Operation &op : from) {
    if (!live.contains(&op))
      continue;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      cloneFor(loop, builder, mapping);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      cloneIf(branch, builder, mapping);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      cloneWhile(loop, builder, mapping);
    else
      cloneOther(&op, builder, mapping);
  }
}

void RoleSlice::cloneFor(scf::ForOp loop, OpBuilder &builder, IRMapping &mapping) {
  SmallVector<unsigned> carried;
  SmallVector<Value> inits;
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    if (liveValues.contains({loop, i})) {
      carried.push_back(i);
      inits.push_back(mapping.lookupOrDefault(loop.getInits()[i]));
    }
  auto leaveEmpty = [](OpBuilder &, Location, Value, ValueRange) {};
  auto copy = scf::ForOp::create(builder, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
                                 mapping.lookupOrDefault(loop.getUpperBound()), mapping.lookupOrDefault(loop.getStep()),
                                 inits, leaveEmpty, loop.getUnsignedCmp());
  copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  mapping.map(loop.getInductionVar(), copy.getInductionVar());
  for (auto [place, i] : llvm::enumerate(carried)) {
    mapping.map(loop.getRegionIterArg(i), copy.getRegionIterArg(place));
    mapping.map(loop.getResult(i), copy.getResult(place));
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(copy.getBody());
  cloneBlock(*loop.getBody(), builder, mapping);
  SmallVector<Value> yielded;
  for (unsigned i : carried)
    yielded.push_back(mapping.lookupOrDefault(loop.getYieldedValues()[i]));
  scf::YieldOp::create(builder, loop.getLoc(), yielded);
}

void RoleSlice::cloneIf(scf::IfOp branch, OpBuilder &builder, IRMapping &mapping) {
  SmallVector<unsigned> results;
  SmallVector<Type> types;
  for (unsigned i = 0; i < branch.getNumResults(); ++i)
    if (liveValues.contains({branch, i})) {
      results.push_back(i);
      types.push_back(branch.getResult(i).getType());
    }
  bool hasElse = !branch.getElseRegion().empty();
  auto copy = scf::IfOp::create(builder, branch.getLoc(), types, mapping.lookupOrDefault(branch.getCondition()), hasElse);
  for (auto [from, to] : llvm::zip(branch->getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    if (to.empty())
      to.emplaceBlock();
    to.front().clear();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&to.front());
    cloneBlock(from.front(), builder, mapping);
    SmallVector<Value> yielded;
    for (unsigned i : results)
      yielded.push_back(mapping.lookupOrDefault(from.front().getTerminator()->getOperand(i)));
    scf::YieldOp::create(builder, branch.getLoc(), yielded);
  }
  for (auto [place, i] : llvm::enumerate(results))
    mapping.map(branch.getResult(i), copy.getResult(place));
}

void RoleSlice::cloneWhile(scf::WhileOp loop, OpBuilder &builder, IRMapping &mapping) {
  SmallVector<unsigned> before, after;
  SmallVector<Value> inits;
  SmallVector<Type> types;
  for (unsigned i = 0; i < loop.getInits().size(); ++i)
    if (liveBefore.contains({loop, i})) {
      before.push_back(i);
      inits.push_back(mapping.lookupOrDefault(loop.getInits()[i]));
    }
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    if (liveValues.contains({loop, i})) {
      after.push_back(i);
      types.push_back(loop.getResult(i).getType());
    }
  auto copy = scf::WhileOp::create(builder, loop.getLoc(), types, inits);
  copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  for (auto [place, i] : llvm::enumerate(after))
    mapping.map(loop.getResult(i), copy.getResult(place));
  OpBuilder::InsertionGuard guard(builder);
  auto cloneBody = [&](Block &from, Region &to, ArrayRef<unsigned> arguments) {
    Block &block = to.emplaceBlock();
    for (unsigned i : arguments)
      mapping.map(from.getArgument(i), block.addArgument(from.getArgument(i).getType(), loop.getLoc()));
    builder.setInsertionPointToEnd(&block);
    cloneBlock(from, builder, mapping);
  };
  auto mapped = [&](ValueRange values, ArrayRef<unsigned> numbers) {
    return llvm::map_to_vector(numbers, [&](unsigned i) { return mapping.lookupOrDefault(values[i]); });
  };
  cloneBody(*loop.getBeforeBody(), copy.getBefore(), before);
  scf::ConditionOp condition = loop.getConditionOp();
  scf::ConditionOp::create(builder, condition.getLoc(), mapping.lookupOrDefault(condition.getCondition()),
                           mapped(condition.getArgs(), after));
  cloneBody(*loop.getAfterBody(), copy.getAfter(), after);
  scf::YieldOp::create(builder, loop.getLoc(), mapped(loop.getYieldOp().getOperands(), before));
}

/// Ops without regions, and reductions: the copy keeps all values.
void RoleSlice::cloneOther(Operation *op, OpBuilder &builder, IRMapping &mapping) {
  Operation *copy = builder.cloneWithoutRegions(*op, mapping);
  for (auto [from, to] : llvm::zip(op->getRegions(), copy->getRegions()))
    for (Block &block : from) {
      Block &target = to.emplaceBlock();
      for (BlockArgument argument : block.getArguments())
        mapping.map(argument, target.addArgument(argument.getType(), argument.getLoc()));
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(&target);
      cloneBlock(block, builder, mapping);
      if (!live.contains(&block.back()))
        builder.clone(block.back(), mapping);
    }
}

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
