// Placement: which tiles live in shared and tensor memory, and where they cross to registers.
#include "headrace/Dialect/Tile/Transforms/CopyMechanism.h"
#include "headrace/Dialect/Tile/Transforms/Divisibility.h"
#include "headrace/Dialect/Tile/Transforms/Passes.h"
#include "headrace/Dialect/Tile/Transforms/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace headrace::tile {
#define GEN_PASS_DEF_TILEPLACETILES
#include "headrace/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace headrace::tile

using namespace mlir;
using namespace headrace;
using namespace headrace::tile;

static bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

/// A tile of zeros without a layout.
static Value makeZero(OpBuilder &builder, Location loc, RankedTensorType type) {
  type = withLayout(type, {});
  return arith::ConstantOp::create(builder, loc, type,
                                   DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
}

static Value makeAdd(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (cast<RankedTensorType>(lhs.getType()).getElementType().isInteger())
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  return arith::AddFOp::create(builder, loc, lhs, rhs);
}

//===- accumulators in tensor memory --------------------------------------------------------------------------------===//

/// The loop that carries a dot's accumulator and does nothing else with it: acc -> dot (-> dot ...) -> yield. Null if
/// there is none.
static ForOp getAccumulationLoop(DotOp dot) {
  auto argument = dyn_cast<BlockArgument>(dot.getAcc());
  auto loop = argument ? dyn_cast<ForOp>(argument.getOwner()->getParentOp()) : ForOp();
  if (!loop || argument == loop.getInductionVar() || !argument.hasOneUse() || dot->getParentOp() != loop)
    return {};
  Value result = dot.getResult();
  while (result.hasOneUse()) {
    OpOperand &use = *result.getUses().begin();
    if (auto yield = dyn_cast<YieldOp>(use.getOwner()))
      return use.getOperandNumber() + 1 == argument.getArgNumber() ? loop : ForOp();
    auto next = dyn_cast<DotOp>(use.getOwner());
    if (!next || use.get() != next.getAcc() || next.getAtom() != dot.getAtom())
      return {};
    result = next.getResult();
  }
  return {};
}

/// Puts `value` and everything it flows to as an accumulator into tensor memory.
static void setTmem(Value value) {
  value.setType(withLayout(cast<RankedTensorType>(value.getType()), TmemAttr::get(value.getContext())));
}

/// Carries a sum from zero in tensor memory through `loop`; what it started from is added in registers afterwards.
static void placeLoopAccumulator(ForOp loop, BlockArgument argument) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  unsigned index = argument.getArgNumber() - 1;
  Value result = loop.getResult(index), init = loop.getInits()[index];
  auto type = cast<RankedTensorType>(result.getType());

  Value zero = makeZero(builder, loc, type);
  setTmem(zero);
  cast<arith::ConstantOp>(zero.getDefiningOp())
      .setValueAttr(cast<DenseElementsAttr>(cast<arith::ConstantOp>(zero.getDefiningOp()).getValue())
                        .reshape(cast<ShapedType>(zero.getType())));
  loop.getInitsMutable()[index].assign(zero);
  setTmem(argument);
  for (Value value = argument; !isa<YieldOp>(*value.getUsers().begin());) {
    value = cast<DotOp>(*value.getUsers().begin()).getResult();
    setTmem(value);
  }
  setTmem(result);

  builder.setInsertionPointAfter(loop);
  auto crossing = ConvertLayoutOp::create(builder, loc, withLayout(type, {}), result);
  // A loop of no trips leaves tensor memory as it was: the sum is then what it started from.
  Value ran = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, loop.getLower(), loop.getUpper());
  Value sum = arith::SelectOp::create(builder, loc, ran, crossing, makeZero(builder, loc, type));
  if (!isZero(init))
    sum = makeAdd(builder, loc, sum, init);
  result.replaceUsesWithIf(sum, [&](OpOperand &use) { return use.getOwner() != crossing; });
}

