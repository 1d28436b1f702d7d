// mbarrier: PTX ISA 9.7.13.15.
#include "Synchronization.h"

namespace headrace::sim {

namespace {

constexpr int64_t kMbarrierBytes = 8;
constexpr int64_t kMaxArrivals = (1 << 20) - 1;

/// The shared::cluster address that an operand names. Without a state space the operand is a generic address.
struct BarrierAddress {
  AddressSource address;
  bool generic = false;

  uint32_t operator()(const Lanes &lanes, int lane) const {
    uint64_t value = address(lanes, lane);
    if (generic && (value & kWindowMask) != kSharedWindow) {
      lanes.report(lane, FindingKind::Operand, "expected an address in shared memory, got a global one");
      return ~0u;
    }
    return static_cast<uint32_t>(value);
  }
};

BarrierAddress barrierAddress(Decoder &decode, size_t operand) {
  return {decode.address(operand),
          !decode.has("shared") && !decode.has("shared::cta") && !decode.has("shared::cluster")};
}

/// The mbarrier at the lane's address, or null after a finding.
Mbarrier *find(const Lanes &lanes, int lane, uint32_t address, const char *verb) {
  uint32_t offset = 0;
  Cta *owner = lanes.cluster.ownerOf(address, offset);
  if (owner && owner != &lanes.cta && owner->finished()) {
    lanes.report(lane, FindingKind::Barrier,
                 std::string(verb) + " an mbarrier of CTA " + std::to_string(owner->index) + ", which has exited");
    return nullptr;
  }
  Mbarrier *barrier = lanes.cluster.mbarrierAt(address);
  if (!barrier) {
    lanes.report(lane, FindingKind::Barrier,
                 std::string(verb) + " " + lanes.cluster.nameOfShared(address) + ", where no mbarrier is initialised");
    return nullptr;
  }
  Epoch own = lanes.epoch(lane);
  if (barrier->initialised.component != own.component && !lanes.state(lane).clock->generic.has(barrier->initialised))
    lanes.report(lane, FindingKind::Barrier,
                 std::string(verb) + " " + lanes.cluster.nameOfShared(address) +
                     " with nothing between its initialisation and this");
  return barrier;
}

void judge(const Lanes &lanes, int lane, uint32_t address, const std::string &error) {
  if (!error.empty())
    lanes.report(lane, FindingKind::Barrier, lanes.cluster.nameOfShared(address) + ": " + error);
  lanes.cluster.changed();
}

Evaluator makeInit(Decoder &decode) {
  BarrierAddress address = barrierAddress(decode, 0);
  Source count = decode.source(1);
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      uint32_t at = address(lanes, lane);
      int64_t arrivals = static_cast<int64_t>(count(lanes, lane));
      uint32_t offset = 0;
      if (at % kMbarrierBytes)
        lanes.report(lane, FindingKind::Misaligned,
                     "expected an mbarrier at a multiple of 8 bytes, got " + std::to_string(at));
      if (arrivals < 1 || arrivals > kMaxArrivals)
        lanes.report(lane, FindingKind::Operand, "expected 1 to 1048575 arrivals, got " + std::to_string(arrivals));
      if (lanes.cluster.mbarrierAt(at))
        lanes.report(lane, FindingKind::Barrier, lanes.cluster.nameOfShared(at) + " is initialised again while in use");
      if (lanes.cluster.ownerOf(at, offset) != &lanes.cta)
        return lanes.report(lane, FindingKind::Operand, "initialises an mbarrier of another CTA");
      lanes.cta.mbarriers.erase(offset);
      const uint64_t opaque = 0;
      lanes.storeShared(lane, at, kMbarrierBytes, &opaque);
      lanes.cta.mbarriers.emplace(
          offset, Mbarrier(lanes.cluster.newComponent(), static_cast<uint32_t>(arrivals), lanes.epoch(lane)));
      ++lanes.state(lane).step;
    });
    return Step::Done;
  };
}

Evaluator makeInval(Decoder &decode) {
  BarrierAddress address = barrierAddress(decode, 0);
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      uint32_t at = address(lanes, lane), offset = 0;
      Mbarrier *barrier = find(lanes, lane, at, "invalidates");
      if (!barrier || lanes.cluster.ownerOf(at, offset) != &lanes.cta)
        return;
      if (barrier->pendingBytes() != 0)
        lanes.report(lane, FindingKind::Barrier,
                     lanes.cluster.nameOfShared(at) + " is invalidated with " +
                         std::to_string(barrier->pendingBytes()) + " transaction bytes outstanding");
      lanes.cta.mbarriers.erase(offset);
    });
    return Step::Done;
  };
}

