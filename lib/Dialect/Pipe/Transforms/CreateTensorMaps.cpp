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

namespace {
struct PipeCreateTensorMapsPass : public headrace::pipe::impl::PipeCreateTensorMapsBase<PipeCreateTensorMapsPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      auto create = [&](auto op, BufferType buffer, bool tf32) {
        if (op.getMap())
          return;
        int64_t argument = cast<BlockArgument>(op.getArray()).getArgNumber();
        TensorMapInfo map = tensorMapFor(argument, cast<MemRefType>(op.getArray().getType()), buffer, tf32);
        op.setMap(addTensorMap(kernel, map));
      };
      kernel.walk([&](CopyOp copy) {
        if (copy.getMechanism() == tile::Mechanism::Tma)
          create(copy, copy.getBuffer().getType(), isReadAsTf32(copy));
      });
      kernel.walk([&](AsyncStoreOp store) { create(store, store.getGroupBuffer(), false); });
    }
  }
};
} // namespace