/// acc' = acc + a * b with the product in tensor memory.
static void placeFreshProduct(DotOp dot) {
  OpBuilder builder(dot);
  Location loc = dot.getLoc();
  RankedTensorType type = dot.getAccType();
  Value acc = dot.getAcc(), zero = makeZero(builder, loc, type);
  auto constant = cast<arith::ConstantOp>(zero.getDefiningOp());
  setTmem(zero);
  constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).reshape(cast<ShapedType>(zero.getType())));
  dot.getAccMutable().assign(zero);
  setTmem(dot.getResult());
  builder.setInsertionPointAfter(dot);
  auto crossing = ConvertLayoutOp::create(builder, loc, withLayout(type, {}), dot.getResult());
  Value sum = isZero(acc) ? crossing.getResult() : makeAdd(builder, loc, acc, crossing);
  dot.getResult().replaceUsesWithIf(
      sum, [&](OpOperand &use) { return use.getOwner() != crossing && use.getOwner() != sum.getDefiningOp(); });
}

static void placeAccumulators(KernelOp kernel) {
  SmallVector<DotOp> dots;
  kernel.walk([&](DotOp dot) {
    if (dot.getAtom() && dot.getAtom()->getFamily() == Family::Tcgen05)
      dots.push_back(dot);
  });
  for (DotOp dot : dots) {
    if (dot.getAccType().getEncoding())
      continue; // a later link of a chain that is placed already
    if (ForOp loop = getAccumulationLoop(dot))
      placeLoopAccumulator(loop, cast<BlockArgument>(dot.getAcc()));
    else
      placeFreshProduct(dot);
  }
}

//===- shared memory ------------------------------------------------------------------------------------------------===//

static bool feedsTcgen05(Value tile) {
  return llvm::any_of(tile.getUsers(), [](Operation *user) {
    auto dot = dyn_cast<DotOp>(user);
    return dot && dot.getAtom()->getFamily() == Family::Tcgen05;
  });
}

/// A slot that tcgen05 frees cannot also wait for what the compute warps read of it: they get a load of their own.
static void separateReaders(KernelOp kernel) {
  kernel.walk([&](LoadOp load) {
    if (!feedsTcgen05(load.getResult()))
      return;
    OpBuilder builder(load);
    builder.setInsertionPointAfter(load);
    Operation *own = nullptr;
    for (OpOperand &use : llvm::make_early_inc_range(load.getResult().getUses())) {
      auto dot = dyn_cast<DotOp>(use.getOwner());
      if (dot && use.getOperandNumber() < 2 && dot.getAtom()->getFamily() == Family::Tcgen05)
        continue;
      if (!own)
        own = builder.clone(*load);
      use.set(own->getResult(0));
    }
  });
}

/// Where a slot is read to registers: as far inside of conditionals as all that use it.
static void setInsertionPointForRead(OpBuilder &builder, LoadOp load) {
  SmallVector<Operation *> users;
  for (OpOperand &use : load.getResult().getUses())
    if (auto dot = dyn_cast<DotOp>(use.getOwner()); !dot || use.get() == dot.getAcc())
      users.push_back(use.getOwner());
  Block *home = users.empty() ? load->getBlock() : users.front()->getBlock();
  auto holdsAll = [&] {
    return llvm::all_of(users, [&](Operation *user) { return home->findAncestorOpInBlock(*user); });
  };
  auto isInLoop = [&] {
    for (Operation *op = home->getParentOp(); op != load->getParentOp(); op = op->getParentOp())
      if (!isa<scf::IfOp>(op))
        return true;
    return false;
  };
  while (home != load->getBlock() && (!holdsAll() || isInLoop()))
    home = home->getParentOp()->getBlock();
  if (home == load->getBlock())
    builder.setInsertionPointAfter(load);
  else
    builder.setInsertionPointToStart(home);
}

