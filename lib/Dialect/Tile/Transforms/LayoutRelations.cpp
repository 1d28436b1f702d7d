// The rules of layouts, op by op.
#include "headrace/Dialect/Tile/Transforms/LayoutRelations.h"
#include "headrace/Layout/Fragments.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::tile;

bool headrace::tile::isRegisterTile(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && (!type.getEncoding() || isa<LayoutAttr>(type.getEncoding()));
}

//===- ties ---------------------------------------------------------------------------------------------------------===//

namespace {
/// Collects the ties of an op, leaving out scalars and tiles elsewhere than in registers.
struct TieCollector {
  SmallVector<Tie> ties;

  void same(Value lhs, Value rhs) {
    if (isRegisterTile(lhs) && isRegisterTile(rhs))
      ties.push_back({lhs, rhs, nullptr});
  }
  void flows(OpOperand &use, Value target) {
    if (isRegisterTile(use.get()) && isRegisterTile(target))
      ties.push_back({use.get(), target, &use});
  }
  template <typename Uses, typename Targets> void flow(Uses &&uses, Targets &&targets) {
    for (auto [use, target] : llvm::zip(uses, targets))
      flows(use, target);
  }
};
} // namespace

SmallVector<Tie> headrace::tile::getTies(Operation *op) {
  TieCollector collector;
  if (auto loop = dyn_cast<ForOp>(op)) {
    for (auto [argument, result] : llvm::zip(loop.getIterArgs(), loop.getResults()))
      collector.same(argument, result);
    collector.flow(loop.getInitsMutable(), loop.getIterArgs());
    collector.flow(loop.getBody()->getTerminator()->getOpOperands(), loop.getIterArgs());
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [argument, result] : llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
      collector.same(argument, result);
    collector.flow(loop.getInitArgsMutable(), loop.getRegionIterArgs());
    collector.flow(loop.getYieldedValuesMutable().value(), loop.getRegionIterArgs());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [argument, result] : llvm::zip(loop.getAfterArguments(), loop.getResults()))
      collector.same(argument, result);
    collector.flow(loop.getInitsMutable(), loop.getBeforeArguments());
    collector.flow(loop.getYieldOp()->getOpOperands(), loop.getBeforeArguments());
    collector.flow(loop.getConditionOp().getArgsMutable(), loop.getAfterArguments());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region &region : branch->getRegions())
      if (!region.empty())
        collector.flow(region.front().getTerminator()->getOpOperands(), branch.getResults());
  } else if (auto dot = dyn_cast<DotOp>(op)) {
    collector.flows(dot.getAccMutable(), dot.getResult());
  } else if (auto split = dyn_cast<SplitOp>(op)) {
    collector.same(split.getFirst(), split.getSecond());
  } else if (auto print = dyn_cast<PrintOp>(op)) {
    for (OpOperand &use : print.getValuesMutable())
      if (Value tile = print.getTile(); tile && use.get() != tile)
        collector.flows(use, tile);
  } else if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1) {
    for (OpOperand &use : op->getOpOperands())
      collector.flows(use, op->getResult(0));
  }
  return std::move(collector.ties);
}

//===- derived layouts ----------------------------------------------------------------------------------------------===//

bool headrace::tile::onlyRenames(ReshapeOp op) {
  auto layoutOf = [](Value tile) {
    return dyn_cast_or_null<LayoutAttr>(cast<RankedTensorType>(tile.getType()).getEncoding());
  };
  LayoutAttr from = layoutOf(op.getSource()), to = layoutOf(op.getResult());
  return from && to && TileLayout::renaming(from.getTileLayout(), to.getTileLayout());
}

/// Whether a reshape only adds or drops dimensions of extent 1.
static bool onlyMovesUnits(ReshapeOp op) {
  auto withoutUnits = [](Value tile) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(tile.getType()).getShape();
    return llvm::to_vector(llvm::make_filter_range(shape, [](int64_t extent) { return extent != 1; }));
  };
  return withoutUnits(op.getSource()) == withoutUnits(op.getResult());
}

/// Whether neighbours in memory, a sector of 32 bytes of f32, are held by one warp: what warps share so finely cannot be
/// accessed well.
static bool keepsNeighbours(const TileLayout &layout) {
  constexpr int64_t kSector = 8;
  return llvm::all_of(layout.atom().bases(InDim::Warp), [&](const LinearLayout::Basis &basis) {
    int64_t step = rowMajorIndex(basis, layout.shape());
    return step == 0 || step >= kSector;
  });
}

static std::vector<int64_t> shapeOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getShape().vec(); }

static std::vector<int64_t> invert(ArrayRef<int64_t> permutation) {
  std::vector<int64_t> inverse(permutation.size());
  for (auto [to, from] : llvm::enumerate(permutation))
    inverse[from] = to;
  return inverse;
}

std::optional<TileLayout> headrace::tile::getResultLayout(OpOperand &use, const TileLayout &layout) {
  Operation *op = use.getOwner();
  if (auto expand = dyn_cast<ExpandDimsOp>(op))
    return layout.expand(expand.getAxis());
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return layout.transpose(transpose.getPermutation().vec());
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    std::optional<TileLayout> result = layout.reshape(shapeOf(reshape.getResult()));
    return result && (onlyMovesUnits(reshape) || keepsNeighbours(*result)) ? result : std::nullopt;
  }
  if (isa<SplitOp>(op) && layout.isWithinThreads(layout.rank() - 1))
    return layout.slice(layout.rank() - 1);
  if (isa<JoinOp>(op))
    return layout.pair();
  if (auto reduce = dyn_cast<ReduceOp>(op))
    if (layout.rank() > 1)
      return layout.slice(reduce.getAxis());
  return std::nullopt;
}

