// Layout inference: fixed layouts first, carried along ties and relations from the heaviest down; what then does not fit
// is converted.
//
// The cost model. A tile that an op needs in another layout than it has must be converted: renaming registers is free, else
// it passes through shared memory, which costs its bytes, as often as the op runs. A tie between two tiles is therefore
// worth their bytes times kTrips for each loop around it. Ties are joined from the most valuable to the least (Kruskal's
// order), and only those are cut that would join two fixed layouts.
#include "headrace/Dialect/Tile/Transforms/CopyMechanism.h"
#include "headrace/Dialect/Tile/Transforms/LayoutRelations.h"
#include "headrace/Dialect/Tile/Transforms/Passes.h"
#include "headrace/Layout/Fragments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace headrace::tile {
#define GEN_PASS_DEF_TILEINFERLAYOUTS
#include "headrace/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace headrace::tile

using namespace mlir;
using namespace headrace;
using namespace headrace::tile;

/// Trips that a loop is taken to run, for the cost of what is in it.
static constexpr int64_t kTrips = 8;

/// A tile in registers that has no layout yet.
static bool isOpen(Value value) {
  return isRegisterTile(value) && !cast<RankedTensorType>(value.getType()).getEncoding();
}

/// A tile that costs nothing to make in any layout.
static bool isLeaf(Operation *op) {
  return op && (op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::SplatOp, IotaOp>(op));
}

/// Bytes times runs of a block; saturates long before it overflows.
static int64_t getWeight(Value tile, Block *where) {
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t weight = type.getNumElements() * std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
  for (Operation *op = where->getParentOp(); op && weight < int64_t(1) << 50; op = op->getParentOp())
    if (isa<ForOp, scf::ForOp, scf::WhileOp>(op))
      weight *= kTrips;
  return weight;
}

namespace {
/// The inference for one kernel.
class Inference {
public:
  explicit Inference(KernelOp kernel) : kernel(kernel), warps(*kernel.getWarps()) {}
  LogicalResult run();

private:
  void splitLeaves();
  void collect();
  LogicalResult fixLayouts();
  void joinTies();
  void fixOperands();
  void chooseDefaults();
  LogicalResult checkRegisters();
  void convertOperands();
  void convertReductions();
  void assignTypes();

  void *classOf(Value value) { return classes.getLeaderValue(value.getAsOpaquePointer()); }
  LayoutAttr lookup(Value value);
  /// Gives the value's class a layout unless it has one, and whatever depends on it.
  void fix(Value value, const TileLayout &layout);
  /// Joins two classes unless both have layouts that differ.
  bool join(Value lhs, Value rhs);
  TileLayout makeDefault(Value value);
  Value convert(Value value, LayoutAttr layout);

  KernelOp kernel;
  int64_t warps;
  llvm::EquivalenceClasses<void *> classes;
  llvm::MapVector<void *, SmallVector<Value>> members; ///< by leader
  DenseMap<void *, LayoutAttr> layouts;                ///< by leader
  SmallVector<Tie> ties;
  SmallVector<Value> values; ///< all open tiles, in program order
  DenseMap<std::pair<Value, Attribute>, Value> converted;
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
  splitLeaves();
  collect();
  if (failed(fixLayouts()))
    return failure();
  joinTies();
  fixOperands();
  chooseDefaults();
  if (failed(checkRegisters()))
    return failure();
  convertOperands();
  assignTypes();
  convertReductions();
  return success();
}

/// Tiles that cost nothing to make (constants, splats, coordinates) are made again for each use, in whatever layout it
/// wants.
void Inference::splitLeaves() {
  SmallVector<Operation *> leaves;
  kernel.walk([&](Operation *op) {
    if (isLeaf(op) && op->getNumResults() == 1 && !op->use_empty() && isOpen(op->getResult(0)))
      leaves.push_back(op);
  });
  for (Operation *op : leaves) {
    OpBuilder builder(op);
    for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(op->getResult(0).getUses())))
      use.set(builder.clone(*op)->getResult(0));
  }
}

