// The vocabulary of the lowerings: types, constants, threads, addresses, inline PTX.
#include "Lowering.h"

#include "headrace/Dialect/Tile/IR/Tile.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

//===- types
//--------------------------------------------------------------------------------------===//

Type lowering::registerType(Type element) {
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
    return IntegerType::get(element.getContext(), 8);
  return element;
}

/// Address, dynamic extents, dynamic strides. Fails on arrays that start at an offset.
static LogicalResult convertArray(MemRefType type, SmallVectorImpl<Type> &parts) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0)
    return failure();
  MLIRContext *context = type.getContext();
  parts.push_back(LLVM::LLVMPointerType::get(context, unsigned(NVVM::NVVMMemorySpace::Global)));
  parts.append(type.getNumDynamicDims(), IndexType::get(context));
  parts.append(llvm::count_if(strides, ShapedType::isDynamic), IntegerType::get(context, 64));
  return success();
}

static std::optional<LogicalResult> convertTile(RankedTensorType type, SmallVectorImpl<Type> &registers) {
  auto layout = dyn_cast_or_null<tile::LayoutAttr>(type.getEncoding());
  if (!layout)
    return failure();
  registers.append(layout.getTileLayout().numRegisters(), registerType(type.getElementType()));
  return success();
}

lowering::TypeConverter::TypeConverter() {
  addConversion([](Type type) { return registerType(type); });
  addConversion([](RankedTensorType type, SmallVectorImpl<Type> &out) { return convertTile(type, out); });
  addConversion([](InflightType type, SmallVectorImpl<Type> &out) { return convertTile(type.getTile(), out); });
  addConversion([](BufferType type) -> Type { return IntegerType::get(type.getContext(), 32); });
  addConversion([](ChannelType, SmallVectorImpl<Type> &) { return success(); });
  addConversion([](MemRefType type, SmallVectorImpl<Type> &out) { return convertArray(type, out); });
}

TargetInfo lowering::targetOf(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  std::string whyNot;
  return *parseTarget(module->getAttrOfType<StringAttr>(tile::kTargetAttr).getValue(), whyNot);
}

//===- constants and arrays
//-----------------------------------------------------------------------===//

Value lowering::constI32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value lowering::constI64(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
}

Value lowering::toI32(OpBuilder &builder, Location loc, Value index) {
  Type i32 = builder.getI32Type();
  if (index.getType() == i32)
    return index;
  if (index.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, i32, index);
  if (index.getType().getIntOrFloatBitWidth() > 32)
    return arith::TruncIOp::create(builder, loc, i32, index);
  return arith::ExtSIOp::create(builder, loc, i32, index);
}

Value ArrayView::size(OpBuilder &builder, Location loc, unsigned dim) const {
  if (!type.isDynamicDim(dim))
    return constI32(builder, loc, type.getDimSize(dim));
  return toI32(builder, loc, parts[1 + type.getDynamicDimIndex(dim)]);
}

Value ArrayView::stride(OpBuilder &builder, Location loc, unsigned dim) const {
  auto [strides, offset] = type.getStridesAndOffset();
  if (!ShapedType::isDynamic(strides[dim]))
    return constI64(builder, loc, strides[dim]);
  auto before = ArrayRef(strides).take_front(dim);
  return parts[1 + type.getNumDynamicDims() + llvm::count_if(before, ShapedType::isDynamic)];
}

ArrayView ArrayView::dropDims(OpBuilder &builder, Location loc, int64_t count, ArrayRef<Value> offsets) const {
  if (count == 0)
    return *this;
  Value bytes = constI64(builder, loc, 0), inside;
  for (int64_t dim = 0; dim < count; ++dim) {
    Value place = toI32(builder, loc, offsets[dim]);
    Value here = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place, size(builder, loc, dim));
    inside = inside ? arith::AndIOp::create(builder, loc, inside, here).getResult() : here;
    Value step = arith::MulIOp::create(builder, loc, stride(builder, loc, dim), constI64(builder, loc, elementBytes()));
    Value wide = arith::ExtSIOp::create(builder, loc, builder.getI64Type(), place);
    bytes = arith::AddIOp::create(builder, loc, bytes, arith::MulIOp::create(builder, loc, wide, step));
  }
  // Outside, no address is formed from the place.
  bytes = arith::SelectOp::create(builder, loc, inside, bytes, constI64(builder, loc, 0));
  auto [strides, offset] = type.getStridesAndOffset();
  SmallVector<int64_t> shape(type.getShape().drop_front(count));
  shape[0] = ShapedType::kDynamic;
  auto rest = MemRefType::get(shape, type.getElementType(),
                              StridedLayoutAttr::get(type.getContext(), 0, ArrayRef(strides).drop_front(count)));
  SmallVector<Value> result = {
      LLVM::GEPOp::create(builder, loc, base().getType(), builder.getI8Type(), base(), ArrayRef<LLVM::GEPArg>{bytes}),
      arith::SelectOp::create(builder, loc, inside, size(builder, loc, count), constI32(builder, loc, 0))};
  for (int64_t dim = count + 1; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      result.push_back(size(builder, loc, dim));
  for (int64_t dim = count; dim < type.getRank(); ++dim)
    if (ShapedType::isDynamic(strides[dim]))
      result.push_back(stride(builder, loc, dim));
  return ArrayView(rest, result);
}

