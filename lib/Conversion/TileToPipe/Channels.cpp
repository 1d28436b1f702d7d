// Channels of a kernel: for loads through shared memory, crossings between memories, and staging buffers of TMA stores.
#include "TileToPipe.h"
#include "headrace/Dialect/Tile/Transforms/CopyMechanism.h"
#include "headrace/Dialect/Tile/Transforms/Plan.h"
#include "headrace/Layout/TmaBoxes.h"

using namespace mlir;
using namespace headrace;
using pipe::BufferType;
using pipe::Sync;
using tile::Mechanism;

static BufferType bufferType(RankedTensorType type) {
  return BufferType::get(type.getContext(), type.getShape(), type.getElementType(), type.getEncoding());
}

static RankedTensorType tileType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether tcgen05 reads the tile.
static bool isReadByTcgen05(Value tile) {
  return llvm::any_of(tile.getUsers(), [](Operation *user) {
    auto dot = dyn_cast<tile::DotOp>(user);
    return dot && dot.getAtom()->getFamily() == tile::Family::Tcgen05;
  });
}

std::string KernelConversion::nameOf(Value array, StringRef fallback) {
  if (auto argument = dyn_cast<BlockArgument>(array)) {
    if (auto name = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name"))
      return name.str();
    return "arg" + std::to_string(argument.getArgNumber());
  }
  return fallback.str();
}

pipe::CreateChannelOp KernelConversion::createChannel(Location loc, StringRef name, Sync sync,
                                                      ArrayRef<BufferType> buffers) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  for (Operation &op : kernel.getBody().front()) // after the channels made before
    if (isa<pipe::CreateChannelOp>(op))
      builder.setInsertionPointAfter(&op);
  auto type = pipe::ChannelType::get(builder.getContext(), /*depth=*/0, buffers);
  auto channel = pipe::CreateChannelOp::create(
      builder, loc, type, builder.getStringAttr(name), pipe::SyncAttr::get(builder.getContext(), sync),
      /*async_release=*/nullptr, /*async_commit=*/nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  ++channelCount;
  return channel;
}

Sync KernelConversion::chooseSync(Mechanism mechanism, bool crossesRoles, bool asyncRelease) {
  if (crossesRoles || asyncRelease || mechanism == Mechanism::Tma)
    return Sync::Mbarrier;
  return mechanism == Mechanism::CpAsync ? Sync::Group : Sync::Barrier;
}

//===- loads --------------------------------------------------------------------------------------------------------===//

SmallVector<tile::LoadOp> KernelConversion::getGroup(tile::LoadOp load) {
  if (!load.getResult().hasOneUse())
    return {load};
  auto dot = dyn_cast<tile::DotOp>(*load.getResult().getUsers().begin());
  if (!dot)
    return {load};
  Value other = dot.getA() == load.getResult() ? dot.getB() : dot.getA();
  auto partner = other.getDefiningOp<tile::LoadOp>();
  if (!partner || partner == load || !partner.getResult().hasOneUse() || partner->getBlock() != load->getBlock() ||
      partner.getMechanism() != load.getMechanism() || !isa<tile::SharedAttr>(partner.getTile().getEncoding()))
    return {load};
  tile::LoadOp first = load->isBeforeInBlock(partner) ? load : partner, last = first == load ? partner : load;
  // The first copy moves down to the last one: nothing between may write an array. The answer must be the same before and
  // after ops between are converted, since each of the two loads asks: channels of other loads do not count.
  for (Operation *op = first->getNextNode(); op != last; op = op->getNextNode())
    if (isa<tile::StoreOp, pipe::StoreOp, pipe::AsyncStoreOp>(op) || (op->getNumRegions() && !isMemoryEffectFree(op)))
      return {load};
  return {first, last};
}

void KernelConversion::convertSharedLoads(ArrayRef<tile::LoadOp> group) {
  tile::LoadOp last = group.back();
  Location loc = last.getLoc();
  builder.setInsertionPoint(last);
  SmallVector<BufferType> types;
  std::string name;
  bool asyncRelease = false;
  for (tile::LoadOp load : group) {
    types.push_back(bufferType(load.getTile()));
    name += (name.empty() ? "" : "+") + nameOf(load.getArray(), "load");
    asyncRelease |= isReadByTcgen05(load.getResult());
  }
  Sync sync = chooseSync(*last.getMechanism(), specialize, asyncRelease);
  pipe::CreateChannelOp channel = createChannel(loc, name, sync, types);
  channel.setAsyncRelease(asyncRelease);

  SmallVector<Type> results(types.begin(), types.end());
  auto acquire = pipe::ProducerAcquireOp::create(builder, loc, results, channel, Value(), Value(), Value());
  for (auto pair : llvm::zip(group, acquire.getBuffers())) {
    tile::LoadOp load = std::get<0>(pair);
    Value buffer = std::get<1>(pair);
    IntegerAttr vector;
    if (load.getMechanism() != Mechanism::Tma)
      vector = builder.getI64IntegerAttr(tile::getVectorBytes(
          load.getArray(), load.getOffsets(), load.getTile().getShape(), load.getMechanism() == Mechanism::Plain));
    auto copy =
        pipe::CopyOp::create(builder, load.getLoc(), load.getArray(), load.getOffsets(), buffer, channel, Value(),
                             Value(), load.getMechanismAttr(), load.getCacheAttr(), vector, IntegerAttr());
    if (Attribute why = load->getAttr(tile::kWhyAttr))
      copy->setAttr(tile::kWhyAttr, why);
  }
  pipe::ProducerCommitOp::create(builder, loc, channel, Value(), Value(), Value());
  auto wait = pipe::ConsumerWaitOp::create(builder, loc, results, channel, Value(), Value(), IntegerAttr());
  waits[builder.getInsertionBlock()].push_back(wait);
  for (auto [i, buffer] : llvm::enumerate(wait.getBuffers())) {
    tile::LoadOp load = group[i];
    slots[load.getResult()] = {buffer, channel};
  }
}

void KernelConversion::convertLoad(tile::LoadOp load) {
  if (isa<tile::SharedAttr>(load.getTile().getEncoding())) {
    if (slots.contains(load.getResult()))
      return;
    SmallVector<tile::LoadOp> group = getGroup(load);
    if (group.back() == load) // else: wait for the last of the group
      convertSharedLoads(group);
    return;
  }
  builder.setInsertionPoint(load);
  int64_t vector = tile::getVectorBytes(load.getArray(), load.getOffsets(), load.getTile().getShape(), false);
  auto result = pipe::LoadOp::create(builder, load.getLoc(), load.getTile(), load.getArray(), load.getOffsets(),
                                     load.getFillAttr(), load.getCacheAttr(), builder.getI64IntegerAttr(vector));
  load.getResult().replaceAllUsesWith(result);
}

//===- stores and crossings -----------------------------------------------------------------------------------------===//

void KernelConversion::convertStore(tile::StoreOp store) {
  builder.setInsertionPoint(store);
  auto slot = slots.find(store.getTile());
  Operation *result;
  if (slot == slots.end()) {
    ArrayRef<int64_t> shape = store.getValid() ? *store.getValid() : store.getTileType().getShape();
    int64_t vector = tile::getVectorBytes(store.getArray(), store.getOffsets(), shape, false);
    result = pipe::StoreOp::create(builder, store.getLoc(), store.getTile(), store.getArray(), store.getOffsets(),
                                   store.getCacheAttr(), builder.getI64IntegerAttr(vector), store.getValidAttr());
  } else {
    result =
        pipe::AsyncStoreOp::create(builder, store.getLoc(), slot->second.buffer, store.getArray(), store.getOffsets(),
                                   store.getCacheAttr(), IntegerAttr(), slot->second.channel.getGroupsAttr());
  }
  if (Attribute why = store->getAttr(tile::kWhyAttr))
    result->setAttr(tile::kWhyAttr, why);
}

void KernelConversion::convertLayout(tile::ConvertLayoutOp op) {
  builder.setInsertionPoint(op);
  Attribute from = tileType(op.getSource()).getEncoding(), to = tileType(op.getResult()).getEncoding();
  if (isa<tile::TmemAttr>(from))
    return readTensorMemory(op);
  if (isa<tile::SharedAttr>(from))
    return readSlot(op);
  if (isa<tile::SharedAttr>(to))
    return writeSlot(op);
  convertRegisters(op);
}

void KernelConversion::readSlot(tile::ConvertLayoutOp op) {
  auto read = pipe::ReadOp::create(builder, op.getLoc(), op.getResult().getType(), slots.lookup(op.getSource()).buffer);
  op.getResult().replaceAllUsesWith(read.getResult());
}

/// How many groups of four warps can stage and store their own rows without waiting for each other: those that the
/// accumulator's layout splits dimension 0 between. Swizzle patterns (8 rows) and TMA's boxes must not straddle.
static int64_t countStoringGroups(RankedTensorType tile, RankedTensorType staged) {
  TileLayout layout = cast<tile::LayoutAttr>(tile.getEncoding()).getTileLayout();
  int64_t rows = tile.getDimSize(0), groups = 1;
  for (const Group &group : layout.groups()) {
    if (group.count == 1)
      continue;
    if (group.dim != 0 || groups != 1)
      return 1;
    groups = group.count;
  }
  bool fourWarps = layout.numWarps() == 4 * groups;
  auto shared = cast<tile::SharedAttr>(staged.getEncoding());
  bool rowMajor = tile.getRank() == 2 && shared.getMajor() == 1;
  if (!fourWarps || !rowMajor || rows % (8 * groups))
    return 1;
  std::string why;
  SharedLayout share = shared.getSharedLayout({rows / groups, tile.getDimSize(1)}, tile.getElementType());
  return cutIntoTmaBoxes(share, why) ? groups : 1;
}

/// Registers to shared memory: what a TMA store or a matmul reads next.
void KernelConversion::writeSlot(tile::ConvertLayoutOp op) {
  Location loc = op.getLoc();
  Value result = op.getResult();
  BufferType type = bufferType(tileType(result));
  auto store = dyn_cast<tile::StoreOp>(*result.getUsers().begin());
  bool tcgen05 = isReadByTcgen05(result);
  Sync sync = store ? Sync::BulkStore : tcgen05 ? Sync::Mbarrier : Sync::Barrier;
  pipe::CreateChannelOp channel =
      createChannel(loc, store ? nameOf(store.getArray(), "store") + ".staging" : "operand", sync, type);
  channel.setAsyncRelease(tcgen05);
  if (int64_t groups = store ? countStoringGroups(tileType(op.getSource()), tileType(result)) : 1; groups > 1)
    channel.setGroups(groups);
  auto acquire = pipe::ProducerAcquireOp::create(builder, loc, Type(type), channel, Value(), Value(), Value());
  pipe::WriteOp::create(builder, loc, op.getSource(), acquire.getBuffers()[0]);
  pipe::ProducerCommitOp::create(builder, loc, channel, Value(), Value(), Value());
  auto wait = pipe::ConsumerWaitOp::create(builder, loc, Type(type), channel, Value(), Value(), IntegerAttr());
  waits[builder.getInsertionBlock()].push_back(wait);
  slots[result] = {wait.getBuffers()[0], channel};
}

/// A finished accumulator handed from tcgen05 to the warps that read it.
void KernelConversion::readTensorMemory(tile::ConvertLayoutOp op) {
  Location loc = op.getLoc();
  Slot slot = slots.lookup(op.getSource());
  Type type = slot.channel.getChannel().getType().getBuffers()[0];
  auto wait = pipe::ConsumerWaitOp::create(builder, loc, type, slot.channel, Value(), Value(), IntegerAttr());
  auto read = pipe::ReadOp::create(builder, loc, op.getResult().getType(), wait.getBuffers()[0]);
  pipe::ConsumerReleaseOp::create(builder, loc, slot.channel, Value(), Value());
  op.getResult().replaceAllUsesWith(read.getResult());
}

/// Shared memory holds whole bytes: the type in which a tile of single bits passes through it.
static RankedTensorType wholeBytes(RankedTensorType type) {
  Type element = type.getElementType();
  if (element.isInteger(1))
    element = IntegerType::get(type.getContext(), 8);
  return RankedTensorType::get(type.getShape(), element, type.getEncoding());
}

void KernelConversion::convertRegisters(tile::ConvertLayoutOp op) {
  Location loc = op.getLoc();
  RankedTensorType from = tileType(op.getSource()), to = tileType(op.getResult());
  if (TileLayout::renaming(cast<tile::LayoutAttr>(from.getEncoding()).getTileLayout(),
                           cast<tile::LayoutAttr>(to.getEncoding()).getTileLayout())) {
    auto renamed = pipe::ConvertLayoutOp::create(builder, loc, to, op.getSource());
    op.getResult().replaceAllUsesWith(renamed.getResult());
    return;
  }
  BufferType buffer =
      bufferType(tile::withLayout(wholeBytes(from), tile::chooseSharedLayout(wholeBytes(from), from.getRank() - 1)));
  op.getResult().replaceAllUsesWith(passThroughShared(op.getSource(), buffer, to));
}

Value KernelConversion::passThroughShared(Value tile, BufferType buffer, RankedTensorType result) {
  Location loc = tile.getLoc();
  RankedTensorType bytes = wholeBytes(tileType(tile));
  if (bytes != tileType(tile))
    tile = arith::ExtUIOp::create(builder, loc, bytes, tile);
  // Both sides of this channel are these warps.
  pipe::CreateChannelOp channel = createChannel(loc, "conversion", Sync::Barrier, buffer);
  auto acquire = pipe::ProducerAcquireOp::create(builder, loc, Type(buffer), channel, Value(), Value(), Value());
  pipe::WriteOp::create(builder, loc, tile, acquire.getBuffers()[0]);
  pipe::ProducerCommitOp::create(builder, loc, channel, Value(), Value(), Value());
  auto wait = pipe::ConsumerWaitOp::create(builder, loc, Type(buffer), channel, Value(), Value(), IntegerAttr());
  Value slot = wait.getBuffers()[0];
  if (buffer.getShape() != result.getShape()) {
    auto dense = tile::SharedAttr::get(builder.getContext(), result.getRank() - 1, /*swizzle=*/0);
    slot = pipe::ViewOp::create(builder, loc, bufferType(tile::withLayout(wholeBytes(result), dense)), slot);
  }
  Value read = pipe::ReadOp::create(builder, loc, wholeBytes(result), slot);
  pipe::ConsumerReleaseOp::create(builder, loc, channel, Value(), Value());
  if (wholeBytes(result) != result)
    read = arith::TruncIOp::create(builder, loc, result, read);
  return read;
}

/// In row-major order, with other extents: through a dense slot.
void KernelConversion::convertReshape(tile::ReshapeOp op) {
  RankedTensorType from = tileType(op.getSource());
  auto dense = tile::SharedAttr::get(op.getContext(), from.getRank() - 1, /*swizzle=*/0);
  BufferType buffer = bufferType(tile::withLayout(wholeBytes(from), dense));
  builder.setInsertionPoint(op);
  op.getResult().replaceAllUsesWith(passThroughShared(op.getSource(), buffer, tileType(op.getResult())));
}

//===- releases -----------------------------------------------------------------------------------------------------===//

/// The op after which `user` no longer reads its slot: a wgmma reads until the wait of its accumulator.
static Operation *endOfUse(Operation *user, Block &block) {
  if (auto mma = dyn_cast<pipe::MmaAsyncOp>(user))
    for (Operation *next : mma.getResult().getUsers())
      if (isa<pipe::MmaWaitOp>(next))
        user = next;
  return block.findAncestorOpInBlock(*user);
}

void KernelConversion::releaseSlots(Block &block) {
  for (pipe::ConsumerWaitOp wait : waits[&block]) {
    Operation *last = wait;
    for (Value buffer : wait.getBuffers())
      for (Operation *user : buffer.getUsers()) {
        Operation *end = endOfUse(user, block);
        if (last->isBeforeInBlock(end))
          last = end;
      }
    builder.setInsertionPointAfter(last);
    pipe::ConsumerReleaseOp::create(builder, wait.getLoc(), wait.getChannel(), Value(), Value());
  }
  waits.erase(&block);
}
