// Padding of odd extents.
//
// Threads are numbered by powers of two, so a tile of 4 x 1000 has room for 32 of them along its extents, and all other
// threads are replicas. As 4 x 1024 it has room for 4096. An extent is shared by all tiles that ops tie together (loops,
// element-wise ops, broadcasts...): such dimensions form classes, and a class is padded as a whole, or not, if an op is
// among them that cannot have padding. The extent is chosen by the registers that a thread then holds.
#include "PadTiles.h"
#include "headrace/Dialect/Tile/Transforms/LayoutRelations.h"
#include "headrace/Layout/Fragments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace mlir;
using namespace headrace;
using namespace headrace::tile;

static RankedTensorType typeOf(Value tile) { return cast<RankedTensorType>(tile.getType()); }

/// The `n` such that `op` combined with it leaves any element as it is; null if there is none that we know.
static TypedAttr getNeutral(Operation *op) {
  Type type = op->getResult(0).getType();
  Builder builder(op);
  if (auto floating = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floating.getFloatSemantics();
    auto make = [&](APFloat value) { return FloatAttr::get(floating, value); };
    if (isa<arith::AddFOp>(op))
      return make(APFloat::getZero(semantics, /*Negative=*/true));
    if (isa<arith::MulFOp>(op))
      return make(APFloat::getOne(semantics));
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(op))
      return make(APFloat::getInf(semantics, /*Negative=*/isa<arith::MaximumFOp>(op)));
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op)) // a number wins against NaN
      return make(APFloat::getNaN(semantics));
    return {};
  }
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return {};
  unsigned bits = integer.getWidth();
  auto make = [&](APInt value) { return IntegerAttr::get(integer, value); };
  if (isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(op))
    return make(APInt::getZero(bits));
  if (isa<arith::MulIOp>(op))
    return make(APInt(bits, 1));
  if (isa<arith::AndIOp, arith::MinUIOp>(op))
    return make(APInt::getAllOnes(bits));
  if (isa<arith::MaxSIOp>(op))
    return make(APInt::getSignedMinValue(bits));
  if (isa<arith::MinSIOp>(op))
    return make(APInt::getSignedMaxValue(bits));
  return {};
}

