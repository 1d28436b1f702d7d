// wgmma.fence, commit_group and wait_group (PTX ISA 9.7.15.7).
#include "Factories.h"

#include "headrace/Sim/Machine/Program.h"
#include "headrace/Sim/Matrix/WgmmaOrder.h"

#include <algorithm>

namespace headrace::sim {

namespace {

bool expectSpelling(Decoder &decode, const std::string &spelling) {
  if (decode.instruction.spelling() == spelling)
    return true;
  decode.fail("expected " + spelling);
  return false;
}

/// All threads of the warpgroup have seen the operations up to `epoch`. Most of them share a clock and go on to do so.
void completeForAll(const Lanes &lanes, Epoch epoch) {
  SharedClock before, after;
  for (Warp *warp : lanes.warpgroup()) {
    for (ThreadState &thread : warp->threads) {
      if (thread.clock != before) {
        auto fresh = std::make_shared<Clock>(*thread.clock);
        fresh->complete(epoch);
        before = thread.clock;
        after = std::move(fresh);
      }
      thread.clock = after;
    }
  }
}

/// Ends the flight of the registers of all operations up to `last`.
void landUpTo(const Lanes &lanes, uint32_t last) {
  std::vector<WgmmaInFlight> &inFlight = lanes.cta.wgmmaInFlight[lanes.warpgroupIndex()];
  auto end = std::find_if(inFlight.begin(), inFlight.end(),
                          [&](const WgmmaInFlight &operation) { return operation.number > last; });
  if (end == inFlight.begin())
    return; // an earlier wait has landed them
  std::vector<ptx::RegId> accumulators;
  for (auto operation = inFlight.begin(); operation != end; ++operation) {
    for (Warp *warp : lanes.warpgroup())
      for (ptx::RegId reg : operation->registers)
        warp->land(reg);
    accumulators.insert(accumulators.end(), operation->registers.begin(),
                        operation->registers.begin() + operation->instruction->operands[0].elements.size());
  }
  inFlight.erase(inFlight.begin(), end);
  std::sort(accumulators.begin(), accumulators.end());
  accumulators.erase(std::unique(accumulators.begin(), accumulators.end()), accumulators.end());
  noteLanded(lanes.cta.wgmmaOrder[lanes.warpgroupIndex()], lanes.warpgroup(), accumulators);
}

Step waitForGroups(Lanes &lanes, uint32_t pending) {
  Stream &stream = lanes.stream(StreamKind::Wgmma, lanes.warpgroupIndex());
  uint32_t last = stream.endOfGroups(pending);
  if (!stream.done(last))
    return lanes.waits([&] {
      return "for wgmma " + std::to_string(stream.doneUpTo() + 1) + " to " + std::to_string(last) + " of warpgroup " +
             std::to_string(lanes.warpgroupIndex());
    });
  if (last != 0) {
    completeForAll(lanes, stream.epoch(last));
    landUpTo(lanes, last);
  }
  return Step::Done;
}

} // namespace

Evaluator makeWgmmaFence(Decoder &decode) {
  if (!expectSpelling(decode, "wgmma.fence.sync.aligned"))
    return {};
  decode.executedBy(Scope::Warpgroup);
  return [](Lanes &lanes) {
    noteFence(lanes.cta.wgmmaOrder[lanes.warpgroupIndex()], lanes.warpgroup(),
              lanes.cluster.program.function->registers.size());
    return Step::Done;
  };
}

Evaluator makeWgmmaCommit(Decoder &decode) {
  if (!expectSpelling(decode, "wgmma.commit_group.sync.aligned"))
    return {};
  decode.executedBy(Scope::Warpgroup);
  return [](Lanes &lanes) {
    lanes.stream(StreamKind::Wgmma, lanes.warpgroupIndex()).commitGroup();
    return Step::Done;
  };
}

Evaluator makeWgmmaWait(Decoder &decode) {
  if (!expectSpelling(decode, "wgmma.wait_group.sync.aligned"))
    return {};
  int64_t pending = decode.integer(0);
  if (pending < 0)
    decode.fail("expected a number of pending groups, got " + std::to_string(pending));
  decode.executedBy(Scope::Warpgroup);
  return [pending](Lanes &lanes) { return waitForGroups(lanes, static_cast<uint32_t>(pending)); };
}

} // namespace headrace::sim