//===- threads
//------------------------------------------------------------------------------------===//

/// Marks the ops at the start of a kernel that define the thread, and the op that defines the
/// tensor memory's address. Conversion patterns have no other way to find what an earlier one made;
/// the pass removes the marks.
static constexpr llvm::StringLiteral kThreadAttr = "pipe.thread";
static constexpr llvm::StringLiteral kTmemBaseAttr = "pipe.tmem_base";

void lowering::eraseMarks(Operation *kernel) {
  kernel->walk([](Operation *op) {
    op->removeAttr(kThreadAttr);
    op->removeAttr(kTmemBaseAttr);
  });
}

/// The value at the start of the kernel around `op` that is marked `name`, made there by `make` if
/// there is none yet.
static Value atKernelStart(OpBuilder &builder, Operation *op, StringRef name,
                           llvm::function_ref<Value(OpBuilder &)> make) {
  Block &entry = op->getParentOfType<FunctionOpInterface>().getFunctionBody().front();
  Operation *last = nullptr;
  for (Operation &marked : entry) {
    auto mark = marked.getAttrOfType<StringAttr>(kThreadAttr);
    if (!mark)
      break;
    if (mark.getValue() == name)
      return marked.getResult(0);
    last = &marked;
  }
  OpBuilder::InsertionGuard guard(builder);
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(&entry);
  Value value = make(builder);
  // The marked ops stay the first ones of the block: what `make` needed is marked, too.
  Operation *result = value.getDefiningOp();
  for (Operation *made = last ? last->getNextNode() : &entry.front(); made != result; made = made->getNextNode())
    made->setAttr(kThreadAttr, builder.getStringAttr(""));
  result->setAttr(kThreadAttr, builder.getStringAttr(name));
  return value;
}

Value lowering::printBuffer(OpBuilder &builder, Operation *op) {
  return atKernelStart(builder, op, "print", [&](OpBuilder &b) -> Value {
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    return LLVM::AllocaOp::create(b, op->getLoc(), pointer, b.getI8Type(), constI32(b, op->getLoc(), kPrintBytes),
                                  /*alignment=*/8);
  });
}

/// Thread number in the kernel.
static Value kernelThread(OpBuilder &builder, Operation *op) {
  return atKernelStart(builder, op, "id", [&](OpBuilder &b) -> Value {
    return NVVM::ThreadIdXOp::create(b, op->getLoc(), b.getI32Type());
  });
}

/// Warp number in the kernel. The shuffle tells ptxas that it is the same in all lanes.
static Value kernelWarp(OpBuilder &builder, Operation *op) {
  Value thread = kernelThread(builder, op);
  Location loc = op->getLoc();
  return atKernelStart(builder, op, "warp", [&](OpBuilder &b) -> Value {
    Value warp = arith::ShRUIOp::create(b, loc, thread, constI32(b, loc, 5));
    return NVVM::ShflOp::create(b, loc, b.getI32Type(), constI32(b, loc, -1), warp, constI32(b, loc, 0),
                                constI32(b, loc, 31), NVVM::ShflKind::idx, UnitAttr());
  });
}

Thread lowering::getThread(OpBuilder &builder, Operation *op) {
  Location loc = op->getLoc();
  Value id = kernelThread(builder, op);
  Value warp = kernelWarp(builder, op);
  Value lane = atKernelStart(builder, op, "lane", [&](OpBuilder &b) -> Value {
    return arith::AndIOp::create(b, loc, id, constI32(b, loc, 31));
  });
  int64_t first = getRole(op).firstWarp;
  if (first) {
    id = arith::SubIOp::create(builder, loc, id, constI32(builder, loc, 32 * first));
    warp = arith::SubIOp::create(builder, loc, warp, constI32(builder, loc, first));
  }
  return {id, lane, warp};
}

