// Tiles that a loop reads and does not change, kept in shared memory where the registers of a thread are too few.
#include "headrace/Dialect/Tile/Transforms/CopyMechanism.h"
#include "headrace/Dialect/Tile/Transforms/Passes.h"
#include "headrace/Dialect/Tile/Transforms/Plan.h"
#include "headrace/Dialect/Tile/Transforms/RegisterPressure.h"
#include "headrace/Dialect/Tile/Transforms/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

namespace headrace::tile {
#define GEN_PASS_DEF_TILEKEEPINSHARED
#include "headrace/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace headrace::tile

using namespace mlir;
using namespace headrace;
using namespace headrace::tile;

namespace {
/// A load before a loop, with the ops that widen or broadcast its tile, up to the one whose tile the loop reads.
struct Resident {
  LoadOp load;
  SmallVector<Operation *> chain; ///< from the load's user on; the loop reads the last one's result
  int64_t words = 0;              ///< that a thread holds of it

  Value read() { return chain.empty() ? Value(load.getResult()) : chain.back()->getResult(0); }
};
} // namespace

static int64_t bytesOf(RankedTensorType tile) {
  return tile.getNumElements() * llvm::divideCeil(tile.getElementTypeBitWidth(), 8);
}

/// Whether `op` costs little enough to be repeated in every trip.
static bool isCheap(Operation *op) {
  return isa<ExpandDimsOp, BroadcastOp>(op) || (isa<CastOpInterface>(op) && isa<arith::ArithDialect>(op->getDialect()));
}

/// The load that `read`, a tile from outside of `loop`, comes from; none if it is not the loop's alone, or a matmul's.
static std::optional<Resident> findResident(Value read, ForOp loop) {
  auto isInLoop = [&](Operation *user) { return loop->isProperAncestor(user) && !isa<DotOp>(user); };
  if (!llvm::all_of(read.getUsers(), isInLoop))
    return std::nullopt;
  Resident result;
  Value tile = read;
  for (Operation *op; (op = tile.getDefiningOp()) && isCheap(op); tile = op->getOperand(0)) {
    if (!op->getOperand(0).hasOneUse())
      return std::nullopt;
    result.chain.insert(result.chain.begin(), op);
  }
  result.load = tile.getDefiningOp<LoadOp>();
  if (!result.load || result.load->getBlock() != loop->getBlock() || isWritten(result.load.getArray()) ||
      hasFill(result.load) || result.load.getTile().getRank() > 2 ||
      !isa_and_nonnull<LayoutAttr>(result.load.getTile().getEncoding()))
    return std::nullopt;
  result.words = countWords(read);
  return result;
}

/// Bytes of shared memory that a block may take, less those of the slots that the kernel has already.
static int64_t countFreeBytes(KernelOp kernel, const TargetInfo &target) {
  constexpr int64_t kFewestStages = 2, kForConversions = 8 << 10;
  int64_t blocks = std::max<int64_t>(1, kernel.getOccupancy().value_or(1));
  int64_t bytes =
      std::min(target.sharedPerBlock, target.sharedPerSM / blocks - target.reservedPerBlock) - kForConversions;
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || !isa_and_nonnull<SharedAttr>(type.getEncoding()))
        continue;
      auto loop = op->getParentOfType<ForOp>();
      int64_t asked = loop && loop.getPipeline() ? loop.getPipeline()->getStages() : 1;
      bytes -= bytesOf(type) * (isa<LoadOp>(op) && loop && isPipelined(loop) ? std::max(asked, kFewestStages) : 1);
    }
  });
  return bytes;
}

/// Loads into a slot instead, and reads it in each trip, right before the tile is used.
static void keepInShared(Resident &resident, ForOp loop, const TargetInfo &target, bool allowCpAsync) {
  LoadOp load = resident.load;
  RankedTensorType registers = load.getTile();
  int64_t major =
      std::max<int64_t>(0, contiguousTileDim(cast<MemRefType>(load.getArray().getType()), registers.getRank()));
  CopyChoice choice = chooseLoad(load, target, allowCpAsync);
  load.setMechanism(choice.mechanism);
  if (!choice.whyNotFaster.empty())
    load->setAttr(kWhyAttr, StringAttr::get(load.getContext(), choice.whyNotFaster));

  Value read = resident.read();
  Operation *first = nullptr;
  for (Operation *user : read.getUsers()) {
    Operation *inBody = loop.getBody()->findAncestorOpInBlock(*user);
    if (!first || inBody->isBeforeInBlock(first))
      first = inBody;
  }
  OpBuilder builder(first);
  IRMapping mapping;
  auto crossing = ConvertLayoutOp::create(builder, load.getLoc(), registers, load.getResult());
  mapping.map(load.getResult(), crossing.getResult());
  for (Operation *op : resident.chain)
    builder.clone(*op, mapping);
  read.replaceUsesWithIf(mapping.lookup(read), [&](OpOperand &use) { return use.getOwner() != crossing; });
  for (Operation *op : llvm::reverse(resident.chain))
    op->erase();
  load.getResult().setType(withLayout(registers, chooseCopyLayout(registers, major)));
}

namespace {
struct TileKeepInSharedPass : public headrace::tile::impl::TileKeepInSharedBase<TileKeepInSharedPass> {
  void runOnOperation() override {
    FailureOr<TargetInfo> target = getTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      kernel.walk([&](ForOp loop) { relieve(loop, kernel, *target); });
  }

  /// Takes tiles out of the registers, the largest first, until the rest fits or there is no more room for them.
  void relieve(ForOp loop, KernelOp kernel, const TargetInfo &target) {
    int64_t wanted = countLiveWords(loop), limit = countRegisters(kernel, target);
    if (wanted <= limit)
      return;
    SmallVector<Resident> residents;
    for (Value tile : getTilesFromOutside(loop))
      if (std::optional<Resident> resident = findResident(tile, loop))
        residents.push_back(*resident);
    llvm::stable_sort(residents, [](const Resident &a, const Resident &b) { return a.words > b.words; });
    bool hasTcgen05 = kernel
                          .walk([](DotOp dot) {
                            return dot.getAtom() && dot.getAtom()->getFamily() == Family::Tcgen05
                                       ? WalkResult::interrupt()
                                       : WalkResult::advance();
                          })
                          .wasInterrupted();
    bool specialize = kernel->hasAttr(kSpecializeAttr) && kernel->getAttrOfType<BoolAttr>(kSpecializeAttr).getValue();
    for (Resident &resident : residents) {
      if (wanted <= limit)
        return;
      LoadOp load = resident.load;
      std::string need =
          llvm::formatv("this loop wants {0} registers of each thread for tiles, {1} are there", wanted, limit);
      if (bytesOf(load.getTile()) > countFreeBytes(kernel, target)) {
        load.emitRemark() << need << "; shared memory has no room for this tile";
        continue;
      }
      load.emitRemark() << need << ": this tile stays in shared memory";
      keepInShared(resident, loop, target, !specialize && !hasTcgen05);
      wanted -= resident.words;
    }
  }
};
} // namespace