void Inference::collect() {
  auto add = [&](Value value) {
    if (!isOpen(value))
      return;
    values.push_back(value);
    classes.insert(value.getAsOpaquePointer());
    members[value.getAsOpaquePointer()].push_back(value);
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != kernel)
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), add);
    llvm::for_each(op->getResults(), add);
    llvm::append_range(ties, getTies(op));
  });
  for (const Tie &tie : ties)
    if (!tie.use)
      join(tie.source, tie.target);
}

LayoutAttr Inference::lookup(Value value) {
  if (Attribute encoding = cast<RankedTensorType>(value.getType()).getEncoding())
    return dyn_cast<LayoutAttr>(encoding);
  return layouts.lookup(classOf(value));
}

bool Inference::join(Value lhs, Value rhs) {
  if (!isOpen(lhs) || !isOpen(rhs))
    return false;
  void *left = classOf(lhs), *right = classOf(rhs);
  if (left == right)
    return true;
  LayoutAttr leftLayout = layouts.lookup(left), rightLayout = layouts.lookup(right);
  if (leftLayout && rightLayout && leftLayout != rightLayout)
    return false;
  SmallVector<Value> all = std::move(members[left]);
  llvm::append_range(all, members[right]);
  classes.unionSets(left, right);
  void *leader = classOf(lhs);
  if (LayoutAttr layout = leftLayout ? leftLayout : rightLayout)
    layouts[leader] = layout;
  members[leader] = std::move(all);
  return true;
}

void Inference::fix(Value value, const TileLayout &layout) {
  SmallVector<std::pair<Value, TileLayout>> worklist = {{value, layout}};
  while (!worklist.empty()) {
    auto [next, nextLayout] = worklist.pop_back_val();
    if (!isOpen(next) || lookup(next))
      continue;
    layouts[classOf(next)] = LayoutAttr::get(kernel.getContext(), nextLayout);
    // What depends on the class follows, unless it has a layout already.
    for (Value member : members[classOf(next)]) {
      for (OpOperand &use : member.getUses())
        if (std::optional<TileLayout> result = getResultLayout(use, nextLayout))
          for (Value other : use.getOwner()->getResults())
            if (isRegisterTile(other))
              worklist.push_back({other, *result});
      if (Operation *op = member.getDefiningOp())
        for (OpOperand &use : op->getOpOperands())
          if (getGoverningTile(use) == member && isOpen(use.get()))
            if (std::optional<TileLayout> operand = getOperandLayout(use, nextLayout))
              worklist.push_back({use.get(), *operand});
    }
  }
}