Value lowering::isLeader(OpBuilder &builder, Operation *op) {
  Location loc = op->getLoc();
  Value first = constI32(builder, loc, 32 * getRole(op).firstWarp);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, kernelThread(builder, op), first);
}

Value lowering::groupOf(OpBuilder &builder, Operation *op, int64_t groups) {
  Location loc = op->getLoc();
  return arith::DivUIOp::create(builder, loc, getThread(builder, op).warp,
                                constI32(builder, loc, getRole(op).active / groups));
}

Value lowering::isGroupLeader(OpBuilder &builder, Operation *op, std::optional<int64_t> groups) {
  if (!groups)
    return isLeader(builder, op);
  Location loc = op->getLoc();
  Value threads = constI32(builder, loc, 32 * getRole(op).active / *groups);
  Value place = arith::RemUIOp::create(builder, loc, getThread(builder, op).id, threads);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, place, constI32(builder, loc, 0));
}

//===- addresses
//----------------------------------------------------------------------------------===//

static Value add(OpBuilder &builder, Location loc, Value value, int64_t constant) {
  if (!constant)
    return value;
  return arith::AddIOp::create(builder, loc, value, constI32(builder, loc, constant));
}

Value lowering::sharedAddress(OpBuilder &builder, Location loc, int64_t offset) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), unsigned(NVVM::NVVMMemorySpace::Shared));
  Value shared = LLVM::AddressOfOp::create(builder, loc, pointer, kSharedSymbol);
  Value base = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), shared);
  return add(builder, loc, base, offset);
}

/// base + index * pitch + offset. The constant comes last: instructions take it as an immediate,
/// and the addresses of one slot share the rest.
static Value ringAddress(OpBuilder &builder, Location loc, Value base, Value index, int64_t pitch, int64_t offset) {
  if (index)
    base = arith::AddIOp::create(builder, loc, base, multiply(builder, loc, index, pitch));
  return add(builder, loc, base, offset);
}

Value lowering::slotAddress(OpBuilder &builder, Location loc, CreateChannelOp channel, Value index, unsigned buffer) {
  ChannelType type = channel.getChannel().getType();
  Value base = type.getBuffers()[buffer].isShared() ? sharedAddress(builder, loc, 0) : tmemBase(builder, channel);
  return ringAddress(builder, loc, base, type.getDepth() == 1 ? Value() : index, channel.getSlotPitch(),
                     *channel.getOffset() + channel.getBufferOffset(buffer));
}

static constexpr int64_t kBarrierBytes = 8; // PTX ISA 9.7.13.15.1

static Value barrier(OpBuilder &builder, Location loc, CreateChannelOp channel, Value index, bool empty) {
  int64_t depth = channel.getChannel().getType().getDepth();
  return ringAddress(builder, loc, sharedAddress(builder, loc, 0), depth == 1 ? Value() : index, kBarrierBytes,
                     *channel.getBarrierOffset() + (empty ? kBarrierBytes * depth : 0));
}

Value lowering::fullBarrier(OpBuilder &builder, Location loc, CreateChannelOp channel, Value index) {
  return barrier(builder, loc, channel, index, /*empty=*/false);
}

Value lowering::emptyBarrier(OpBuilder &builder, Location loc, CreateChannelOp channel, Value index) {
  return barrier(builder, loc, channel, index, /*empty=*/true);
}

void lowering::setTmemBase(Value base) {
  base.getDefiningOp()->setAttr(kTmemBaseAttr, UnitAttr::get(base.getContext()));
}

Value lowering::tmemBase(OpBuilder &builder, Operation *op) {
  for (Operation &candidate : op->getParentOfType<FunctionOpInterface>().getFunctionBody().front())
    if (candidate.hasAttr(kTmemBaseAttr))
      return candidate.getResult(0);
  llvm_unreachable("the pass checked that tensor memory is allocated first");
}

Value lowering::tensorMap(OpBuilder &, Operation *op, int64_t map) {
  auto kernel = op->getParentOfType<FunctionOpInterface>();
  // Kernel.cpp appends the maps to the parameters.
  int64_t maps = kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr).size();
  Block &entry = kernel.getFunctionBody().front();
  return entry.getArgument(entry.getNumArguments() - maps + map);
}
