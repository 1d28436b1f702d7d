// Conversion of kernels to the pipe dialect: the walk in program order, and the ops that need no channel.
#include "TileToPipe.h"
#include "headrace/Conversion/Passes.h"
#include "headrace/Dialect/Tile/Transforms/LayoutRelations.h"
#include "headrace/Dialect/Tile/Transforms/Order.h"
#include "headrace/Dialect/Tile/Transforms/Plan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace headrace {
#define GEN_PASS_DEF_CONVERTTILETOPIPE
#include "headrace/Conversion/Passes.h.inc"
} // namespace headrace

using namespace mlir;
using namespace headrace;

KernelConversion::KernelConversion(func::FuncOp kernel, bool specialize)
    : kernel(kernel), specialize(specialize), builder(kernel.getContext()) {}

LogicalResult KernelConversion::run() {
  // Asked of all before any is converted: the answer depends on the others.
  kernel.walk([&](Operation *op) {
    if (tile::needsOrder(op))
      ordered.insert(op);
  });
  return convertBlock(kernel.getBody().front());
}

/// Ops that work in registers, or on global memory by themselves, go on living at the pipe level.
static bool needsNoChannel(Operation *op) {
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    return tile::onlyRenames(reshape);
  return isa<tile::BroadcastOp, tile::ExpandDimsOp, tile::TransposeOp, tile::SplitOp, tile::JoinOp, tile::IotaOp,
             tile::ReduceOp, tile::ScanOp, tile::LoadScalarOp, tile::StoreScalarOp, tile::GatherOp, tile::ScatterOp,
             tile::ReduceStoreOp, tile::AssertOp, tile::PrintOp>(op);
}

LogicalResult KernelConversion::convertBlock(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops)
    if (failed(convertOp(op)))
      return failure();
  releaseSlots(block);
  // What was converted goes, users first.
  for (Operation *op : llvm::reverse(ops)) {
    bool ours = op->getDialect() && op->getDialect()->getNamespace() == tile::TileDialect::getDialectNamespace();
    bool stays = needsNoChannel(op);
    bool tmemConstant = isa<arith::ConstantOp>(op) && op->use_empty();
    // What was assumed counts until every op that asks is converted.
    if (auto assume = dyn_cast<tile::AssumeOp>(op))
      assume.getResult().replaceAllUsesWith(assume.getValue());
    if ((ours && !stays) || tmemConstant) {
      forget(op);
      op->erase();
    }
  }
  return success();
}

/// An op made later may get the memory of an erased one: nothing may be known of its values by then.
void KernelConversion::forget(Operation *op) {
  ordered.erase(op);
  auto forgetValue = [&](Value value) {
    slots.erase(value);
    accumulators.erase(value);
  };
  llvm::for_each(op->getResults(), forgetValue);
  for (Region &region : op->getRegions())
    llvm::for_each(region.getArguments(), forgetValue);
}

/// What changes hands between threads through global memory: they meet before the access.
void KernelConversion::keepOrder(Operation *op) {
  if (ordered.contains(op))
    pipe::RoleBarrierOp::create(builder, op->getLoc(), IntegerAttr());
}

static gpu::Dimension toDimension(uint64_t axis) { return static_cast<gpu::Dimension>(axis); }

LogicalResult KernelConversion::convertOp(Operation *op) {
  builder.setInsertionPoint(op);
  keepOrder(op);
  if (needsNoChannel(op))
    return success();
  auto replace = [&](Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    return success();
  };
  if (auto id = dyn_cast<tile::ProgramIdOp>(op))
    return replace(gpu::BlockIdOp::create(builder, op->getLoc(), toDimension(id.getAxis())));
  if (auto count = dyn_cast<tile::NumProgramsOp>(op))
    return replace(gpu::GridDimOp::create(builder, op->getLoc(), toDimension(count.getAxis())));
  if (auto grid = dyn_cast<tile::GridOp>(op))
    return convertGrid(grid);
  if (auto grouped = dyn_cast<tile::GroupedIndexOp>(op))
    return convertGroupedIndex(grouped), success();
  if (auto assume = dyn_cast<tile::AssumeOp>(op))
    return convertAssume(assume), success();
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return convertLoad(load), success();
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return convertStore(store), success();
  if (auto dot = dyn_cast<tile::DotOp>(op))
    return convertDot(dot), success();
  if (auto crossing = dyn_cast<tile::ConvertLayoutOp>(op))
    return convertLayout(crossing), success();
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    return convertReshape(reshape), success();
  if (auto loop = dyn_cast<tile::ForOp>(op))
    return convertFor(loop);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(convertBlock(block)))
        return failure();
  return success();
}