LogicalResult Inference::fixLayouts() {
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    for (OpResult value : op->getResults()) {
      if (!isOpen(value))
        continue;
      bool mustFit = isa<DotOp, ScanOp>(op);
      std::optional<TileLayout> layout = getFixedResultLayout(value, warps);
      if (!layout && isa<DotOp>(op))
        return op->emitError("atom ") << *cast<DotOp>(op).getAtom() << " does not divide an accumulator of "
                                      << value.getType();
      if (!layout && mustFit)
        return op->emitError("expected an axis that ") << 32 << " threads can scan, got " << value.getType();
      // Fixed for itself alone for now: whether its class follows is for the ties to say.
      if (layout)
        layouts[classOf(value)] = LayoutAttr::get(kernel.getContext(), *layout);
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void Inference::joinTies() {
  SmallVector<std::pair<int64_t, Tie>> ordered;
  for (const Tie &tie : ties)
    if (tie.use)
      ordered.push_back({getWeight(tie.source, tie.use->getOwner()->getBlock()), tie});
  llvm::stable_sort(ordered, [](auto &lhs, auto &rhs) { return lhs.first > rhs.first; });
  for (auto &[weight, tie] : ordered)
    join(tie.source, tie.target);
  // From the classes that are fixed now, the layouts of what depends on them.
  SmallVector<std::pair<Value, TileLayout>> fixed;
  for (auto &[leader, tiles] : members)
    if (LayoutAttr layout = layouts.lookup(leader); layout && !tiles.empty() && classOf(tiles.front()) == leader)
      fixed.push_back({tiles.front(), layout.getTileLayout()});
  for (auto &[value, layout] : fixed) {
    layouts.erase(classOf(value));
    fix(value, layout);
  }
}

/// Tiles that a matmul or a scan reads take the layout it wants, if nothing else decides about them.
void Inference::fixOperands() {
  kernel.walk([&](Operation *op) {
    for (OpOperand &use : op->getOpOperands())
      if (isOpen(use.get()))
        if (std::optional<TileLayout> layout = getFixedOperandLayout(use, warps))
          fix(use.get(), *layout);
  });
}

/// The array, offsets and tile of an access whose vectors the layout decides about.
static std::optional<std::tuple<Value, ValueRange, Value>> getAccess(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return std::tuple<Value, ValueRange, Value>(load.getArray(), load.getOffsets(), load.getResult());
  if (auto store = dyn_cast<StoreOp>(op))
    return std::tuple<Value, ValueRange, Value>(store.getArray(), store.getOffsets(), store.getTile());
  if (auto store = dyn_cast<ReduceStoreOp>(op))
    return std::tuple<Value, ValueRange, Value>(store.getArray(), store.getOffsets(), store.getTile());
  return std::nullopt;
}

/// Coalesced along the contiguous dimension of the widest access to a member of the class, in vectors as wide as is known
/// to be aligned there, as the extent divides, and as leaves something for every thread.
TileLayout Inference::makeDefault(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t contiguous = type.getRank() - 1, vector = 0, weight = 0;
  auto look = [&](Operation *op) {
    auto access = getAccess(op);
    if (!access)
      return;
    auto [array, offsets, tile] = *access;
    if (!isOpen(tile) || classOf(tile) != classOf(value))
      return;
    auto arrayType = cast<MemRefType>(array.getType());
    int64_t dim = contiguousTileDim(arrayType, type.getRank());
    int64_t bytes = getVectorBytes(array, offsets, type.getShape(), false);
    if (dim < 0 || getWeight(tile, op->getBlock()) <= weight)
      return;
    weight = getWeight(tile, op->getBlock());
    contiguous = dim;
    vector = bytes * 8 / arrayType.getElementTypeBitWidth();
  };
  for (Value member : members[classOf(value)]) {
    if (Operation *op = member.getDefiningOp())
      look(op);
    llvm::for_each(member.getUsers(), look);
  }
  if (vector == 0)
    vector = std::max<int64_t>(1, 16 / std::max<int64_t>(1, type.getElementTypeBitWidth() / 8));
  while (vector > 1 && (type.getDimSize(contiguous) % vector || type.getNumElements() < vector * 32 * warps))
    vector /= 2;
  // Odd extents leave all their elements to each thread: then lanes had better share what the vectors would take.
  constexpr int64_t kMostRegisters = 255;
  int64_t words = llvm::divideCeil(type.getElementTypeBitWidth(), 32);
  auto layout = [&] { return blocked(type.getShape().vec(), vector, warps, contiguous); };
  while (vector > 1 && layout().numRegisters() * words > kMostRegisters)
    vector /= 2;
  return layout();
}

/// The heaviest class without a layout chooses first, and carries its choice to what depends on it.
void Inference::chooseDefaults() {
  SmallVector<std::pair<int64_t, Value>> open;
  for (auto &[leader, tiles] : members) {
    if (tiles.empty() || classOf(tiles.front()) != leader)
      continue;
    int64_t weight = 0;
    for (Value tile : tiles)
      if (!isLeaf(tile.getDefiningOp()))
        weight = std::max(weight, getWeight(tile, tile.getParentBlock()));
    open.push_back({weight, tiles.front()});
  }
  llvm::stable_sort(open, [](auto &lhs, auto &rhs) { return lhs.first > rhs.first; });
  for (auto &[weight, value] : open)
    if (!lookup(value))
      fix(value, makeDefault(value));
}

/// Where a message about the value belongs: constants that folding has made have no place, their users do.
static Location placeOf(Value value) {
  if (!isa<UnknownLoc>(value.getLoc()) || value.use_empty())
    return value.getLoc();
  return value.user_begin()->getLoc();
}

/// A tile of many times a thread's registers would spill all of them, after hours of code generation.
LogicalResult Inference::checkRegisters() {
  constexpr int64_t kRegisters = 255, kMost = 2 * kRegisters;
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t words = llvm::divideCeil(type.getElementTypeBitWidth(), 32);
    int64_t registers = lookup(value).getTileLayout().numRegisters() * words;
    if (registers > kMost)
      return emitError(placeOf(value)) << "expected a tile that fits the registers of " << 32 * warps
                                       << " threads, got " << type << ": " << registers << " registers of "
                                       << kRegisters << " in each";
  }
  return success();
}

/// The value in another layout, converted where it is made: all its uses share that.
Value Inference::convert(Value value, LayoutAttr layout) {
  Value &result = converted[{value, layout}];
  if (!result) {
    OpBuilder builder(kernel.getContext());
    builder.setInsertionPointAfterValue(value);
    auto type = withLayout(cast<RankedTensorType>(value.getType()), layout);
    result = ConvertLayoutOp::create(builder, value.getLoc(), type, value);
  }
  return result;
}

/// Decided; now write. Operands first, while the tiles still have the old types.
void Inference::convertOperands() {
  SmallVector<std::pair<OpOperand *, LayoutAttr>> needed;
  auto need = [&](OpOperand &use, LayoutAttr layout) {
    if (isOpen(use.get()) && lookup(use.get()) != layout)
      needed.push_back({&use, layout});
  };
  for (const Tie &tie : ties)
    if (tie.use)
      need(*tie.use, lookup(tie.target));
  kernel.walk([&](Operation *op) {
    for (OpOperand &use : op->getOpOperands()) {
      if (!isOpen(use.get()))
        continue;
      std::optional<TileLayout> layout = getFixedOperandLayout(use, warps);
      if (!layout)
        if (Value tile = getGoverningTile(use))
          layout = getOperandLayout(use, lookup(tile).getTileLayout());
      if (layout)
        need(use, LayoutAttr::get(kernel.getContext(), *layout));
    }
  });
  for (auto [use, layout] : needed)
    use->set(convert(use->get(), layout));
}

/// Gives every tile the type with its layout, and constants an attribute of it.
void Inference::assignTypes() {
  for (Value value : values) {
    value.setType(withLayout(cast<RankedTensorType>(value.getType()), lookup(value)));
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    if (!constant)
      continue;
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
      constant.setValueAttr(elements.reshape(cast<ShapedType>(constant.getType())));
  }
}

/// A reduction's result is where its source leaves it; whoever wants it elsewhere gets it converted.
void Inference::convertReductions() {
  kernel.walk([&](ReduceOp op) {
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    auto source = cast<LayoutAttr>(cast<RankedTensorType>(op.getSources()[0].getType()).getEncoding());
    for (Value result : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type)
        continue;
      TileLayout layout = source.getTileLayout().slice(op.getAxis());
      auto own = withLayout(type, LayoutAttr::get(op.getContext(), layout));
      if (own == type)
        continue;
      result.setType(own);
      auto moved = ConvertLayoutOp::create(builder, op.getLoc(), type, result);
      result.replaceAllUsesExcept(moved, moved);
    }
  });
}
