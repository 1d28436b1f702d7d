// tcgen05.ld, tcgen05.st and their waits: PTX ISA 9.7.16.8. A whole warp reads or writes its own quarter of the lanes.
#include "ClockChange.h"
#include "Families.h"
#include "OpcodeReader.h"
#include "TensorAccess.h"

#include "headrace/Sim/TensorMemory/RegisterShapes.h"

#include <charconv>
#include <memory>

namespace headrace::sim::tcgen05 {

namespace {

constexpr int kQuarter = 32; // lanes that a warp reaches: those of its index modulo 4

/// What the opcode and the operands say of one tcgen05.ld or tcgen05.st.
struct Transfer {
  RegisterShape shape = RegisterShape::Lanes32;
  int split = 0;
  bool packed = false;
  std::vector<ColumnRun> runs;
  int span = 0; // columns from the first to the last
  AddressSource address;
  std::vector<ptx::RegId> registers; // tcgen05.ld: destinations, without sinks
  std::vector<int> numbers;          // and which registers of the shape they are
  std::vector<Source> sources;       // tcgen05.st
};
using SharedTransfer = std::shared_ptr<Transfer>;

/// The words of one transfer: rows by columns, both behind the address.
class Block {
public:
  Block(const Transfer &transfer) : span(transfer.span), words(rowsOf(transfer.shape) * span) {}
  uint32_t *at(int row, int column) { return words.data() + row * span + column; }

