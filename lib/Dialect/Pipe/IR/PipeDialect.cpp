// The pipe dialect: registration and the questions that every pass asks of an op.
#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::pipe;

#include "headrace/Dialect/Pipe/IR/PipeDialect.cpp.inc"

void PipeDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "headrace/Dialect/Pipe/IR/PipeOps.cpp.inc"
      >();
  registerTypes();
}

RoleInfo headrace::pipe::getRole(Operation *op) {
  for (Region *region = op->getParentRegion(); region; region = region->getParentRegion()) {
    auto roles = dyn_cast<RolesOp>(region->getParentOp());
    if (!roles)
      continue;
    int64_t index = region->getRegionNumber();
    ArrayRef<int64_t> warps = roles.getWarps();
    int64_t first = std::accumulate(warps.begin(), warps.begin() + index, int64_t(0));
    return {cast<StringAttr>(roles.getNames()[index]).getValue(), index, first, warps[index], roles.getActive()[index]};
  }
  int64_t warps = 1;
  if (auto kernel = op->getParentOfType<func::FuncOp>())
    if (auto attr = kernel->getAttrOfType<IntegerAttr>(kWarpsAttr))
      warps = attr.getInt();
  return {"kernel", -1, 0, warps, warps};
}

CreateChannelOp headrace::pipe::getChannelOf(Operation *op) {
  return TypeSwitch<Operation *, CreateChannelOp>(op)
      .Case<ProducerAcquireOp, ProducerCommitOp, ConsumerWaitOp, ConsumerReleaseOp>(
          [](auto protocol) { return protocol.getChannel().template getDefiningOp<CreateChannelOp>(); })
      .Case([](CopyOp copy) { return copy.getChannel().getDefiningOp<CreateChannelOp>(); })
      .Default(nullptr);
}
