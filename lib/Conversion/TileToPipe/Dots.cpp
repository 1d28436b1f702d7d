// Matmuls, and the loops that carry their accumulators.
#include "TileToPipe.h"
#include "headrace/Dialect/Pipe/Transforms/Schedules.h"
#include "headrace/Dialect/Tile/Transforms/Plan.h"

using namespace mlir;
using namespace headrace;

Value KernelConversion::operandOf(Value tile) {
  auto slot = slots.find(tile);
  return slot == slots.end() ? tile : slot->second.buffer;
}

/// The report says why nothing faster multiplies, and the scheduler asks which stage the user wants.
static void keepNotes(tile::DotOp dot, Operation *matmul) {
  for (StringRef name : {StringRef(tile::kWhyAttr), StringRef(pipe::kFixedStageAttr)})
    if (Attribute note = dot->getAttr(name))
      matmul->setAttr(name, note);
}

static bool inTensorMemory(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa_and_nonnull<tile::TmemAttr>(type.getEncoding());
}

/// tile.for becomes scf.for. An accumulator in tensor memory is not a loop value but a slot acquired before the loop and
/// committed after it.
LogicalResult KernelConversion::convertFor(tile::ForOp loop) {
  builder.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  SmallVector<Value> inits;
  SmallVector<std::pair<unsigned, Slot>> tmem;
  for (auto [i, init] : llvm::enumerate(loop.getInits())) {
    if (!inTensorMemory(init)) {
      inits.push_back(init);
      continue;
    }
    auto type = cast<RankedTensorType>(init.getType());
    auto buffer = pipe::BufferType::get(type.getContext(), type.getShape(), type.getElementType(), type.getEncoding());
    pipe::CreateChannelOp channel = createChannel(loc, "accumulator", pipe::Sync::Mbarrier, buffer);
    channel.setAsyncCommit(true);
    auto acquire = pipe::ProducerAcquireOp::create(builder, loc, Type(buffer), channel, Value(), Value(), Value());
    tmem.push_back({static_cast<unsigned>(i), {acquire.getBuffers()[0], channel}});
  }
  auto leaveEmpty = [](OpBuilder &, Location, Value, ValueRange) {};
  auto result = scf::ForOp::create(builder, loc, loop.getLower(), loop.getUpper(), loop.getStep(), inits, leaveEmpty);
  if (loop.getPipeline())
    result->setAttr(pipe::kPipelineAttr, *loop.getPipeline());

  // The body moves; its terminator becomes scf.yield.
  Block *body = result.getBody();
  SmallVector<Value> arguments = {result.getInductionVar()};
  unsigned next = 0;
  for (auto [i, init] : llvm::enumerate(loop.getInits()))
    if (inTensorMemory(init))
      arguments.push_back({});
    else
      arguments.push_back(result.getRegionIterArg(next++));
  builder.setInsertionPointToStart(body);
  for (auto &[i, slot] : tmem) {
    Value notFirst =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, result.getInductionVar(), loop.getLower());
    accumulators[loop.getIterArgs()[i]] = {slot, notFirst};
  }
  auto yield = cast<tile::YieldOp>(loop.getBody()->getTerminator());
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  for (auto [argument, replacement] : llvm::zip(loop.getBody()->getArguments(), arguments))
    if (replacement)
      argument.replaceAllUsesWith(replacement);
  builder.setInsertionPoint(yield);
  SmallVector<Value> yielded;
  for (Value value : yield.getValues())
    if (!inTensorMemory(value))
      yielded.push_back(value);
  scf::YieldOp::create(builder, loc, yielded);
  yield.erase();

  builder.setInsertionPointAfter(result);
  next = 0;
  for (auto [i, old] : llvm::enumerate(loop.getResults()))
    if (!inTensorMemory(old))
      old.replaceAllUsesWith(result.getResult(next++));
  for (auto &[i, slot] : tmem) {
    pipe::ProducerCommitOp::create(builder, loc, slot.channel, Value(), Value(), Value());
    slots[loop.getResult(i)] = slot;
  }
  return convertBlock(*body);
}

void KernelConversion::convertTmemDot(tile::DotOp dot) {
  Location loc = dot.getLoc();
  builder.setInsertionPoint(dot);
  auto mma = [&](Value accumulator, Value accumulate) {
    auto result =
        pipe::MmaTmemOp::create(builder, loc, operandOf(dot.getA()), dot.getTransposeA(), operandOf(dot.getB()),
                                dot.getTransposeB(), accumulator, accumulate, *dot.getAtom(), dot.getPrecisionAttr());
    keepNotes(dot, result);
  };
  auto carried = accumulators.find(dot.getAcc());
  if (carried != accumulators.end()) {
    auto [slot, accumulate] = carried->second;
    mma(slot.buffer, accumulate);
    // The next dot of the chain always adds.
    Value always = arith::ConstantIntOp::create(builder, loc, int64_t(1), 1);
    accumulators[dot.getResult()] = {slot, always};
    return;
  }
  // A fresh product: a slot of its own.
  RankedTensorType type = dot.getAccType();
  auto buffer = pipe::BufferType::get(type.getContext(), type.getShape(), type.getElementType(), type.getEncoding());
  pipe::CreateChannelOp channel = createChannel(loc, "product", pipe::Sync::Mbarrier, buffer);
  channel.setAsyncCommit(true);
  auto acquire = pipe::ProducerAcquireOp::create(builder, loc, Type(buffer), channel, Value(), Value(), Value());
  mma(acquire.getBuffers()[0], arith::ConstantIntOp::create(builder, loc, int64_t(0), 1));
  pipe::ProducerCommitOp::create(builder, loc, channel, Value(), Value(), Value());
  slots[dot.getResult()] = {acquire.getBuffers()[0], channel};
}

void KernelConversion::convertDot(tile::DotOp dot) {
  tile::AtomAttr atom = *dot.getAtom();
  if (atom.getFamily() == tile::Family::Tcgen05)
    return convertTmemDot(dot);
  builder.setInsertionPoint(dot);
  Location loc = dot.getLoc();
  Value a = operandOf(dot.getA()), b = operandOf(dot.getB()), result;
  if (atom.getFamily() == tile::Family::Wgmma) {
    auto inflight = pipe::MmaAsyncOp::create(builder, loc, pipe::InflightType::get(dot.getContext(), dot.getAccType()),
                                             a, dot.getTransposeA(), b, dot.getTransposeB(), dot.getAcc(), atom,
                                             dot.getPrecisionAttr());
    keepNotes(dot, inflight);
    result = pipe::MmaWaitOp::create(builder, loc, dot.getAccType(), inflight, builder.getI64IntegerAttr(0));
  } else {
    result = pipe::MmaOp::create(builder, loc, dot.getAccType(), a, dot.getTransposeA(), b, dot.getTransposeB(),
                                 dot.getAcc(), atom, dot.getPrecisionAttr());
    keepNotes(dot, result.getDefiningOp());
  }
  dot.getResult().replaceAllUsesWith(result);
}