/// The neutral element of each source of a combining region; empty if one has none, or if sources are combined together.
static SmallVector<TypedAttr> getNeutrals(Region &combine) {
  Block &body = combine.front();
  unsigned count = body.getNumArguments() / 2;
  SmallVector<TypedAttr> neutrals;
  for (auto [number, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    Value first = body.getArgument(number), second = body.getArgument(count + number);
    Operation *op = value.getDefiningOp();
    bool ofBoth = op && op->getNumOperands() == 2 &&
                  ((op->getOperand(0) == first && op->getOperand(1) == second) ||
                   (op->getOperand(0) == second && op->getOperand(1) == first));
    TypedAttr neutral = ofBoth ? getNeutral(op) : TypedAttr();
    if (!neutral)
      return {};
    neutrals.push_back(neutral);
  }
  return neutrals;
}

namespace {
/// The padding of one kernel.
class Padding {
public:
  explicit Padding(KernelOp kernel) : kernel(kernel), warps(*kernel.getWarps()) {}
  void run();

private:
  void collect();
  void relate(Operation *op);
  void relateReshape(ReshapeOp op);
  void relateCombine(Operation *op, ValueRange sources, int64_t axis, bool meetsPadding, Region &combine);
  void choose();
  int64_t registersWith(unsigned leader, int64_t extent);
  void neutralize(Operation *op, MutableOperandRange sources, int64_t axis, Region &combine);
  void write();

  unsigned idOf(Value tile, int64_t dim) { return ids.lookup(tile) + dim; }
  void same(Value lhs, int64_t lhsDim, Value rhs, int64_t rhsDim) {
    joins.push_back({idOf(lhs, lhsDim), idOf(rhs, rhsDim)});
  }
  void sameAll(Value lhs, Value rhs) {
    for (int64_t dim = 0; dim < typeOf(lhs).getRank(); ++dim)
      same(lhs, dim, rhs, dim);
  }
  void pin(Value tile, int64_t dim) { pins.push_back(idOf(tile, dim)); }
  void pinAll(Value tile) {
    for (int64_t dim = 0; dim < typeOf(tile).getRank(); ++dim)
      pin(tile, dim);
  }
  /// The extents that the tile is to have.
  SmallVector<int64_t> shapeOf(Value tile);

  KernelOp kernel;
  int64_t warps;
  SmallVector<Value> tiles;      ///< in program order
  DenseMap<Value, unsigned> ids; ///< of a tile's first dimension
  unsigned count = 0;            ///< of all dimensions
  SmallVector<std::pair<unsigned, unsigned>> joins;
  SmallVector<unsigned> pins;
  llvm::IntEqClasses classes;
  llvm::MapVector<unsigned, SmallVector<Value>> members; ///< tiles by class of one of their dimensions
  DenseMap<unsigned, int64_t> extents;                   ///< chosen, by class
};
} // namespace

void Padding::collect() {
  auto add = [&](Value value) {
    if (!isRegisterTile(value))
      return;
    tiles.push_back(value);
    ids[value] = count;
    count += typeOf(value).getRank();
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), add);
    llvm::for_each(op->getResults(), add);
  });
  kernel.walk([&](Operation *op) { relate(op); });
  classes.grow(count);
  for (auto [lhs, rhs] : joins)
    classes.join(lhs, rhs);
  for (Value tile : tiles)
    for (int64_t dim = 0; dim < typeOf(tile).getRank(); ++dim)
      members[classes.findLeader(idOf(tile, dim))].push_back(tile);
}

/// Dimensions that a reshape leaves alone, from either end.
void Padding::relateReshape(ReshapeOp op) {
  ArrayRef<int64_t> from = typeOf(op.getSource()).getShape(), to = typeOf(op.getResult()).getShape();
  int64_t i = 0, j = 0, fromEnd = from.size(), toEnd = to.size();
  auto skipUnits = [&] {
    while (i < fromEnd && from[i] == 1)
      ++i;
    while (j < toEnd && to[j] == 1)
      ++j;
  };
  for (skipUnits(); i < fromEnd && j < toEnd && from[i] == to[j]; skipUnits())
    same(op.getSource(), i++, op.getResult(), j++);
  auto skipUnitsBack = [&] {
    while (fromEnd > i && from[fromEnd - 1] == 1)
      --fromEnd;
    while (toEnd > j && to[toEnd - 1] == 1)
      --toEnd;
  };
  for (skipUnitsBack(); fromEnd > i && toEnd > j && from[fromEnd - 1] == to[toEnd - 1]; skipUnitsBack())
    same(op.getSource(), --fromEnd, op.getResult(), --toEnd);
  for (; i < fromEnd; ++i)
    pin(op.getSource(), i);
  for (; j < toEnd; ++j)
    pin(op.getResult(), j);
}

/// `meetsPadding`: elements that stay are combined with those behind the extent.
void Padding::relateCombine(Operation *op, ValueRange sources, int64_t axis, bool meetsPadding, Region &combine) {
  for (Value source : sources.drop_front())
    sameAll(sources.front(), source);
  if (meetsPadding && getNeutrals(combine).empty())
    pin(sources.front(), axis);
}

