// What the conversion to channels takes for granted, and the passes of the tile dialect see to.
#include "TileToPipe.h"
#include "headrace/Dialect/Pipe/IR/TensorMaps.h"
#include "headrace/Dialect/Tile/Transforms/CopyMechanism.h"
#include "headrace/Dialect/Tile/Transforms/Plan.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace headrace;
using tile::Family;
using tile::LayoutAttr;
using tile::Mechanism;
using tile::SharedAttr;
using tile::TmemAttr;

template <typename Layout> static bool isIn(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa_and_nonnull<Layout>(type.getEncoding());
}

namespace {
/// The check of one kernel.
struct TileChecker {
  tile::KernelOp kernel;
  int64_t warps = 0;

  LogicalResult check();
  LogicalResult checkOp(Operation *op);
  LogicalResult checkType(Location loc, Type type);
  LogicalResult checkLayout(Location loc, RankedTensorType type, LayoutAttr layout);
  LogicalResult checkSharedTile(Value tile);
  LogicalResult checkCrossing(tile::ConvertLayoutOp op);
  LogicalResult checkDot(tile::DotOp dot);
  LogicalResult checkTmemDot(tile::DotOp dot);
  LogicalResult checkTma(Operation *op, Value array, RankedTensorType tile);
};
} // namespace

LogicalResult TileChecker::checkLayout(Location loc, RankedTensorType type, LayoutAttr attr) {
  TileLayout layout = attr.getTileLayout();
  if (layout.numWarps() != warps)
    return emitError(loc) << "expected a layout over the kernel's " << warps << " warps, got one over "
                          << layout.numWarps();
  if (!llvm::equal(layout.shape(), type.getShape()))
    return emitError(loc) << "expected a layout of the tile's extents, got " << layout.toString() << " for " << type;
  return success();
}

LogicalResult TileChecker::checkType(Location loc, Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile) {
    if (isa<TensorType, VectorType>(type))
      return emitError(loc) << "expected a tile of static extents, got " << type;
    return success();
  }
  if (auto layout = dyn_cast_or_null<LayoutAttr>(tile.getEncoding()))
    return checkLayout(loc, tile, layout);
  if (!isa_and_nonnull<SharedAttr, TmemAttr>(tile.getEncoding()))
    return emitError(loc) << "expected a tile with a layout, which tile-infer-layouts chooses, got " << type;
  // Says itself what is wrong.
  auto buffer = pipe::BufferType::getChecked([&] { return emitError(loc); }, tile.getContext(), tile.getShape(),
                                             tile.getElementType(), tile.getEncoding());
  return success(bool(buffer));
}

LogicalResult TileChecker::checkTma(Operation *op, Value array, RankedTensorType tile) {
  auto argument = dyn_cast<BlockArgument>(array);
  if (!argument || argument.getOwner()->getParentOp() != kernel)
    return op->emitError("expected an array that is an argument of the kernel, for a tensor map");
  auto buffer = pipe::BufferType::get(tile.getContext(), tile.getShape(), tile.getElementType(), tile.getEncoding());
  std::string why = pipe::whyNotTma(cast<MemRefType>(array.getType()), buffer);
  if (!why.empty())
    return op->emitError("TMA cannot move this tile: ") << why;
  return success();
}

/// A tile in shared memory is loaded or converted there, and is read by matmuls, conversions and
/// (staged ones) stores.
LogicalResult TileChecker::checkSharedTile(Value tile) {
  Operation *op = tile.getDefiningOp();
  auto load = dyn_cast_or_null<tile::LoadOp>(op);
  auto crossing = dyn_cast_or_null<tile::ConvertLayoutOp>(op);
  if (!load && !crossing)
    return emitError(tile.getLoc()) << "expected tiles in shared memory to be loaded or converted there";
  if (load && tile::hasFill(load))
    return op->emitError("expected a tile in shared memory to be filled with zeros: a fill is put in where it is read");
  if (crossing && tile.use_empty())
    return op->emitError("expected a reader of this tile in shared memory");
  for (OpOperand &use : tile.getUses()) {
    auto dot = dyn_cast<tile::DotOp>(use.getOwner());
    bool read = (dot && use.get() != dot.getAcc()) || isa<tile::ConvertLayoutOp>(use.getOwner()) ||
                (crossing && tile.hasOneUse() && isa<tile::StoreOp>(use.getOwner()));
    if (!read)
      return use.getOwner()->emitError("expected a tile in registers as operand ") << use.getOperandNumber();
  }
  if (!load)
    return success();
  if (!load.getMechanism())
    return load.emitError("expected tile-plan to have chosen a mechanism");
  return *load.getMechanism() == Mechanism::Tma ? checkTma(load, load.getArray(), load.getTile()) : success();
}

