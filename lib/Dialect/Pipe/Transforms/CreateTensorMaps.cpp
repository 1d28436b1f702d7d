// Numbers the tensor maps of a kernel's TMA copies and stores.
#include "headrace/Dialect/Pipe/IR/TensorMaps.h"
#include "headrace/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace headrace::pipe {
#define GEN_PASS_DEF_PIPECREATETENSORMAPS
#include "headrace/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace headrace::pipe

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

/// Whether matmuls read the slots of this copy as tf32: the map then rounds float32 on the way in.
static bool isReadAsTf32(CopyOp copy) {
  auto readsTf32 = [](Operation *user) {
    return llvm::TypeSwitch<Operation *, bool>(user)
        .Case<MmaOp, MmaAsyncOp, MmaTmemOp>([](auto mma) { return mma.getPrecision() == tile::Precision::Tf32; })
        .Default(false);
  };
  for (Operation *user : copy.getChannel().getUsers())
    if (auto wait = dyn_cast<ConsumerWaitOp>(user))
      if (!wait->getUsers().empty() && llvm::all_of(wait->getUsers(), readsTf32))
        return true;
  return false;
}

/// Gives `op`, a TMA copy or store of `array`, the number of its map in the kernel's list. An op of a program written by
/// hand may have one already, or be none that a map can describe.
template <typename Op> static LogicalResult createMap(func::FuncOp kernel, Op op, BufferType buffer, bool tf32) {
  if (op.getMap())
    return success();
  auto argument = dyn_cast<BlockArgument>(op.getArray());
  if (!argument || argument.getOwner()->getParentOp() != kernel)
    return op.emitError("expected an array that is an argument of the kernel, for a tensor map");
  auto array = cast<MemRefType>(argument.getType());
  if (std::string why = whyNotTma(array, buffer); !why.empty())
    return op.emitError("TMA cannot move this tile: ") << why;
  op.setMap(addTensorMap(kernel, tensorMapFor(argument.getArgNumber(), array, buffer, tf32)));
  return success();
}

static LogicalResult createMaps(func::FuncOp kernel) {
  WalkResult loads = kernel.walk([&](CopyOp copy) -> WalkResult {
    if (copy.getMechanism() != tile::Mechanism::Tma)
      return success();
    return createMap(kernel, copy, copy.getBuffer().getType(), isReadAsTf32(copy));
  });
  if (loads.wasInterrupted())
    return failure();
  WalkResult stores = kernel.walk([&](AsyncStoreOp store) -> WalkResult {
    return createMap(kernel, store, store.getGroupBuffer(), /*tf32=*/false);
  });
  return failure(stores.wasInterrupted());
}

namespace {
struct PipeCreateTensorMapsPass : public headrace::pipe::impl::PipeCreateTensorMapsBase<PipeCreateTensorMapsPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (failed(createMaps(kernel)))
        return signalPassFailure();
  }
};
} // namespace
