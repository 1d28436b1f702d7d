// Ops of the pipe dialect: channel geometry, verification, the syntax of roles.
#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "headrace/Dialect/Tile/IR/VerifyDims.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

#define GET_OP_CLASSES
#include "headrace/Dialect/Pipe/IR/PipeOps.cpp.inc"

//===- CreateChannelOp ----------------------------------------------------------------------------------------------===//

/// Slots start where any swizzle pattern may start and TMA may write: case T04.
static constexpr int64_t kMinSlotAlignment = 128;

int64_t CreateChannelOp::getBufferOffset(unsigned index) {
  int64_t offset = 0;
  for (auto [i, buffer] : llvm::enumerate(getChannel().getType().getBuffers())) {
    if (!buffer.isShared()) {
      if (i == index)
        return offset;
      offset += buffer.getTmemColumns();
      continue;
    }
    offset = llvm::alignTo(offset, std::max(kMinSlotAlignment, buffer.getSharedLayout().alignment()));
    if (i == index)
      return offset;
    offset += buffer.getSharedBytes();
  }
  return offset;
}

int64_t CreateChannelOp::getSlotPitch() {
  ArrayRef<BufferType> buffers = getChannel().getType().getBuffers();
  int64_t end = getBufferOffset(buffers.size());
  return buffers.front().isShared() ? llvm::alignTo(end, getAlignment()) : end;
}

int64_t CreateChannelOp::getAlignment() {
  int64_t alignment = kMinSlotAlignment;
  for (BufferType buffer : getChannel().getType().getBuffers())
    if (buffer.isShared())
      alignment = std::max(alignment, buffer.getSharedLayout().alignment());
  return alignment;
}

int64_t CreateChannelOp::getSharedBytes() {
  ChannelType type = getChannel().getType();
  return type.getBuffers().front().isShared() ? type.getDepth() * getSlotPitch() : 0;
}

//===- protocol ops -------------------------------------------------------------------------------------------------===//

/// What all protocol ops share: a channel that create_channel made, and a cursor that is whole or absent.
static LogicalResult verifyProtocol(Operation *op, Value channel, Value index, Value phase) {
  if (!channel.getDefiningOp<CreateChannelOp>())
    return op->emitOpError("expected a channel made by pipe.create_channel");
  if (bool(index) != bool(phase))
    return op->emitOpError("expected a cursor of index and phase");
  return success();
}

static LogicalResult verifyBuffers(Operation *op, ChannelType channel, TypeRange buffers) {
  if (llvm::equal(channel.getBuffers(), buffers))
    return success();
  return op->emitOpError("expected the tiles of the channel's slots as results");
}

LogicalResult ProducerAcquireOp::verify() {
  if (failed(verifyProtocol(*this, getChannel(), getIndex(), getPhase())))
    return failure();
  return verifyBuffers(*this, getChannel().getType(), getBuffers().getTypes());
}
LogicalResult ProducerCommitOp::verify() { return verifyProtocol(*this, getChannel(), getIndex(), getPhase()); }
LogicalResult ConsumerWaitOp::verify() {
  if (failed(verifyProtocol(*this, getChannel(), getIndex(), getPhase())))
    return failure();
  return verifyBuffers(*this, getChannel().getType(), getBuffers().getTypes());
}
LogicalResult ConsumerReleaseOp::verify() { return verifyProtocol(*this, getChannel(), getIndex(), getPhase()); }

BufferType AsyncStoreOp::getGroupBuffer() {
  BufferType whole = getBuffer().getType();
  SmallVector<int64_t> shape(whole.getShape());
  shape[0] /= getGroups().value_or(1);
  return BufferType::get(getContext(), shape, whole.getElementType(), whole.getLayout());
}

/// Whether so many groups can share the role's warps, and rows if there are any.
static LogicalResult verifyGroups(Operation *op, std::optional<uint64_t> groups, int64_t rows = 0) {
  if (!groups || (*groups >= 1 && *groups <= 32 && rows % int64_t(*groups) == 0))
    return success();
  return op->emitOpError("expected 1 to 32 groups that share the rows equally, got ") << int64_t(*groups);
}

LogicalResult AsyncStoreOp::verify() {
  if (int64_t(getOffsets().size()) != cast<MemRefType>(getArray().getType()).getRank())
    return emitOpError("expected one offset for each dimension of the array, got ") << getOffsets().size();
  return verifyGroups(*this, getGroups(), getBuffer().getType().getShape()[0]);
}
LogicalResult CreateChannelOp::verify() { return verifyGroups(*this, getGroups()); }
LogicalResult RoleBarrierOp::verify() { return verifyGroups(*this, getGroups()); }
LogicalResult DrainStoresOp::verify() { return verifyGroups(*this, getGroups()); }

