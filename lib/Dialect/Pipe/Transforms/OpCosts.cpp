// Costs of ops by the table of units: elements, bytes and multiply-adds over throughputs.
#include "headrace/Dialect/Pipe/Transforms/OpCosts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

//===- matmuls ------------------------------------------------------------------------------------------------------===//

namespace {
/// Extents of a matmul, bytes of its operands' elements, and which of them are read from shared memory.
struct Product {
  int64_t m, n, k, bytesA, bytesB;
};
} // namespace

static std::pair<ArrayRef<int64_t>, Type> shapeOf(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return {buffer.getShape(), buffer.getElementType()};
  auto tile = cast<RankedTensorType>(type);
  return {tile.getShape(), tile.getElementType()};
}

static std::optional<Product> getProduct(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Product>>(op)
      .Case<MmaOp, MmaAsyncOp, MmaTmemOp>([](auto mma) {
        auto [a, aType] = shapeOf(mma.getA().getType());
        auto [b, bType] = shapeOf(mma.getB().getType());
        return Product{a[mma.getTransposeA() ? 1 : 0], b[mma.getTransposeB() ? 0 : 1], a[mma.getTransposeA() ? 0 : 1],
                       aType.getIntOrFloatBitWidth() / 8, bType.getIntOrFloatBitWidth() / 8};
      })
      .Default(std::nullopt);
}

/// Bytes of shared memory that the operands of one product are read as: mma.sync reads A once for every group of
/// columns and B once for every group of rows, wgmma and tcgen05 once for each 64 (128) rows.
static double sharedTraffic(const Product &product, tile::AtomAttr atom) {
  double a = double(product.m) * product.k * product.bytesA, b = double(product.n) * product.k * product.bytesB;
  switch (atom.getFamily()) {
  case tile::Family::Tcgen05:
    return a + b;
  case tile::Family::Wgmma:
    return a * atom.getGroupsN() + b * (double(product.m) / 64);
  case tile::Family::MmaSync:
  case tile::Family::Fma:
    return a * atom.getGroupsN() + b * atom.getGroupsM();
  }
  return a + b;
}

static UnitCycles costOfMatmul(Operation *op, const Product &product, const UnitModel &model) {
  UnitCycles cycles;
  auto atom = op->getAttrOfType<tile::AtomAttr>("atom");
  double work = double(product.m) * product.n * product.k;
  bool fma = atom.getFamily() == tile::Family::Fma;
  cycles[Unit::Tensor] = work / (fma ? model.multiplyAdds32 : model.multiplyAdds16 * 2 / product.bytesA);
  cycles[Unit::Shared] = sharedTraffic(product, atom) / model.sharedBytes;
  return cycles;
}

//===- element-wise -------------------------------------------------------------------------------------------------===//

bool headrace::pipe::isView(Operation *op) {
  return isa<tile::BroadcastOp, tile::ExpandDimsOp, tile::TransposeOp, tensor::SplatOp, ConvertLayoutOp, ViewOp,
             arith::ConstantOp>(op);
}

/// A division is a reciprocal and its refinement.
static constexpr double kStepsOfDivision = 8;

static UnitCycles costOfElements(Operation *op, int64_t elements, const UnitModel &model) {
  UnitCycles cycles;
  double special = 0, multiplyAdds = 0, integers = 0;
  if (isa<math::Exp2Op, math::Log2Op, math::RsqrtOp, math::SqrtOp, math::TanhOp, math::SinOp, math::CosOp>(op))
    special = 1;
  else if (isa<math::ExpOp, math::LogOp>(op))
    special = multiplyAdds = 1;
  else if (isa<arith::DivFOp>(op))
    special = 1, multiplyAdds = kStepsOfDivision;
  else if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::FmaOp, arith::NegFOp>(op))
    multiplyAdds = 1;
  else
    integers = 1;
  cycles[Unit::Special] = special * elements / model.special;
  cycles[Unit::Alu] = multiplyAdds * elements / model.multiplyAdds32 + integers * elements / model.integers;
  return cycles;
}

