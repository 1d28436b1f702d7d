// The slice of a role: marked backwards from its own ops, then cloned with all the control flow around.
#include "RoleSlice.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

std::optional<Role> headrace::pipe::getOwner(Operation *op) {
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
  auto copy =
      scf::IfOp::create(builder, branch.getLoc(), types, mapping.lookupOrDefault(branch.getCondition()), hasElse);
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
