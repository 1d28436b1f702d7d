// Fences, and small instructions of a whole warp: PTX ISA 9.7.13.5 (membar, fence), 9.7.13.14 (elect), 9.7.20 (setmaxnreg).
#include "Synchronization.h"

namespace headrace::sim {

namespace {

/// fence.proxy.async and fence.mbarrier_init: what the lane knows of generic accesses, the async proxy sees from here on.
Step passToAsyncProxy(Lanes &lanes) {
  lanes.forEach([&](int lane) {
    Epoch own = lanes.epoch(lane);
    Clock &clock = lanes.clock(lane);
    clock.async.join(clock.generic);
    clock.async.raise(own);
    ++lanes.state(lane).step; // what follows is not covered
  });
  return Step::Done;
}

Step nothing(Lanes &) { return Step::Done; }

/// Ordinary fences change nothing here: barriers and mbarriers carry the order, and each lane's accesses are in order.
Evaluator makeFence(Decoder &decode) {
  if (decode.has("mbarrier_init"))
    return passToAsyncProxy;
  if (!decode.has("proxy"))
    return nothing;
  std::string_view kind = decode.part(2);
  if (kind == "async" || kind.substr(0, 7) == "async::" || kind.substr(0, 5) == "async")
    return passToAsyncProxy;
  if (kind == "alias" || kind.substr(0, 9) == "tensormap")
    return nothing;
  decode.fail("expected fence.proxy of async, alias or tensormap, got '" + std::string(kind) + "'");
  return nothing;
}

/// elect.sync d|p, mask: the lowest lane of the mask is the leader.
Evaluator makeElect(Decoder &decode) {
  if (decode.numOperands() != 2 || decode.instruction.operands[0].kind != ptx::Operand::Kind::Pair) {
    decode.fail("expected operands d|p, membermask");
    return nothing;
  }
  Dest leader = decode.dest(decode.instruction.operands[0].elements[0]);
  Dest elected = decode.dest(decode.instruction.operands[0].elements[1]);
  Source members = decode.source(1);
  return [=](Lanes &lanes) {
    LaneMask named = static_cast<LaneMask>(members(lanes, lanes.leader())) & lanes.warp.live;
    if ((lanes.mask & named) != named)
      return lanes.waits([] { return std::string("for the other lanes of the mask"); });
    int lowest = __builtin_ctz(named ? named : lanes.mask);
    lanes.forEach([&](int lane) {
      leader.set(lanes, lane, static_cast<uint64_t>(lowest));
      elected.set(lanes, lane, lane == lowest);
    });
    return Step::Done;
  };
}

/// Registers are not counted here; ptxas does that. The operand's rule is checked (9.7.20.5).
Evaluator makeSetmaxnreg(Decoder &decode) {
  decode.executedBy(Scope::Warp);
  int64_t registers = decode.integer(0);
  if (registers < 24 || registers > 256 || registers % 8)
    decode.fail("expected a multiple of 8 from 24 to 256 registers, got " + std::to_string(registers));
  return nothing;
}

Evaluator makeNothing(Decoder &) { return nothing; }

} // namespace

void addFences(Registry &registry) {
  registry.add("fence", makeFence);
  registry.add("membar", makeNothing);
  registry.add("elect", makeElect);
  registry.add("setmaxnreg", makeSetmaxnreg);
  registry.add("griddepcontrol", makeNothing); // one kernel runs at a time
}

void addSynchronization(Registry &registry) {
  addThreadBarriers(registry);
  addMbarriers(registry);
  addFences(registry);
}

} // namespace headrace::sim
