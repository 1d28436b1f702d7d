// clusterlaunchcontrol.try_cancel and query_cancel: PTX ISA 9.7.13.17, 9.7.13.18.
//
// Here every cluster of the grid runs on its own, as if all had started at once; so there never is one left to take
// over, and every request fails. The 16 bytes of a response are opaque to programs: here they are zero.
#include "LaunchControl.h"

#include "OpcodeReader.h"
#include "TensorAccess.h"

namespace headrace::sim {

namespace {

constexpr int64_t kResponseBytes = 16;
constexpr uint8_t kFailed[kResponseBytes] = {};

/// Answers in the shared memory of one CTA, as a bulk copy of 16 bytes would.
void respond(AsyncContext &ctx, uint32_t response, uint32_t mbarrier) {
  ctx.landOn(mbarrier);
  ctx.writeShared(response, kResponseBytes, kFailed);
  ctx.completeTx(mbarrier, kResponseBytes);
}

void issueTryCancel(const Lanes &lanes, int lane, uint32_t response, uint32_t mbarrier, bool multicast) {
  uint32_t responseOffset = 0, mbarrierOffset = 0;
  const Cta *owner = lanes.cluster.ownerOf(response, responseOffset);
  lanes.cluster.ownerOf(mbarrier, mbarrierOffset);
  if (responseOffset % kResponseBytes != 0)
    return lanes.report(lane, FindingKind::Misaligned,
                        "response at " + tcgen05::hex(response) + ", expected a multiple of 16");
  AsyncOp op;
  op.agent = lanes.agent(lane, View::Async);
  op.agent.what = "clusterlaunchcontrol.try_cancel";
  op.description = "clusterlaunchcontrol.try_cancel onto " + lanes.cluster.nameOfShared(mbarrier);
  const uint32_t first = multicast || !owner ? 0 : owner->rank;
  const uint32_t count = multicast ? static_cast<uint32_t>(lanes.cluster.ctas.size()) : 1;
  op.perform = [=](AsyncContext &ctx) {
    for (uint32_t rank = first; rank < first + count; ++rank)
      respond(ctx, tcgen05::addressInCta(rank, responseOffset), tcgen05::addressInCta(rank, mbarrierOffset));
  };
  lanes.cluster.engine.issue(std::move(op), nullptr);
}

/// Asking a failed response for its cluster is undefined (PTX ISA 9.7.13.18).
void reportUndefined(const Lanes &lanes, int lane, const Source &response) {
  if (response(lanes, lane) == 0 && response.high(lanes, lane) == 0)
    lanes.report(lane, FindingKind::Operand, "reads the first CTA of a request that failed, which is undefined");
}

} // namespace

Evaluator decodeTryCancel(Decoder &decode) {
  tcgen05::OpcodeReader opcode(decode, 2);
  opcode.expect({"async"});
  const bool isShared = opcode.take("shared::cta");
  opcode.expect({"mbarrier::complete_tx::bytes"});
  const bool multicast = opcode.take("multicast::cluster::all");
  opcode.expect({"b128"});
  opcode.finish(2, 2);
  AddressSource response = decode.address(0), mbarrier = decode.address(1);
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      const uint64_t at = response(lanes, lane), barrier = mbarrier(lanes, lane);
      if (!isShared && ((at & kWindowMask) != kSharedWindow || (barrier & kWindowMask) != kSharedWindow))
        lanes.report(lane, FindingKind::Operand, "expected generic addresses of shared memory");
      else
        issueTryCancel(lanes, lane, static_cast<uint32_t>(at), static_cast<uint32_t>(barrier), multicast);
    });
    return Step::Done;
  };
}

Evaluator decodeQueryCancel(Decoder &decode) {
  tcgen05::OpcodeReader opcode(decode, 2);
  std::string_view dimension;
  const bool asksWhether = opcode.take("is_canceled");
  bool asksOne = false;
  if (asksWhether) {
    opcode.expect({"pred", "b128"});
  } else if (opcode.takeAfter("get_first_ctaid", dimension)) {
    asksOne = dimension == "::x" || dimension == "::y" || dimension == "::z";
    if (!asksOne && !dimension.empty())
      decode.fail("expected .get_first_ctaid::x, ::y or ::z, got ::" + std::string(dimension));
    if (!asksOne)
      opcode.expect({"v4"});
    opcode.expect({"b32", "b128"});
  } else {
    decode.fail("expected .is_canceled or .get_first_ctaid, got '" + std::string(decode.part(2)) + "'");
  }
  opcode.finish(2, 2);
  if (decode.failed())
    return {};
  std::vector<Dest> dests = decode.dests(0);
  Source response = decode.source(1);
  if (!asksWhether && dests.size() != (asksOne ? 1u : 4u))
    decode.fail("expected " + std::to_string(asksOne ? 1 : 4) + " registers, got " + std::to_string(dests.size()));
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      if (!asksWhether)
        reportUndefined(lanes, lane, response);
      for (const Dest &dest : dests)
        dest.set(lanes, lane, 0);
    });
    return Step::Done;
  };
}

} // namespace headrace::sim
