// Layout inference: union-find over values that must share a layout, anchors at matmuls, derivation through broadcasts.
#include "headrace/Dialect/Tile/Transforms/Passes.h"
#include "headrace/Layout/Fragments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace headrace::tile {
#define GEN_PASS_DEF_TILEINFERLAYOUTS
#include "headrace/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace headrace::tile

using namespace mlir;
using namespace headrace;
using namespace headrace::tile;

/// A tile that lives in registers and has no layout yet.
static bool isOpen(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.getEncoding();
}

namespace {
/// The inference for one kernel.
class Inference {
public:
  explicit Inference(KernelOp kernel) : kernel(kernel), warps(*kernel.getWarps()) {}
  LogicalResult run();

private:
  void splitConstants();
  void tieValues();
  LogicalResult anchorAccumulators();
  void anchorOperands();
  void deriveSources();
  void chooseDefaults();
  LogicalResult checkRegisters();
  void rewrite();

  void tie(Value lhs, Value rhs);
  /// Fixes the layout of a value's class, or converts at `use` if the class has another one.
  void anchor(Value value, const TileLayout &layout, OpOperand *use);
  LayoutAttr lookup(Value value);
  TileLayout makeDefault(Value value);

  KernelOp kernel;
  int64_t warps;
  llvm::EquivalenceClasses<void *> classes;
  DenseMap<void *, LayoutAttr> layouts; ///< by leader
  SmallVector<std::pair<OpOperand *, LayoutAttr>> conversions;
};

struct TileInferLayoutsPass : public headrace::tile::impl::TileInferLayoutsBase<TileInferLayoutsPass> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(Inference(kernel).run()))
        return signalPassFailure();
  }
};
} // namespace

LogicalResult Inference::run() {
  splitConstants();
  tieValues();
  if (failed(anchorAccumulators()))
    return failure();
  anchorOperands();
  deriveSources();
  chooseDefaults();
  if (failed(checkRegisters()))
    return failure();
  rewrite();
  return success();
}

/// A constant may have another layout at each use: give each use its own.
void Inference::splitConstants() {
  SmallVector<Operation *> constants;
  kernel.walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>() && op->getNumResults() == 1 && !op->use_empty() &&
        isOpen(op->getResult(0)))
      constants.push_back(op);
  });
  for (Operation *op : constants) {
    OpBuilder builder(op);
    for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(op->getResult(0).getUses())))
      use.set(builder.clone(*op)->getResult(0));
  }
}

void Inference::tie(Value lhs, Value rhs) {
  if (isOpen(lhs) && isOpen(rhs))
    classes.unionSets(lhs.getAsOpaquePointer(), rhs.getAsOpaquePointer());
}

void Inference::tieValues() {
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isOpen(result))
        classes.insert(result.getAsOpaquePointer());
    if (auto loop = dyn_cast<ForOp>(op)) {
      for (auto [init, argument, yielded, result] :
           llvm::zip(loop.getInits(), loop.getIterArgs(), loop.getBody()->getTerminator()->getOperands(),
                     loop.getResults())) {
        tie(init, result);
        tie(argument, result);
        tie(yielded, result);
      }
      return;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, argument, yielded, result] :
           llvm::zip(loop.getInits(), loop.getRegionIterArgs(), loop.getYieldedValues(), loop.getResults())) {
        tie(init, result);
        tie(argument, result);
        tie(yielded, result);
      }
      return;
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (auto [init, argument, yielded] :
           llvm::zip(loop.getInits(), loop.getBeforeArguments(), loop.getYieldOp().getOperands())) {
        tie(init, argument);
        tie(yielded, argument);
      }
      for (auto [passed, argument, result] :
           llvm::zip(loop.getConditionOp().getArgs(), loop.getAfterArguments(), loop.getResults())) {
        tie(passed, result);
        tie(argument, result);
      }
      return;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (Region &region : branch->getRegions())
        if (!region.empty())
          for (auto [yielded, result] :
               llvm::zip(region.front().getTerminator()->getOperands(), branch.getResults()))
            tie(yielded, result);
      return;
    }
    if (auto dot = dyn_cast<DotOp>(op))
      return tie(dot.getAcc(), dot.getResult());
    if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1)
      for (Value operand : op->getOperands())
        tie(operand, op->getResult(0));
  });
}