Value headrace::tile::getGoverningTile(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<ExpandDimsOp, BroadcastOp, TransposeOp, ReshapeOp, SplitOp, JoinOp>(op))
    return op->getResult(0);
  if (auto gather = dyn_cast<GatherOp>(op))
    return gather.getResult();
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return &use == &scatter.getTileMutable() ? Value() : scatter.getTile();
  // All sources of a reduction move together.
  if (isa<ReduceOp>(op) && use.getOperandNumber() > 0)
    return op->getOperand(0);
  return {};
}

/// Positions along one dimension of a tile, or for each of its elements: of those along all dimensions of the array, the
/// one with this number.
static TileLayout positionLayout(const TileLayout &tile, RankedTensorType position, OperandRange all, unsigned number) {
  int64_t dim = int64_t(number) - (int64_t(all.size()) - tile.rank());
  TileLayout layout = tile;
  if (position.getRank() == tile.rank())
    return layout;
  for (int64_t other = tile.rank() - 1; other >= 0; --other)
    if (other != dim)
      layout = layout.slice(other);
  return layout;
}

std::optional<TileLayout> headrace::tile::getOperandLayout(OpOperand &use, const TileLayout &layout) {
  Operation *op = use.getOwner();
  auto type = cast<RankedTensorType>(use.get().getType());
  if (auto expand = dyn_cast<ExpandDimsOp>(op))
    return layout.slice(expand.getAxis());
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return layout.transpose(invert(transpose.getPermutation()));
  if (isa<BroadcastOp>(op)) {
    TileLayout source = layout;
    for (auto [dim, extent] : llvm::enumerate(type.getShape()))
      if (extent != layout.shape()[dim])
        source = source.gather(dim, 1);
    return source;
  }
  if (isa<ReshapeOp>(op))
    return layout.reshape(shapeOf(use.get()));
  if (isa<SplitOp>(op))
    return layout.pair();
  if (isa<JoinOp>(op)) // where lanes share the two, each of them has the half that it takes
    return layout.slice(layout.rank() - 1);
  if (auto gather = dyn_cast<GatherOp>(op))
    return positionLayout(layout, type, gather.getPositions(),
                          use.getOperandNumber() - gather.getPositions().getBeginOperandIndex());
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return positionLayout(layout, type, scatter.getPositions(),
                          use.getOperandNumber() - scatter.getPositions().getBeginOperandIndex());
  return layout;
}

//===- fixed layouts ------------------------------------------------------------------------------------------------===//

/// Elements of 32 bits hold tf32.
static std::optional<TileLayout> dotOperandLayout(DotOp dot, bool isA) {
  AtomAttr atom = *dot.getAtom();
  int64_t k = dot.getK(), gm = atom.getGroupsM(), gn = atom.getGroupsN();
  int64_t rows = isA ? dot.getM() : dot.getN();
  int64_t bits = (isA ? dot.getAType() : dot.getBType()).getElementTypeBitWidth();
  std::optional<TileLayout> layout;
  if (atom.getFamily() == Family::Wgmma && isA)
    layout = wgmmaOperandA(rows, k, bits, gm, gn);
  else if (atom.getFamily() == Family::MmaSync && atom.getM() == 8)
    layout = isA ? mmaOperandA8(rows, k, bits, atom.getK(), gm, gn) : mmaOperandB8(rows, k, bits, atom.getK(), gm, gn);
  else if (atom.getFamily() == Family::MmaSync)
    layout = isA ? mmaOperandA(rows, k, bits, atom.getK(), gm, gn) : mmaOperandB(rows, k, bits, atom.getK(), gm, gn);
  // Fragments are described as M x K and N x K; tiles are stored so for a, and for a transposed b.
  bool stored = isA ? !dot.getTransposeA() : dot.getTransposeB();
  if (layout && !stored)
    return layout->transpose({1, 0});
  return layout;
}

std::optional<TileLayout> headrace::tile::getFixedOperandLayout(OpOperand &use, int64_t warps) {
  if (auto dot = dyn_cast<DotOp>(use.getOwner())) {
    if (use.get() == dot.getAcc() && use.getOperandNumber() == 2)
      return std::nullopt;
    return dotOperandLayout(dot, /*isA=*/use.getOperandNumber() == 0);
  }
  if (auto scan = dyn_cast<ScanOp>(use.getOwner()))
    return getFixedResultLayout(scan->getResult(use.getOperandNumber()), warps);
  return std::nullopt;
}

std::optional<TileLayout> headrace::tile::getFixedResultLayout(OpResult result, int64_t warps) {
  Operation *op = result.getOwner();
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (auto dot = dyn_cast<DotOp>(op)) {
    AtomAttr atom = *dot.getAtom();
    int64_t m = dot.getM(), n = dot.getN(), gm = atom.getGroupsM(), gn = atom.getGroupsN();
    switch (atom.getFamily()) {
    case Family::Tcgen05:
      return std::nullopt; // in tensor memory
    case Family::Wgmma:
      return wgmmaAccumulator(m, n, gm, gn);
    case Family::MmaSync:
      return atom.getM() == 8 ? mmaAccumulator8x8(m, n, gm, gn) : mmaAccumulator(m, n, gm, gn);
    case Family::Fma:
      return blocked({m, n}, 1, warps, 1);
    }
  }
  if (auto crossing = dyn_cast<ConvertLayoutOp>(op)) {
    auto from = cast<RankedTensorType>(crossing.getSource().getType());
    if (isa_and_nonnull<TmemAttr>(from.getEncoding()))
      return tmemAccumulator(from.getDimSize(0), from.getDimSize(1), warps / 4);
  }
  if (auto scan = dyn_cast<ScanOp>(op))
    return scannable(type.getShape().vec(), warps, scan.getAxis());
  return std::nullopt;
}