LogicalResult TileChecker::checkCrossing(tile::ConvertLayoutOp op) {
  Value source = op.getSource(), result = op.getResult();
  if (isIn<TmemAttr>(result) || (!isIn<LayoutAttr>(source) && !isIn<LayoutAttr>(result)))
    return op.emitError("expected a conversion from or to registers, and none to tensor memory, got ")
           << source.getType() << " to " << result.getType();
  if (!isIn<TmemAttr>(source))
    return success();
  if (auto dot = source.getDefiningOp<tile::DotOp>())
    if (isIn<TmemAttr>(dot.getAcc()) && dot.getAcc().getDefiningOp<arith::ConstantOp>())
      return success();
  if (source.getDefiningOp<tile::ForOp>())
    return success();
  return op.emitError("expected the accumulator of a whole loop, or of one matmul that starts from zero");
}

/// Accumulators in tensor memory start from zero; within a loop they are its argument, or the dot
/// before.
LogicalResult TileChecker::checkTmemDot(tile::DotOp dot) {
  if (!isIn<SharedAttr>(dot.getA()) || !isIn<SharedAttr>(dot.getB()) || !isIn<TmemAttr>(dot.getAcc()))
    return dot.emitError("expected tcgen05 operands in shared and an accumulator in tensor memory");
  Value acc = dot.getAcc();
  while (auto before = acc.getDefiningOp<tile::DotOp>()) {
    if (before->getBlock() != dot->getBlock())
      break;
    acc = before.getAcc();
  }
  if (auto argument = dyn_cast<BlockArgument>(acc))
    if (argument.getOwner() == dot->getBlock() && isa<tile::ForOp>(dot->getParentOp()))
      return success();
  if (acc == dot.getAcc() && acc.getDefiningOp<arith::ConstantOp>())
    return success();
  return dot.emitError("expected an accumulator in tensor memory that this loop carries, or zero");
}

LogicalResult TileChecker::checkDot(tile::DotOp dot) {
  if (!dot.getAtom())
    return dot.emitError("expected tile-plan to have chosen an atom");
  Family family = dot.getAtom()->getFamily();
  if (family == Family::Tcgen05)
    return checkTmemDot(dot);
  bool sharedA = family == Family::Fma, sharedB = sharedA || family == Family::Wgmma;
  if (!isIn<LayoutAttr>(dot.getAcc()) || (sharedA && !isIn<SharedAttr>(dot.getA())) ||
      (sharedB && !isIn<SharedAttr>(dot.getB())))
    return dot.emitError("expected ") << stringifyFamily(family) << " operand"
                                      << (sharedA   ? "s in shared memory and"
                                          : sharedB ? " b in shared memory and"
                                                    : "s with")
                                      << " an accumulator in registers";
  return success();
}

LogicalResult TileChecker::checkOp(Operation *op) {
  for (Value result : op->getResults())
    if (failed(checkType(op->getLoc(), result.getType())))
      return failure();
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      if (failed(checkType(argument.getLoc(), argument.getType())))
        return failure();
  for (Value result : op->getResults()) {
    if (isIn<SharedAttr>(result) && failed(checkSharedTile(result)))
      return failure();
    bool inTmem =
        isa<tile::DotOp, tile::ForOp>(op) || matchPattern(result, m_AnyZeroFloat()) || matchPattern(result, m_Zero());
    if (isIn<TmemAttr>(result) && !inTmem)
      return op->emitError("expected tiles in tensor memory to be accumulators that start from zero");
  }
  bool takesTmem = isa<tile::DotOp, tile::ForOp, tile::YieldOp, tile::ConvertLayoutOp>(op);
  if (!takesTmem && llvm::any_of(op->getOperands(), isIn<TmemAttr>))
    return op->emitError("expected tiles in registers as operands");
  if (auto dot = dyn_cast<tile::DotOp>(op))
    return checkDot(dot);
  if (auto crossing = dyn_cast<tile::ConvertLayoutOp>(op))
    return checkCrossing(crossing);
  if (auto store = dyn_cast<tile::StoreOp>(op); store && isIn<SharedAttr>(store.getTile())) {
    if (store.getValid())
      return store.emitError("expected a tile with padding to be stored from registers");
    return checkTma(store, store.getArray(), store.getTileType());
  }
  if (op->getNumRegions() &&
      !isa<tile::KernelOp, tile::ForOp, tile::ReduceOp, tile::ScanOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op))
    return op->emitError("expected no control flow but tile.for, scf.for, scf.if and scf.while, got ") << op->getName();
  return success();
}

LogicalResult TileChecker::check() {
  if (!kernel.getWarps())
    return kernel.emitError("expected tile-plan to have chosen the warps");
  warps = *kernel.getWarps();
  return failure(
      kernel.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult { return checkOp(op); }).wasInterrupted());
}

LogicalResult headrace::checkTiles(tile::KernelOp kernel) { return TileChecker{kernel}.check(); }