LayoutAttr Inference::lookup(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getEncoding())
    return dyn_cast<LayoutAttr>(type.getEncoding());
  return layouts.lookup(classes.getLeaderValue(value.getAsOpaquePointer()));
}

void Inference::anchor(Value value, const TileLayout &layout, OpOperand *use) {
  if (!isOpen(value))
    return;
  LayoutAttr attr = LayoutAttr::get(kernel.getContext(), layout);
  LayoutAttr &known = layouts[classes.getLeaderValue(value.getAsOpaquePointer())];
  if (!known)
    known = attr;
  else if (known != attr && use)
    conversions.push_back({use, attr});
}

/// Accumulators first: operands can be converted, accumulators are where their loop carries them.
LogicalResult Inference::anchorAccumulators() {
  WalkResult result = kernel.walk([&](DotOp dot) -> WalkResult {
    AtomAttr atom = *dot.getAtom();
    int64_t m = dot.getM(), n = dot.getN(), gm = atom.getGroupsM(), gn = atom.getGroupsN();
    std::optional<TileLayout> acc;
    switch (atom.getFamily()) {
    case Family::Tcgen05:
      return WalkResult::advance(); // in tensor memory
    case Family::Wgmma:
      acc = wgmmaAccumulator(m, n, gm, gn);
      break;
    case Family::MmaSync:
      acc = atom.getM() == 8 ? mmaAccumulator8x8(m, n, gm, gn) : mmaAccumulator(m, n, gm, gn);
      break;
    case Family::Fma:
      acc = blocked({m, n}, 1, warps, 1);
      break;
    }
    if (!acc)
      return dot.emitError("atom ") << atom << " does not divide an accumulator of " << m << " x " << n;
    anchor(dot.getResult(), *acc, nullptr);
    if (isOpen(dot.getResult()) && lookup(dot.getResult()) != LayoutAttr::get(kernel.getContext(), *acc))
      return dot.emitError("expected matmuls whose accumulators are added or carried together to share one layout; this "
                           "one's atom ")
             << atom << " has another";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Operands that are read from registers. Elements of 32 bits hold tf32.
void Inference::anchorOperands() {
  kernel.walk([&](DotOp dot) {
    AtomAttr atom = *dot.getAtom();
    int64_t m = dot.getM(), n = dot.getN(), k = dot.getK(), gm = atom.getGroupsM(), gn = atom.getGroupsN();
    int64_t bitsA = dot.getAType().getElementTypeBitWidth(), bitsB = dot.getBType().getElementTypeBitWidth();
    std::optional<TileLayout> a, b;
    if (atom.getFamily() == Family::Wgmma)
      a = wgmmaOperandA(m, k, bitsA, gm, gn);
    if (atom.getFamily() == Family::MmaSync) {
      bool eight = atom.getM() == 8;
      a = eight ? mmaOperandA8(m, k, bitsA, atom.getK(), gm, gn) : mmaOperandA(m, k, bitsA, atom.getK(), gm, gn);
      b = eight ? mmaOperandB8(n, k, bitsB, atom.getK(), gm, gn) : mmaOperandB(n, k, bitsB, atom.getK(), gm, gn);
    }
    if (a && isOpen(dot.getA()))
      anchor(dot.getA(), dot.getTransposeA() ? a->transpose({1, 0}) : *a, &dot.getAMutable());
    // B fragments are described as N x K.
    if (b && isOpen(dot.getB()))
      anchor(dot.getB(), dot.getTransposeB() ? *b : b->transpose({1, 0}), &dot.getBMutable());
  });
}

/// Crossings out of tensor memory fix a layout; broadcasts and expansions derive their source's from their result's,
/// consumers first.
void Inference::deriveSources() {
  kernel.walk([&](ConvertLayoutOp crossing) {
    auto from = cast<RankedTensorType>(crossing.getSource().getType());
    if (!isa_and_nonnull<TmemAttr>(from.getEncoding()))
      return;
    if (std::optional<TileLayout> layout = tmemAccumulator(from.getDimSize(0), from.getDimSize(1), warps / 4))
      anchor(crossing.getResult(), *layout, nullptr);
  });
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<BroadcastOp, ExpandDimsOp>(op) && isOpen(op->getResult(0)))
      ops.push_back(op);
  });
  for (Operation *op : llvm::reverse(ops)) {
    Value source = op->getOperand(0), result = op->getResult(0);
    LayoutAttr known = lookup(result);
    TileLayout layout = known ? known.getTileLayout() : makeDefault(result);
    anchor(result, layout, nullptr);
    if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
      anchor(source, layout.slice(expand.getAxis()), &op->getOpOperand(0));
      continue;
    }
    auto from = cast<RankedTensorType>(source.getType());
    auto to = cast<RankedTensorType>(result.getType());
    for (int64_t dim = 0; dim < from.getRank(); ++dim)
      if (from.getDimSize(dim) != to.getDimSize(dim))
        layout = layout.slice(dim).expand(dim);
    anchor(source, layout, &op->getOpOperand(0));
  }
}