//===- CopyOp -------------------------------------------------------------------------------------------------------===//

LogicalResult CopyOp::verify() {
  if (!getChannel().getDefiningOp<CreateChannelOp>())
    return emitOpError("expected a channel made by pipe.create_channel");
  if (!llvm::is_contained(getChannel().getType().getBuffers(), getBuffer().getType()))
    return emitOpError("expected a tile of the channel's slots, got ") << getBuffer().getType();
  if (int64_t(getOffsets().size()) != cast<MemRefType>(getArray().getType()).getRank())
    return emitOpError("expected one offset for each dimension of the array, got ") << getOffsets().size();
  return success();
}

//===- ViewOp -------------------------------------------------------------------------------------------------------===//

/// Rows follow each other without a gap, the last dimension fastest.
static bool isDense(BufferType buffer) {
  auto shared = dyn_cast<headrace::tile::SharedAttr>(buffer.getLayout());
  return shared && shared.getSwizzle() == 0 && shared.getMajor() + 1 == int64_t(buffer.getShape().size());
}

LogicalResult ViewOp::verify() {
  BufferType from = getBuffer().getType(), to = getResult().getType();
  if (!isDense(from) || !isDense(to) || from.getElementType() != to.getElementType() ||
      from.getSharedBytes() != to.getSharedBytes())
    return emitOpError("expected dense tiles of as many elements of one type, got ") << from << " and " << to;
  return success();
}

//===- RolesOp ------------------------------------------------------------------------------------------------------===//

// pipe.roles { role "load" warps 4 active 1 registers 40 { ... } role "compute" warps 8 active 8 registers 232 { ... } }
ParseResult RolesOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> names;
  SmallVector<int64_t> warps, active, registers;
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseLBrace())
    return failure();
  while (succeeded(parser.parseOptionalKeyword("role"))) {
    StringAttr name;
    Region *body = result.addRegion();
    if (parser.parseAttribute(name) || parser.parseKeyword("warps") || parser.parseInteger(warps.emplace_back()) ||
        parser.parseKeyword("active") || parser.parseInteger(active.emplace_back()) ||
        parser.parseKeyword("registers") || parser.parseInteger(registers.emplace_back()) || parser.parseRegion(*body))
      return failure();
    if (body->empty())
      body->emplaceBlock();
    names.push_back(name);
  }
  result.addAttribute(getNamesAttrName(result.name), builder.getArrayAttr(names));
  result.addAttribute(getWarpsAttrName(result.name), builder.getDenseI64ArrayAttr(warps));
  result.addAttribute(getActiveAttrName(result.name), builder.getDenseI64ArrayAttr(active));
  result.addAttribute(getRegistersAttrName(result.name), builder.getDenseI64ArrayAttr(registers));
  return parser.parseRBrace();
}

void RolesOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getNamesAttrName(), getWarpsAttrName(), getActiveAttrName(), getRegistersAttrName()});
  printer << " {";
  printer.increaseIndent();
  for (auto [i, body] : llvm::enumerate(getBodies())) {
    printer.printNewline();
    printer << "role " << getNames()[i] << " warps " << getWarps()[i] << " active " << getActive()[i] << " registers "
            << getRegisters()[i] << " ";
    printer.printRegion(body, /*printEntryBlockArgs=*/false);
  }
  printer.decreaseIndent();
  printer.printNewline();
  printer << "}";
}

LogicalResult RolesOp::verify() {
  size_t count = getBodies().size();
  if (count == 0 || getNames().size() != count || getWarps().size() != count || getActive().size() != count ||
      getRegisters().size() != count)
    return emitOpError("expected a name, warps, active warps and registers for each role");
  for (size_t i = 0; i < count; ++i) {
    if (getWarps()[i] < 1 || getWarps()[i] > 32 || getActive()[i] < 1 || getActive()[i] > getWarps()[i])
      return emitOpError("role ") << getNames()[i] << ": expected 1 to 32 warps, and active warps among them";
    // setmaxnreg takes multiples of 8 from 24 to 256 (PTX ISA 9.7.19.5).
    int64_t registers = getRegisters()[i];
    if (registers && (registers % 8 || registers < 24 || registers > 256))
      return emitOpError("role ") << getNames()[i]
                                  << ": expected registers to be 0 or a multiple of 8 from 24 to 256, got "
                                  << registers;
  }
  return success();
}

LogicalResult StoreOp::verify() {
  auto tile = dyn_cast<RankedTensorType>(getTile().getType());
  if (!tile)
    return emitOpError("expected a ranked tile");
  return tile::verifyValid(*this, tile, getValid());
}