  /// The value of a register, of one word or of two halves.
  uint32_t get(const Transfer &transfer, int lane, int reg) {
    RegisterPlace place = registerPlace(transfer.shape, lane, reg, transfer.split);
    if (!transfer.packed)
      return *at(place.row, place.column);
    const uint32_t *pair = at(place.row, 2 * place.column);
    return (pair[0] & 0xFFFF) | pair[1] << 16;
  }
  void set(const Transfer &transfer, int lane, int reg, uint32_t value) {
    RegisterPlace place = registerPlace(transfer.shape, lane, reg, transfer.split);
    if (!transfer.packed) {
      *at(place.row, place.column) = value;
      return;
    }
    uint32_t *pair = at(place.row, 2 * place.column);
    pair[0] = value & 0xFFFF;
    pair[1] = value >> 16;
  }

private:
  int span;
  std::vector<uint32_t> words;
};

/// Reads what follows "ld" or "st" in the opcode: `.sync.aligned.SHAPE.xN[.packing].b32`. Result: registers per lane.
int decodeShape(Decoder &decode, std::string_view packing, Transfer &transfer) {
  OpcodeReader opcode(decode, 2);
  opcode.expect({"sync", "aligned"});
  std::string_view name = opcode.takeAny(), digits;
  std::optional<RegisterShape> shape = registerShapeOf(name);
  int repeats = 0;
  if (opcode.takeAfter("x", digits))
    std::from_chars(digits.data(), digits.data() + digits.size(), repeats);
  transfer.packed = opcode.take(packing);
  opcode.expect({"b32"});
  int operands = 2 + (shape == RegisterShape::Split32);
  opcode.finish(operands, operands);
  int registers = shape ? registersOf(*shape, repeats) : 0;
  if (registers == 0) {
    decode.fail("expected a shape like .32x32b.x64, got ." + std::string(name) + ".x" + std::string(digits));
    return 0;
  }
  transfer.shape = *shape;
  if (decode.failed() || transfer.shape != RegisterShape::Split32)
    return registers;
  transfer.split = static_cast<int>(decode.integer(decode.part(1) == "ld" ? 2 : 1));
  if (transfer.split < 0 || transfer.split >= Cta::kTensorColumns) {
    decode.fail("expected a number of columns for the second half, got " + std::to_string(transfer.split));
    transfer.split = 0;
  }
  return registers;
}

/// Fills in what follows from the shape. Fails if `count` operands are not `registers` ones.
void finishTransfer(Decoder &decode, Transfer &transfer, int registers, size_t count) {
  if (count != static_cast<size_t>(registers))
    return decode.fail("expected " + std::to_string(registers) + " registers, got " + std::to_string(count));
  transfer.runs =
      touchedColumns(transfer.shape, registers / registersOf(transfer.shape, 1), transfer.split, transfer.packed);
  for (const ColumnRun &run : transfer.runs)
    transfer.span = std::max(transfer.span, run.column + run.count);
}

/// Where the warp's transfer starts, with the lane within tensor memory. Other lanes than its own quarter are a
/// finding, and the warp then uses its own.
TensorAddress startOf(const Lanes &lanes, const Transfer &transfer) {
  const int leader = lanes.leader();
  const auto bits = static_cast<uint32_t>(transfer.address(lanes, leader));
  bool uniform = true;
  lanes.forEach([&](int lane) { uniform &= static_cast<uint32_t>(transfer.address(lanes, lane)) == bits; });
  if (!uniform)
    lanes.report(leader, FindingKind::Operand, "expected one address in all lanes of the warp");
  TensorAddress address(bits);
  const int quarter = lanes.warp.index % 4 * kQuarter;
  if (address.lane / kQuarter * kQuarter != quarter)
    lanes.report(leader, FindingKind::Operand,
                 "address " + hex(bits) + " names lane " + std::to_string(address.lane) + ", warp " +
                     std::to_string(lanes.warp.index) + " reaches lanes " + std::to_string(quarter) + " to " +
                     std::to_string(quarter + kQuarter - 1));
  if (address.lane % rowsOf(transfer.shape) != 0)
    lanes.report(leader, FindingKind::Operand,
                 "address " + hex(bits) + " names lane " + std::to_string(address.lane) + ", expected a multiple of " +
                     std::to_string(rowsOf(transfer.shape)));
  address.lane = quarter + address.lane % kQuarter / rowsOf(transfer.shape) * rowsOf(transfer.shape);
  return address;
}

/// One operation of all lanes: it has seen what any of them has.
Agent warpAgent(const Lanes &lanes, const char *what) {
  Agent agent = lanes.agent(lanes.leader(), View::Tensor);
  agent.what = what;
  std::shared_ptr<Clock> wider;
  lanes.forEach([&](int lane) {
    const SharedClock &other = lanes.state(lane).clock;
    const Clock &seen = wider ? *wider : *agent.seen;
    if (other == agent.seen || (seen.tensor.covers(other->tensor) && seen.generic.covers(other->generic)))
      return;
    if (!wider)
      wider = std::make_shared<Clock>(*agent.seen);
    wider->generic.join(other->generic);
    wider->tensor.join(other->tensor);
  });
  if (wider)
    agent.seen = std::move(wider);
  return agent;
}

bool reachesAll(const TensorAccess &access, const Transfer &transfer, int column) {
  const ColumnRun &first = transfer.runs.front();
  if (transfer.shape != RegisterShape::Split32)
    return access.reaches(column + first.column, transfer.span);
  return access.reaches(column, first.count) && access.reaches(column + transfer.span - first.count, first.count);
}

/// What was never written may be loaded, as long as it is not used: a kernel may choose afterwards, with selp. So such
/// registers are undefined, and their use is the finding.
void performLoad(AsyncContext &ctx, Cta &cta, Warp &warp, const Transfer &transfer, TensorAddress address) {
  TensorAccess access(ctx, cta);
  Block block(transfer), written(transfer);
  const bool reaches = reachesAll(access, transfer, address.column);
  if (reaches)
    for (const ColumnRun &run : transfer.runs)
      access.readAny(address.lane + run.row, address.column + run.column, run.count, block.at(run.row, run.column),
                     written.at(run.row, run.column));
  for (size_t i = 0; i < transfer.registers.size(); ++i) {
    const ptx::RegId reg = transfer.registers[i];
    LaneMask undefined = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      warp.cells(reg)[lane] = block.get(transfer, lane, transfer.numbers[i]);
      if (reaches && written.get(transfer, lane, transfer.numbers[i]) != ~uint32_t(0))
        undefined |= LaneMask(1) << lane;
    }
    warp.arrive(reg);
    warp.undefine(reg, undefined);
  }
}

void performStore(AsyncContext &ctx, Cta &cta, Block &block, const Transfer &transfer, TensorAddress address) {
  TensorAccess access(ctx, cta);
  if (!reachesAll(access, transfer, address.column))
    return;
  for (const ColumnRun &run : transfer.runs)
    access.write(address.lane + run.row, address.column + run.column, run.count, block.at(run.row, run.column));
}

std::string describe(const char *what, const Lanes &lanes, TensorAddress address, const Transfer &transfer) {
  return std::string(what) + " of warp " + std::to_string(lanes.warp.index) + ", columns " +
         std::to_string(address.column) + " to " + std::to_string(address.column + transfer.span - 1);
}

/// Waits for the warp's operations of one kind, and lets its lanes see them in tensor memory only: others see them
/// after tcgen05.fence::before_thread_sync (PTX ISA 9.7.16.6).
Step waitFor(Lanes &lanes, StreamKind kind, const char *what) {
  Stream &stream = lanes.stream(kind, lanes.warp.index);
  if (!stream.done(stream.issued()))
    return lanes.waits([&] { return "for " + std::string(what) + " of its warp"; });
  const Epoch last = stream.epoch(stream.issued());
  changeClocks(
      lanes, [&](const Clock &clock) { return !clock.tensor.has(last); },
      [&](Clock &clock) { clock.tensor.raise(last); });
  return Step::Done;
}

} // namespace

