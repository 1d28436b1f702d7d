// cp.async and its arrival on an mbarrier: PTX ISA 9.7.9.25.3.1, 9.7.13.15.15. The copies are accesses of the generic proxy,
// in no order among each other.
#include "Copies.h"
#include "Issue.h"
#include "headrace/Sim/Machine/Hex.h"

#include <algorithm>
#include <array>
#include <utility>

namespace headrace::sim {

namespace {

constexpr int64_t kMaxBytes = 16;

struct CpAsync {
  AddressSource to, from;
  int64_t bytes = 0;
  bool hasLimit = false;
  bool ignores = false; // the limit is the predicate ignore-src, else it is src-size
  Source limit;

  Step operator()(Lanes &lanes) const {
    lanes.forEach([&](int lane) { issue(lanes, lane); });
    return Step::Done;
  }

private:
  /// How many bytes are read; the rest are zeros.
  int64_t bytesRead(const Lanes &lanes, int lane) const {
    if (!hasLimit)
      return bytes;
    auto value = static_cast<uint32_t>(limit(lanes, lane));
    if (ignores)
      return value ? 0 : bytes;
    if (value > bytes)
      lanes.report(lane, FindingKind::Operand,
                   "expected a src-size of at most the copy's " + std::to_string(bytes) + " bytes, got " +
                       std::to_string(value));
    return std::min<int64_t>(value, bytes);
  }

  void issue(Lanes &lanes, int lane) const {
    auto destination = static_cast<uint32_t>(to(lanes, lane));
    uint64_t source = from(lanes, lane);
    checkAlignment(lanes, lane, "destination", destination, static_cast<uint64_t>(bytes));
    checkAlignment(lanes, lane, "source", source, static_cast<uint64_t>(bytes));
    if (!isOwnShared(lanes, lane, "destination", destination))
      return;
    int64_t size = bytes, read = bytesRead(lanes, lane);
    AsyncOp op;
    op.agent = lanes.agent(lane, View::Generic);
    op.agent.what = "cp.async";
    op.agent.isInOrder = false;
    op.description = "cp.async of " + std::to_string(size) + " bytes";
    op.perform = [=](AsyncContext &ctx) {
      std::array<uint8_t, kMaxBytes> data = {};
      if (read)
        ctx.readGlobal(source, read, data.data());
      ctx.writeShared(destination, size, data.data());
    };
    lanes.cluster.engine.issue(std::move(op), &lanes.stream(StreamKind::CpAsync, lanes.thread(lane)));
  }
};

bool isPredicate(const Decoder &decode, const ptx::Operand &operand) {
  return operand.kind == ptx::Operand::Kind::Predicate ||
         (operand.kind == ptx::Operand::Kind::Register && decode.function.registers[operand.reg].bits == 1);
}

/// cp.async.{ca,cg}.shared{::cta}.global{.L2::cache_hint}{.L2::64B, 128B, 256B}; the hints have no effect here.
void checkOpcode(Decoder &decode) {
  if ((decode.part(3) != "shared" && decode.part(3) != "shared::cta") || decode.part(4) != "global")
    decode.fail("expected a copy of global to shared memory");
  for (size_t i = 5; i < decode.numParts(); ++i) {
    std::string_view part = decode.part(i);
    if (part != "L2::cache_hint" && part != "L2::64B" && part != "L2::128B" && part != "L2::256B")
      decode.fail("'." + std::string(part) + "' is not understood in cp.async");
  }
}

/// cp.async.mbarrier.arrive: one arrival when the thread's copies so far are done. It passes on
/// these and nothing else of the thread (PTX ISA 8.9.1.1).
struct CpAsyncArrive {
  AddressSource address;
  bool generic = false;
  bool noIncrement = false;

  Step operator()(Lanes &lanes) const {
    lanes.forEach([&](int lane) { issue(lanes, lane); });
    return Step::Done;
  }

private:
  void issue(Lanes &lanes, int lane) const {
    uint64_t operand = address(lanes, lane);
    if (generic && (operand & kWindowMask) != kSharedWindow)
      return lanes.report(lane, FindingKind::Operand, "expected an mbarrier in shared memory, got " + hexText(operand));
    auto mbarrier = static_cast<uint32_t>(operand);
    if (!isOwnShared(lanes, lane, "mbarrier", mbarrier) || !isMbarrier(lanes, lane, "arrives on", mbarrier))
      return;
    if (!noIncrement)
      if (std::string error = lanes.cluster.mbarrierAt(mbarrier)->addPending(1); !error.empty())
        lanes.report(lane, FindingKind::Barrier, lanes.cluster.nameOfShared(mbarrier) + ": " + error);
    Stream *copies = &lanes.stream(StreamKind::CpAsync, lanes.thread(lane));
    Epoch last = copies->epoch(copies->issued());
    AsyncOp op;
    op.agent = lanes.agent(lane, View::Generic);
    op.agent.what = "cp.async.mbarrier.arrive";
    op.description = "arrival of cp.async on " + lanes.cluster.nameOfShared(mbarrier);
    op.ready = [=] { return copies->done(last.number); };
    op.perform = [=](AsyncContext &ctx) {
      Clock passed;
      if (last.number)
        passed.generic.raise(last);
      ctx.arrive(mbarrier, passed);
    };
    lanes.cluster.engine.issue(std::move(op), nullptr);
  }
};

} // namespace

Evaluator makeCpAsync(Decoder &decode) {
  checkOpcode(decode);
  CpAsync copy;
  copy.to = decode.address(0);
  copy.from = decode.address(1);
  copy.bytes = decode.integer(2);
  bool cachesL2Only = decode.part(2) == "cg";
  if (copy.bytes != 16 && (cachesL2Only || (copy.bytes != 4 && copy.bytes != 8)))
    decode.fail(std::string("expected ") + (cachesL2Only ? "16" : "4, 8 or 16") + " bytes, got " +
                std::to_string(copy.bytes));
  size_t hints = decode.has("L2::cache_hint");
  copy.hasLimit = decode.numOperands() == 4 + hints;
  if (copy.hasLimit) {
    copy.limit = decode.source(3);
    copy.ignores = isPredicate(decode, decode.instruction.operands[3]);
  } else if (decode.numOperands() != 3 + hints) {
    decode.fail("expected 3 operands, a src-size or ignore-src, and a policy with .L2::cache_hint, got " +
                std::to_string(decode.numOperands()) + " operands");
  }
  if (hints)
    decode.source(decode.numOperands() - 1);
  return copy;
}

Evaluator makeCpAsyncArrive(Decoder &decode) {
  CpAsyncArrive arrive;
  arrive.address = decode.address(0);
  arrive.noIncrement = decode.has("noinc");
  arrive.generic = !decode.has("shared") && !decode.has("shared::cta");
  size_t known = 5 + size_t(arrive.noIncrement) + size_t(!arrive.generic); // cp async mbarrier arrive ... b64
  if (decode.numParts() != known || decode.lastPart() != "b64" || decode.numOperands() != 1)
    decode.fail("expected cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [address]");
  return arrive;
}

} // namespace headrace::sim