void Padding::relate(Operation *op) {
  for (const Tie &tie : getTies(op))
    sameAll(tie.source, tie.target);
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    for (int64_t dim = 0; dim < typeOf(expand.getSource()).getRank(); ++dim)
      same(expand.getSource(), dim, expand.getResult(), dim + (dim >= int64_t(expand.getAxis())));
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (auto [dim, extent] : llvm::enumerate(typeOf(broadcast.getSource()).getShape()))
      if (extent != 1)
        same(broadcast.getSource(), dim, broadcast.getResult(), dim);
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      same(transpose.getSource(), from, transpose.getResult(), to);
  } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    relateReshape(reshape);
  } else if (auto split = dyn_cast<SplitOp>(op)) {
    for (int64_t dim = 0; dim < typeOf(split.getFirst()).getRank(); ++dim)
      same(split.getSource(), dim, split.getFirst(), dim);
  } else if (auto join = dyn_cast<JoinOp>(op)) {
    for (Value half : join.getOperands())
      for (int64_t dim = 0; dim < typeOf(half).getRank(); ++dim)
        same(half, dim, join.getResult(), dim);
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    int64_t axis = reduce.getAxis();
    relateCombine(op, reduce.getSources(), axis, /*meetsPadding=*/true, reduce.getCombine());
    for (auto [source, result] : llvm::zip(reduce.getSources(), reduce.getResults()))
      for (int64_t dim = 0; isRegisterTile(result) && dim < typeOf(result).getRank(); ++dim)
        same(source, dim + (dim >= axis), result, dim);
  } else if (auto scan = dyn_cast<ScanOp>(op)) {
    relateCombine(op, scan.getSources(), scan.getAxis(), scan.getReverse(), scan.getCombine());
    for (auto [source, result] : llvm::zip(scan.getSources(), scan.getResults()))
      sameAll(source, result);
  } else if (isa<GatherOp, ScatterOp>(op)) {
    auto gather = dyn_cast<GatherOp>(op);
    Value tile = gather ? gather.getResult() : cast<ScatterOp>(op).getTile();
    OperandRange positions = gather ? gather.getPositions() : cast<ScatterOp>(op).getPositions();
    int64_t lead = int64_t(positions.size()) - typeOf(tile).getRank();
    for (auto [number, position] : llvm::enumerate(positions)) {
      if (!isRegisterTile(position))
        continue;
      if (typeOf(position).getRank() == typeOf(tile).getRank() &&
          typeOf(position).getShape() == typeOf(tile).getShape())
        sameAll(position, tile);
      else
        same(position, 0, tile, int64_t(number) - lead);
    }
    if (gather && isWritten(gather.getArray()))
      pinAll(tile);
  } else if (auto load = dyn_cast<LoadOp>(op)) {
    // What is read too much of other programs' elements would race with their writes.
    if (isWritten(load.getArray()))
      pinAll(load.getResult());
  } else if (!isa<StoreOp, ReduceStoreOp, AssertOp, PrintOp, IotaOp, tensor::SplatOp, arith::ConstantOp, YieldOp,
                  scf::YieldOp, scf::ConditionOp, ForOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op) &&
             !(OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1)) {
    auto pinTile = [&](Value value) {
      if (isRegisterTile(value))
        pinAll(value);
    };
    llvm::for_each(op->getOperands(), pinTile);
    llvm::for_each(op->getResults(), pinTile);
  }
}

SmallVector<int64_t> Padding::shapeOf(Value tile) {
  SmallVector<int64_t> shape(typeOf(tile).getShape());
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (auto chosen = extents.find(classes.findLeader(idOf(tile, dim))); chosen != extents.end())
      extent = chosen->second;
  return shape;
}

/// Words that a thread holds of the tiles of a class, each shape once, if the class has this extent.
int64_t Padding::registersWith(unsigned leader, int64_t extent) {
  auto before = extents.find(leader);
  std::optional<int64_t> old = before == extents.end() ? std::nullopt : std::optional(before->second);
  extents[leader] = extent;
  std::set<std::vector<int64_t>> shapes;
  int64_t registers = 0;
  for (Value tile : members[leader]) {
    SmallVector<int64_t> shape = shapeOf(tile);
    if (shapes.insert({shape.begin(), shape.end()}).second)
      registers += blocked({shape.begin(), shape.end()}, 1, warps, shape.size() - 1).numRegisters();
  }
  extents.erase(leader);
  if (old)
    extents[leader] = *old;
  return registers;
}