Evaluator decodeLoad(Decoder &decode) {
  auto transfer = std::make_shared<Transfer>();
  int registers = decodeShape(decode, "pack::16b", *transfer);
  if (decode.failed())
    return {};
  std::vector<Dest> dests = decode.dests(0);
  transfer->address = decode.address(1);
  for (size_t i = 0; i < dests.size(); ++i) {
    if (dests[i].isSink())
      continue;
    transfer->registers.push_back(dests[i].registerId());
    transfer->numbers.push_back(static_cast<int>(i));
  }
  finishTransfer(decode, *transfer, registers, dests.size());
  decode.executedBy(Scope::Warp);
  return [transfer = SharedTransfer(transfer)](Lanes &lanes) {
    TensorAddress address = startOf(lanes, *transfer);
    auto &loads = lanes.cta.tensorLoads[lanes.warp.index];
    for (ptx::RegId reg : transfer->registers) {
      lanes.warp.takeOff(reg, Flight::Load);
      loads.push_back(reg);
    }
    AsyncOp op;
    op.agent = warpAgent(lanes, "tcgen05.ld");
    op.description = describe("tcgen05.ld", lanes, address, *transfer);
    op.perform = [transfer, address, cta = &lanes.cta, warp = &lanes.warp](AsyncContext &ctx) {
      performLoad(ctx, *cta, *warp, *transfer, address);
    };
    lanes.cluster.engine.issue(std::move(op), &lanes.stream(StreamKind::TensorLoad, lanes.warp.index));
    return Step::Done;
  };
}

Evaluator decodeStore(Decoder &decode) {
  auto transfer = std::make_shared<Transfer>();
  int registers = decodeShape(decode, "unpack::16b", *transfer);
  if (decode.failed())
    return {};
  transfer->address = decode.address(0);
  transfer->sources = decode.sources(transfer->shape == RegisterShape::Split32 ? 2 : 1);
  finishTransfer(decode, *transfer, registers, transfer->sources.size());
  decode.executedBy(Scope::Warp);
  return [transfer = SharedTransfer(transfer)](Lanes &lanes) {
    TensorAddress address = startOf(lanes, *transfer);
    Block block(*transfer);
    for (size_t reg = 0; reg < transfer->sources.size(); ++reg)
      for (int lane = 0; lane < kLanes; ++lane)
        block.set(*transfer, lane, static_cast<int>(reg), static_cast<uint32_t>(transfer->sources[reg](lanes, lane)));
    AsyncOp op;
    op.agent = warpAgent(lanes, "tcgen05.st");
    op.description = describe("tcgen05.st", lanes, address, *transfer);
    op.perform = [transfer, address, block, cta = &lanes.cta](AsyncContext &ctx) mutable {
      performStore(ctx, *cta, block, *transfer, address);
    };
    // The ISA gives two stores no order; a fixed one keeps results the same from run to run.
    op.order = (static_cast<uint64_t>(StreamKind::TensorStore) + 1) << 32 |
               lanes.cluster.componentOf(lanes.cta, lanes.thread(0));
    lanes.cluster.engine.issue(std::move(op), &lanes.stream(StreamKind::TensorStore, lanes.warp.index));
    return Step::Done;
  };
}

Evaluator decodeWaitLoad(Decoder &decode) {
  OpcodeReader opcode(decode, 2);
  opcode.expect({"sync", "aligned"});
  opcode.finish(0, 0);
  decode.executedBy(Scope::Warp);
  return [](Lanes &lanes) {
    if (waitFor(lanes, StreamKind::TensorLoad, "tcgen05.ld") == Step::Blocked)
      return Step::Blocked;
    auto &loads = lanes.cta.tensorLoads[lanes.warp.index];
    for (ptx::RegId reg : loads)
      lanes.warp.land(reg);
    loads.clear();
    return Step::Done;
  };
}

Evaluator decodeWaitStore(Decoder &decode) {
  OpcodeReader opcode(decode, 2);
  opcode.expect({"sync", "aligned"});
  opcode.finish(0, 0);
  decode.executedBy(Scope::Warp);
  return [](Lanes &lanes) { return waitFor(lanes, StreamKind::TensorStore, "tcgen05.st"); };
}

} // namespace headrace::sim::tcgen05