/// Tiles down columns of `group` rows: see the op's description. All numbers are non-negative.
void KernelConversion::convertGroupedIndex(tile::GroupedIndexOp op) {
  Location loc = op.getLoc();
  Value group = arith::ConstantIndexOp::create(builder, loc, op.getGroup());
  Value inGroup = arith::MulIOp::create(builder, loc, group, op.getColumns());
  Value groupIndex = arith::DivUIOp::create(builder, loc, op.getIndex(), inGroup);
  Value firstRow = arith::MulIOp::create(builder, loc, groupIndex, group);
  Value rest = arith::SubIOp::create(builder, loc, op.getRows(), firstRow);
  Value rows = arith::MinUIOp::create(builder, loc, rest, group); // the last group may be shorter
  Value place = arith::RemUIOp::create(builder, loc, op.getIndex(), inGroup);
  Value row = arith::AddIOp::create(builder, loc, firstRow, arith::RemUIOp::create(builder, loc, place, rows));
  Value column = arith::DivUIOp::create(builder, loc, place, rows);
  op.getRow().replaceAllUsesWith(row);
  op.getColumn().replaceAllUsesWith(column);
}

LogicalResult KernelConversion::convertGrid(tile::GridOp op) {
  SmallVector<Attribute> sizes;
  for (Value size : op.getSizes()) {
    Operation *culprit = nullptr;
    Attribute expression = getHostExpression(size, culprit);
    if (!expression) {
      InFlightDiagnostic error = op.emitError("expected grid sizes that the launcher can compute from constants, array "
                                              "extents and scalar arguments");
      if (culprit)
        error.attachNote(culprit->getLoc()) << "this is none of them";
      return error;
    }
    sizes.push_back(expression);
  }
  while (sizes.size() < 3)
    sizes.push_back(builder.getI64IntegerAttr(1));
  kernel->setAttr("pipe.grid", builder.getArrayAttr(sizes));
  if (op.getPersistent())
    kernel->setAttr("pipe.persistent", builder.getUnitAttr());
  if (auto trips = op.getTripsAttr())
    kernel->setAttr("pipe.trips", trips);
  return success();
}

/// A fact about an extent or a scalar argument goes to the launcher.
void KernelConversion::convertAssume(tile::AssumeOp op) {
  Operation *culprit = nullptr;
  auto expression = dyn_cast_or_null<ArrayAttr>(getHostExpression(op.getValue(), culprit));
  if (!expression)
    return;
  StringRef kind = cast<StringAttr>(expression[0]).getValue();
  if (kind != "dim" && kind != "scalar")
    return;
  SmallVector<NamedAttribute> entry = {builder.getNamedAttr("what", builder.getStringAttr((kind + "_multiple").str())),
                                       builder.getNamedAttr("arg", expression[1]),
                                       builder.getNamedAttr("of", builder.getI64IntegerAttr(op.getDivisor())),
                                       builder.getNamedAttr("because", builder.getStringAttr("tile.assume"))};
  if (kind == "dim")
    entry.push_back(builder.getNamedAttr("dim", expression[2]));
  SmallVector<Attribute> contract;
  if (auto known = kernel->getAttrOfType<ArrayAttr>("pipe.contract"))
    contract.append(known.begin(), known.end());
  contract.push_back(builder.getDictionaryAttr(entry));
  kernel->setAttr("pipe.contract", builder.getArrayAttr(contract));
}

/// The function that takes over a kernel's body, arguments and knobs.
static func::FuncOp createFunction(tile::KernelOp kernel) {
  OpBuilder builder(kernel);
  auto function = func::FuncOp::create(builder, kernel.getLoc(), kernel.getSymName(), kernel.getFunctionType());
  function->setAttr(pipe::kKernelAttr, builder.getUnitAttr());
  function->setAttr(pipe::kWarpsAttr, builder.getI64IntegerAttr(*kernel.getWarps()));
  if (kernel.getOccupancy())
    function->setAttr("pipe.occupancy", builder.getI64IntegerAttr(*kernel.getOccupancy()));
  if (auto specialize = kernel->getAttrOfType<BoolAttr>(tile::kSpecializeAttr); specialize && specialize.getValue())
    function->setAttr("pipe.specialize", builder.getUnitAttr());
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (DictionaryAttr attrs = kernel.getArgAttrDict(i))
      function.setArgAttrs(i, attrs.getValue());
  function.getBody().takeBody(kernel.getBody());
  auto end = cast<tile::ReturnOp>(function.getBody().front().getTerminator());
  builder.setInsertionPoint(end);
  func::ReturnOp::create(builder, end.getLoc());
  end.erase();
  kernel.erase();
  return function;
}

namespace {
struct ConvertTileToPipePass : public headrace::impl::ConvertTileToPipeBase<ConvertTileToPipePass> {
  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>())) {
      if (failed(checkTiles(kernel)))
        return signalPassFailure();
      func::FuncOp function = createFunction(kernel);
      if (failed(KernelConversion(function, function->hasAttr("pipe.specialize")).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