/// arrive, arrive_drop, and arrive.expect_tx: [token,] [address] [, count or bytes].
/// A relaxed arrival passes on as much as a releasing one does: what it orders is then for the ISA's fences to say.
Evaluator makeArrive(Decoder &decode) {
  bool drop = decode.part(1) == "arrive_drop";
  bool expects = decode.has("expect_tx");
  bool hasToken = decode.numOperands() > 0 && decode.instruction.operands[0].kind != ptx::Operand::Kind::Address;
  Dest token = hasToken ? decode.dest(0) : Dest();
  BarrierAddress address = barrierAddress(decode, hasToken);
  bool hasAmount = decode.numOperands() > size_t(hasToken) + 1;
  Source amount = hasAmount ? decode.source(hasToken + 1) : Source();
  if (expects && !hasAmount)
    decode.fail("expected a number of bytes");
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      uint32_t at = address(lanes, lane);
      Mbarrier *barrier = find(lanes, lane, at, "arrives on");
      if (!barrier)
        return;
      if (hasToken)
        token.set(lanes, lane, barrier->phase());
      uint64_t value = hasAmount ? amount(lanes, lane) : 1;
      // One step, as the ISA has it: the bytes are expected before the arrival can complete the phase.
      if (expects)
        judge(lanes, lane, at, barrier->expectBytes(static_cast<int64_t>(value)));
      uint32_t count = expects ? 1 : static_cast<uint32_t>(value);
      SharedClock clock = lanes.release(lane);
      judge(lanes, lane, at, drop ? barrier->arriveAndDrop(count, *clock) : barrier->arrive(count, *clock));
    });
    return Step::Done;
  };
}

/// expect_tx and complete_tx: [address], bytes.
Evaluator makeTransaction(Decoder &decode) {
  bool expects = decode.part(1) == "expect_tx";
  BarrierAddress address = barrierAddress(decode, 0);
  Source bytes = decode.source(1);
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      uint32_t at = address(lanes, lane);
      Mbarrier *barrier = find(lanes, lane, at, expects ? "expects bytes on" : "completes bytes on");
      if (!barrier)
        return;
      int64_t count = static_cast<int64_t>(bytes(lanes, lane));
      judge(lanes, lane, at, expects ? barrier->expectBytes(count) : barrier->completeBytes(count));
    });
    return Step::Done;
  };
}

/// test_wait and try_wait, by parity or by token. try_wait suspends until the phase is over, test_wait answers at once.
Evaluator makeWait(Decoder &decode) {
  bool suspends = decode.part(1) == "try_wait";
  bool byParity = decode.has("parity");
  Dest result = decode.dest(0);
  BarrierAddress address = barrierAddress(decode, 1);
  Source phase = decode.source(2);
  return [=](Lanes &lanes) {
    LaneMask over = 0;
    lanes.forEach([&](int lane) {
      Mbarrier *barrier = find(lanes, lane, address(lanes, lane), "waits for");
      uint64_t value = phase(lanes, lane);
      bool done = !barrier || (byParity ? barrier->completed(value & 1) : barrier->phase() > value);
      over |= done ? LaneMask(1) << lane : 0;
    });
    if (suspends && !over)
      return lanes.waits([&] {
        uint32_t at = address(lanes, lanes.leader());
        Mbarrier *barrier = lanes.cluster.mbarrierAt(at);
        return "for " + lanes.cluster.nameOfShared(at) + ", parity " +
               std::to_string(phase(lanes, lanes.leader()) & 1) + ": it is in phase " +
               std::to_string(barrier->phase()) + " with " + std::to_string(barrier->pendingArrivals()) + " of " +
               std::to_string(barrier->expectedArrivals()) + " arrivals and " +
               std::to_string(barrier->pendingBytes()) + " bytes to come";
      });
    lanes.forEach([&](int lane) {
      bool done = over >> lane & 1;
      result.set(lanes, lane, done);
      if (Mbarrier *barrier = done ? lanes.cluster.mbarrierAt(address(lanes, lane)) : nullptr) {
        lanes.acquire(lane, barrier->passed());
        if (barrier->phase() > 0) // before it, the fresh barrier's phase of parity 1 is seen
          barrier->noteSeen(lanes.epoch(lane));
      }
    });
    return Step::Done;
  };
}

Evaluator makePendingCount(Decoder &decode) {
  decode.fail("is not simulated: the state of an mbarrier is opaque");
  return [](Lanes &) { return Step::Done; };
}

Evaluator makeMbarrier(Decoder &decode) {
  std::string_view operation = decode.part(1);
  if (operation == "init")
    return makeInit(decode);
  if (operation == "inval")
    return makeInval(decode);
  if (operation == "arrive" || operation == "arrive_drop")
    return makeArrive(decode);
  if (operation == "expect_tx" || operation == "complete_tx")
    return makeTransaction(decode);
  if (operation == "test_wait" || operation == "try_wait")
    return makeWait(decode);
  if (operation != "pending_count")
    decode.fail("expected an operation of mbarrier, got '" + std::string(operation) + "'");
  return makePendingCount(decode);
}

} // namespace

void addMbarriers(Registry &registry) { registry.add("mbarrier", makeMbarrier); }

} // namespace headrace::sim
