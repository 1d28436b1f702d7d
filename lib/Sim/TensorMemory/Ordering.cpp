// tcgen05.fence and tcgen05.commit: how tensor memory and the rest of the machine learn of each other (PTX ISA
// 9.7.16.6, 9.7.16.11, 9.7.16.12).
#include "ClockChange.h"
#include "Families.h"
#include "OpcodeReader.h"
#include "TensorAccess.h"

#include <memory>

namespace headrace::sim::tcgen05 {

namespace {

struct Commit {
  bool isSharedCluster = false;
  bool multicast = false;
  AddressSource address;
  Source ctas; // of a multicast: bit i, the CTA of rank i
};

/// The shared::cluster addresses to arrive on; none after a finding.
std::vector<uint32_t> targetsOf(const Lanes &lanes, int lane, const Commit &commit) {
  uint64_t address = commit.address(lanes, lane);
  if (!commit.isSharedCluster && (address & kWindowMask) != kSharedWindow) {
    lanes.report(lane, FindingKind::Operand, "expected a generic address of shared memory");
    return {};
  }
  const auto shared = static_cast<uint32_t>(address);
  if (!commit.multicast)
    return {shared};
  uint32_t offset = 0;
  lanes.cluster.ownerOf(shared, offset);
  const uint64_t mask = commit.ctas(lanes, lane) & 0xFFFF;
  std::vector<uint32_t> targets;
  for (uint32_t rank = 0; rank < 16; ++rank) {
    if (!(mask >> rank & 1))
      continue;
    if (rank < lanes.cluster.ctas.size())
      targets.push_back(addressInCta(rank, offset));
    else
      lanes.report(lane, FindingKind::Operand,
                   "multicast to the CTA of rank " + std::to_string(rank) + ", the cluster has " +
                       std::to_string(lanes.cluster.ctas.size()));
  }
  return targets;
}

/// What the arrival passes on: all that the thread has seen, also of tensor memory (the commit is a
/// fence::before_thread_sync too), and that its operations so far are done.
std::shared_ptr<Clock> passedOn(const Lanes &lanes, int lane) {
  auto clock = std::make_shared<Clock>(*lanes.release(lane));
  clock->generic.join(clock->tensor);
  const Stream &stream = lanes.stream(StreamKind::TensorCore, lanes.thread(lane));
  clock->complete(stream.epoch(stream.issued()));
  return clock;
}

/// An operation of its own, behind those that it waits for.
void issueCommit(const Lanes &lanes, int lane, std::vector<uint32_t> targets) {
  std::shared_ptr<Clock> clock = passedOn(lanes, lane);
  AsyncOp op;
  op.agent = lanes.agent(lane, View::Async);
  op.agent.what = "tcgen05.commit";
  op.description = "tcgen05.commit onto";
  for (uint32_t target : targets)
    op.description += " " + lanes.cluster.nameOfShared(target);
  op.order = tensorCoreOrder(lanes, lane);
  op.perform = [clock, targets = std::move(targets)](AsyncContext &ctx) {
    for (uint32_t target : targets)
      ctx.arrive(target, *clock);
  };
  lanes.cluster.engine.issue(std::move(op), nullptr);
}

} // namespace

Evaluator decodeFenceBefore(Decoder &decode) {
  OpcodeReader(decode, 2).finish(0, 0);
  return [](Lanes &lanes) {
    changeClocks(
        lanes, [](const Clock &clock) { return !clock.generic.covers(clock.tensor); },
        [](Clock &clock) { clock.generic.join(clock.tensor); });
    return Step::Done;
  };
}

Evaluator decodeFenceAfter(Decoder &decode) {
  OpcodeReader(decode, 2).finish(0, 0);
  return [](Lanes &lanes) {
    changeClocks(
        lanes, [](const Clock &clock) { return !clock.tensor.covers(clock.generic); },
        [](Clock &clock) { clock.tensor.join(clock.generic); });
    return Step::Done;
  };
}

Evaluator decodeCommit(Decoder &decode) {
  OpcodeReader opcode(decode, 2);
  Commit commit;
  const int ctaGroup = opcode.ctaGroup();
  opcode.expect({"mbarrier::arrive::one"});
  commit.isSharedCluster = opcode.take("shared::cluster");
  commit.multicast = opcode.take("multicast::cluster");
  opcode.expect({"b64"});
  const size_t operands = commit.multicast ? 2 : 1;
  opcode.finish(operands, operands);
  if (decode.failed())
    return {};
  commit.address = decode.address(0);
  if (commit.multicast)
    commit.ctas = decode.source(1);
  return [=](Lanes &lanes) {
    if (firstRankOf(lanes, ctaGroup) >= 0)
      lanes.forEach([&](int lane) { issueCommit(lanes, lane, targetsOf(lanes, lane, commit)); });
    return Step::Done;
  };
}

} // namespace headrace::sim::tcgen05