/// The padding that leaves each thread the fewest registers, if that is a good part of them; of equal ones the shortest.
void Padding::choose() {
  DenseSet<unsigned> pinned;
  for (unsigned id : pins)
    pinned.insert(classes.findLeader(id));
  for (auto &[leader, list] : members) {
    int64_t extent = 0;
    for (auto [dim, size] : llvm::enumerate(typeOf(list.front()).getShape()))
      if (classes.findLeader(idOf(list.front(), dim)) == leader)
        extent = size;
    if (pinned.contains(leader) || llvm::isPowerOf2_64(extent))
      continue;
    int64_t most = registersWith(leader, extent) * 3 / 4, best = extent;
    // Below a sector of 32 bytes of f32, neighbouring lanes would be apart in memory.
    int64_t sector = std::min<int64_t>(8, llvm::PowerOf2Ceil(extent));
    for (int64_t unit = sector; unit / 2 < extent; unit *= 2) {
      int64_t padded = llvm::alignTo(extent, unit), registers = registersWith(leader, padded);
      if (registers <= most) {
        most = registers - 1;
        best = padded;
      }
    }
    if (best != extent)
      extents[leader] = best;
  }
}

/// Before `op` combines along a padded axis: neutral elements behind its extent.
void Padding::neutralize(Operation *op, MutableOperandRange sources, int64_t axis, Region &combine) {
  Value first = sources[0].get();
  if (shapeOf(first)[axis] == typeOf(first).getDimSize(axis))
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  SmallVector<int64_t> shape = shapeOf(first);
  auto places = RankedTensorType::get(shape, builder.getI32Type());
  Value along = IotaOp::create(builder, loc, places, axis);
  Attribute extent = builder.getI32IntegerAttr(typeOf(first).getDimSize(axis));
  Value end = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(places, extent));
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, along, end);
  for (auto [source, neutral] : llvm::zip(sources, getNeutrals(combine))) {
    auto type = RankedTensorType::get(shape, typeOf(source.get()).getElementType());
    Value other = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, Attribute(neutral)));
    // The source has its new type by the time that this is verified.
    OperationState state(loc, arith::SelectOp::getOperationName(), {inside, source.get(), other}, {type});
    source.set(builder.create(state)->getResult(0));
  }
}

void Padding::write() {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto reduce = dyn_cast<ReduceOp>(op))
      neutralize(op, reduce.getSourcesMutable(), reduce.getAxis(), reduce.getCombine());
    if (auto scan = dyn_cast<ScanOp>(op); scan && scan.getReverse())
      neutralize(op, scan.getSourcesMutable(), scan.getAxis(), scan.getCombine());
    auto mark = [&](Value tile, auto store) {
      if (!tile || !isRegisterTile(tile))
        return;
      if (ArrayRef<int64_t> valid = typeOf(tile).getShape(); shapeOf(tile) != valid)
        store.setValid(valid);
    };
    if (auto store = dyn_cast<StoreOp>(op))
      mark(store.getTile(), store);
    else if (auto store = dyn_cast<ReduceStoreOp>(op))
      mark(store.getTile(), store);
    else if (auto store = dyn_cast<ScatterOp>(op))
      mark(store.getTile(), store);
    else if (auto check = dyn_cast<AssertOp>(op))
      mark(check.getCondition(), check);
    else if (auto print = dyn_cast<PrintOp>(op))
      mark(print.getTile(), print);
  }
  for (Value tile : tiles) {
    SmallVector<int64_t> shape = shapeOf(tile);
    if (typeOf(tile).getShape() == ArrayRef(shape))
      continue;
    auto type = RankedTensorType::get(shape, typeOf(tile).getElementType());
    if (auto constant = tile.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(type));
    tile.setType(type);
  }
}

void Padding::run() {
  collect();
  choose();
  if (!extents.empty())
    write();
}

void headrace::tile::padTiles(KernelOp kernel) { Padding(kernel).run(); }
