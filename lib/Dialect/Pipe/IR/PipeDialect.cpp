// The pipe dialect: registration and the questions that every pass asks of an op.
#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "headrace/Dialect/Tile/IR/VerifyDims.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

//===- attributes of other dialects' ops ----------------------------------------------------------------------------===//

/// An attribute that holds an integer from `low` to `high`.
static LogicalResult verifyInteger(Operation *op, NamedAttribute attribute, int64_t low, int64_t high) {
  InFlightDiagnostic error = op->emitError("expected ")
                             << attribute.getName().getValue() << " to be " << low << " to " << high << ", got ";
  auto integer = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!integer || integer.getValue().getSignificantBits() > 63)
    return error << attribute.getValue();
  int64_t value = integer.getValue().getSExtValue();
  if (value < low || value > high)
    return error << value;
  error.abandon();
  return success();
}

/// A kernel is a function of one block with its channels at the start, arrays as arguments, and structured control flow.
static LogicalResult verifyKernel(Operation *op) {
  auto kernel = dyn_cast<func::FuncOp>(op);
  if (!kernel || kernel.isExternal())
    return op->emitError("expected a kernel: a function with a body and the attribute ") << kKernelAttr;
  if (!kernel.getBody().hasOneBlock())
    return kernel.emitError("expected a kernel of one block: control flow is scf.for, scf.if and scf.while");
  Block &body = kernel.getBody().front();
  if (body.empty() || !isa<func::ReturnOp>(body.back()))
    return kernel.emitError("expected func.return at the end of a kernel");
  WalkResult result = kernel.walk([&](Operation *inner) -> WalkResult {
    if (isa<CreateChannelOp>(inner) && inner->getBlock() != &body)
      return inner->emitOpError("expected channels to be made in the outermost block of a kernel");
    if (inner->getNumRegions() && inner != op &&
        !isa<scf::ForOp, scf::IfOp, scf::WhileOp, RolesOp, headrace::tile::ReduceOp, headrace::tile::ScanOp>(inner))
      return inner->emitError("expected no control flow but scf.for, scf.if, scf.while and pipe.roles, got ")
             << inner->getName();
    if (isa<RolesOp>(inner) && inner->getBlock() != &body)
      return inner->emitOpError("expected roles in the outermost block of a kernel");
    for (Region &region : inner->getRegions())
      if (!region.empty() && !region.hasOneBlock())
        return inner->emitOpError("expected regions of one block");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted() || failed(headrace::tile::verifyDims(kernel)));
}

LogicalResult PipeDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  constexpr int64_t kMany = int64_t(1) << 20;
  StringRef name = attribute.getName().getValue();
  Attribute value = attribute.getValue();
  if (name == kKernelAttr)
    return verifyKernel(op);
  if (name == kWarpsAttr)
    return verifyInteger(op, attribute, 1, 32);
  if (name == kStageAttr)
    return verifyInteger(op, attribute, 0, 64);
  if (name == kOrderAttr)
    return verifyInteger(op, attribute, 0, kMany);
  if (name == kSharedBytesAttr)
    return verifyInteger(op, attribute, 0, kMany);
  if (name == "pipe.occupancy")
    return verifyInteger(op, attribute, 1, 64);
  if (name == kPipelineAttr && !isa<tile::PipelineAttr>(value))
    return op->emitError("expected ") << name << " to be #tile.pipeline<(...)>, got " << value;
  if (name == kTensorMapsAttr && !isa<ArrayAttr>(value))
    return op->emitError("expected ") << name << " to be an array of dictionaries, got " << value;
  return success();
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

bool headrace::pipe::isGlobalRead(Operation *op) { return isa<LoadOp, tile::LoadScalarOp, tile::GatherOp>(op); }

bool headrace::pipe::isWritten(Value array) {
  return tile::isWritten(array) ||
         llvm::any_of(array.getUsers(), [](Operation *user) { return isa<StoreOp, AsyncStoreOp>(user); });
}

bool headrace::pipe::usesWgmma(Operation *scope) {
  return scope->walk([](MmaAsyncOp) { return WalkResult::interrupt(); }).wasInterrupted();
}