/// Coalesced along the contiguous dimension of the array that a member of the class is loaded from or stored to.
TileLayout Inference::makeDefault(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t contiguous = type.getRank() - 1;
  int64_t bytes = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
  // As wide as 16 bytes, as the extent divides, and as leaves something for every thread.
  int64_t vector = std::max<int64_t>(1, 16 / bytes);
  while (vector > 1 && (type.getDimSize(contiguous) % vector || type.getNumElements() < vector * 32 * warps))
    vector /= 2;
  return blocked(type.getShape().vec(), vector, warps, contiguous);
}

void Inference::chooseDefaults() {
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isOpen(result) && !lookup(result))
        anchor(result, makeDefault(result), nullptr);
  });
}

/// A tile of many times a thread's registers would spill all of them, after hours of code generation.
LogicalResult Inference::checkRegisters() {
  constexpr int64_t kRegisters = 255, kMost = 2 * kRegisters;
  return failure(kernel
                     .walk([&](Operation *op) -> WalkResult {
                       for (Value result : op->getResults()) {
                         if (!isOpen(result))
                           continue;
                         auto type = cast<RankedTensorType>(result.getType());
                         int64_t words = llvm::divideCeil(type.getElementTypeBitWidth(), 32);
                         int64_t registers = lookup(result).getTileLayout().numRegisters() * words;
                         if (registers > kMost)
                           return op->emitError("expected a tile that fits the registers of ")
                                  << 32 * warps << " threads, got " << type << ": " << registers << " registers of "
                                  << kRegisters << " in each";
                       }
                       return WalkResult::advance();
                     })
                     .wasInterrupted());
}

void Inference::rewrite() {
  // Decided; now write. Conversions first, while operands still have the old types.
  for (auto [use, layout] : conversions) {
    OpBuilder builder(use->getOwner());
    auto type = cast<RankedTensorType>(use->get().getType());
    use->set(ConvertLayoutOp::create(builder, use->getOwner()->getLoc(), withLayout(type, layout), use->get()));
  }
  auto assign = [&](Value value) {
    if (isOpen(value))
      value.setType(withLayout(cast<RankedTensorType>(value.getType()), lookup(value)));
  };
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  // Leaders are looked up by value: assign block arguments and results in one sweep, constants' attributes after.
  for (Operation *op : ops) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (op != kernel)
            assign(argument);
    for (Value result : op->getResults())
      assign(result);
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
        if (elements.getType() != constant.getType())
          constant.setValueAttr(elements.reshape(cast<ShapedType>(constant.getType())));
  }
}