/// Elements of the op's largest tile, 0 if it works on scalars.
static int64_t countElements(Operation *op) {
  int64_t most = 0;
  auto count = [&](Type type) {
    if (auto tile = dyn_cast<RankedTensorType>(type))
      most = std::max(most, tile.getNumElements());
  };
  llvm::for_each(op->getOperandTypes(), count);
  llvm::for_each(op->getResultTypes(), count);
  return most;
}

//===- all ----------------------------------------------------------------------------------------------------------===//

UnitCycles headrace::pipe::costOf(Operation *op, const UnitModel &model) {
  UnitCycles cycles;
  if (std::optional<Product> product = getProduct(op))
    return costOfMatmul(op, *product, model);
  if (auto copy = dyn_cast<CopyOp>(op)) {
    double bytes = copy.getBuffer().getType().getSharedBytes();
    cycles[Unit::Copy] = bytes / model.copyBytes;
    cycles[Unit::Shared] = bytes / model.sharedBytes;
    return cycles;
  }
  auto slotCost = [&](BufferType buffer) {
    if (buffer.isShared())
      cycles[Unit::Shared] = buffer.getSharedBytes() / model.sharedBytes;
    else if (model.tensorMemoryBytes > 0)
      cycles[Unit::Alu] = double(ShapedType::getNumElements(buffer.getShape())) * 4 / model.tensorMemoryBytes;
    return cycles;
  };
  if (auto read = dyn_cast<ReadOp>(op))
    return slotCost(read.getBuffer().getType());
  if (auto write = dyn_cast<WriteOp>(op))
    return slotCost(write.getBuffer().getType());
  bool moves =
      isa<MmaWaitOp, scf::IfOp, scf::ForOp, scf::WhileOp, scf::YieldOp>(op) || op->hasTrait<OpTrait::IsTerminator>();
  if (moves || isView(op))
    return cycles;
  if (isa<LoadOp, StoreOp, tile::GatherOp, tile::ScatterOp, tile::ReduceStoreOp>(op)) {
    for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()), SmallVector<Value>(op->getResults())))
      if (auto tile = dyn_cast<RankedTensorType>(value.getType()))
        cycles[Unit::Copy] = std::max(cycles[Unit::Copy], double(tile.getNumElements()) *
                                                              tile.getElementTypeBitWidth() / 8 / model.copyBytes);
    return cycles;
  }
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    for (Operation &inner : op->getRegion(0).front().without_terminator())
      cycles += costOfElements(&inner, countElements(op), model);
    return cycles;
  }
  if (int64_t elements = countElements(op))
    return costOfElements(op, elements, model);
  return cycles;
}

UnitCycles headrace::pipe::costWithRegions(Operation *op, const UnitModel &model) {
  UnitCycles total = costOf(op, model);
  if (isa<tile::ReduceOp, tile::ScanOp>(op))
    return total;
  std::optional<UnitCycles> least;
  auto sum = [](const UnitCycles &cycles) { return std::accumulate(cycles.busy.begin(), cycles.busy.end(), 0.0); };
  for (Region &region : op->getRegions()) {
    UnitCycles branch;
    if (!region.empty())
      for (Operation &inner : region.getOps())
        branch += costWithRegions(&inner, model);
    if (!least || sum(branch) < sum(*least))
      least = branch;
  }
  return least ? total += *least : total;
}

double headrace::pipe::latencyOf(Operation *op, const UnitModel &model) {
  if (isa<MmaAsyncOp, MmaTmemOp>(op))
    return model.matmulLatency;
  if (isa<CopyOp>(op))
    return model.copyLatency;
  if (isa<tile::ReduceOp, tile::ScanOp>(op))
    return model.reductionLatency;
  if (isGlobalRead(op))
    return model.loadLatency;
  return 0;
}

int64_t headrace::pipe::registersOf(Type type) {
  if (auto inflight = dyn_cast<InflightType>(type))
    type = inflight.getTile();
  auto tile = dyn_cast<RankedTensorType>(type);
  auto layout = tile ? dyn_cast_or_null<tile::LayoutAttr>(tile.getEncoding()) : tile::LayoutAttr();
  if (!layout)
    return 0;
  return llvm::divideCeil(layout.getTileLayout().numRegisters() * tile.getElementTypeBitWidth(), 32);
}