/// Loads through shared memory: matmuls read the slot, everything else a copy in registers.
static void placeLoads(KernelOp kernel) {
  separateReaders(kernel);
  kernel.walk([&](LoadOp load) {
    if (!load.getMechanism() || !movesThroughShared(load))
      return;
    RankedTensorType type = load.getTile();
    int64_t major =
        std::max<int64_t>(0, contiguousTileDim(cast<MemRefType>(load.getArray().getType()), type.getRank()));
    load.getResult().setType(
        withLayout(type, feedsDot(load.getResult()) ? chooseSharedLayout(type, major) : chooseCopyLayout(type, major)));
    OpBuilder builder(load.getContext());
    setInsertionPointForRead(builder, load);
    ConvertLayoutOp crossing;
    for (OpOperand &use : llvm::make_early_inc_range(load.getResult().getUses())) {
      auto dot = dyn_cast<DotOp>(use.getOwner());
      if (dot && use.get() != dot.getAcc())
        continue;
      if (use.getOwner() == crossing)
        continue;
      if (!crossing)
        crossing = ConvertLayoutOp::create(builder, load.getLoc(), type, load.getResult());
      use.set(crossing);
    }
  });
}

/// Operands computed in registers that the instruction reads from shared memory.
static void placeOperands(KernelOp kernel) {
  kernel.walk([&](DotOp dot) {
    Family family = dot.getAtom()->getFamily();
    auto place = [&](OpOperand &operand, bool transposed, bool isA) {
      auto type = cast<RankedTensorType>(operand.get().getType());
      bool fromRegisters = family == Family::MmaSync || (family == Family::Wgmma && isA && !transposed);
      if (type.getEncoding() || fromRegisters)
        return;
      OpBuilder builder(dot);
      int64_t kDim = isA == transposed ? 0 : 1;
      auto shared = withLayout(type, chooseSharedLayout(type, kDim));
      operand.set(ConvertLayoutOp::create(builder, dot.getLoc(), shared, operand.get()));
    };
    place(dot.getAMutable(), dot.getTransposeA(), /*isA=*/true);
    place(dot.getBMutable(), dot.getTransposeB(), /*isA=*/false);
  });
}

/// TMA stores write units of this many bytes: a row that ends inside one has the rest of it overwritten with zeros
/// (measured on compute capability 9.0; loads are exact to the element).
static constexpr int64_t kStoreUnit = 16;

/// Routes a store through a staging tile in shared memory.
static void stage(StoreOp store) {
  OpBuilder builder(store);
  RankedTensorType type = store.getTileType();
  int64_t major = contiguousTileDim(cast<MemRefType>(store.getArray().getType()), type.getRank());
  auto shared = withLayout(type, chooseSharedLayout(type, major));
  store.getTileMutable().assign(ConvertLayoutOp::create(builder, store.getLoc(), shared, store.getTile()));
}

/// Staging tiles of TMA stores. Unless the array's rows are known to be whole units, the kernel asks at run time and
/// stores from registers if they are not.
static void placeStores(KernelOp kernel) {
  SmallVector<StoreOp> stores;
  kernel.walk([&](StoreOp store) {
    if (store.getMechanism() == Mechanism::Tma)
      stores.push_back(store);
  });
  for (StoreOp store : stores) {
    int64_t major = contiguousDim(cast<MemRefType>(store.getArray().getType()));
    int64_t unit = kStoreUnit * 8 / store.getTileType().getElementTypeBitWidth();
    if (getExtentDivisor(store.getArray(), major) % unit == 0) {
      stage(store);
      continue;
    }
    OpBuilder builder(store);
    Location loc = store.getLoc();
    Value extent = memref::DimOp::create(builder, loc, store.getArray(), major);
    Value rest = arith::RemUIOp::create(builder, loc, extent, arith::ConstantIndexOp::create(builder, loc, unit));
    Value whole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest,
                                        arith::ConstantIndexOp::create(builder, loc, 0));
    auto branch = scf::IfOp::create(builder, loc, whole, /*withElseRegion=*/true);
    builder.setInsertionPointToStart(&branch.getElseRegion().front());
    auto plain = cast<StoreOp>(builder.clone(*store));
    plain.setMechanism(Mechanism::Plain);
    plain->setAttr(kWhyAttr, builder.getStringAttr("tma: only where the array's rows are whole units of 16 bytes"));
    store->moveBefore(&branch.getThenRegion().front().front());
    stage(store);
  }
}

namespace {
struct TilePlaceTilesPass : public headrace::tile::impl::TilePlaceTilesBase<TilePlaceTilesPass> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      placeLoads(kernel);
      placeAccumulators(kernel);
      placeOperands(kernel);
      placeStores(kernel);
    }
  }
};
} // namespace
