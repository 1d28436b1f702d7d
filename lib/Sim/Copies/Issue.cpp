// Checks and issue of copies.
#include "Issue.h"

#include "headrace/Sim/Machine/Hex.h"
#include "headrace/Sim/Machine/Program.h"

#include <mutex>
#include <utility>

namespace headrace::sim {

namespace {

constexpr uint64_t kMbarrierAlignment = 8; // PTX ISA 9.7.13.15.1

std::string ctaOf(uint32_t address) { return "CTA " + std::to_string(rankOf(address)) + " of the cluster"; }

/// Whether every destination is there, with its mbarrier.
bool areDestinations(const Lanes &lanes, int lane, const std::vector<Destination> &destinations) {
  size_t ctas = lanes.cluster.ctas.size();
  for (const Destination &destination : destinations) {
    for (uint32_t address : {destination.data, destination.mbarrier})
      if (rankOf(address) >= ctas) {
        lanes.report(lane, FindingKind::Operand,
                     "expected a destination among the " + std::to_string(ctas) + " CTAs of the cluster, got " +
                         hexText(address) + " in " + ctaOf(address));
        return false;
      }
    if (!isMbarrier(lanes, lane, "completes on", destination.mbarrier))
      return false;
  }
  return true;
}

} // namespace

void checkAlignment(const Lanes &lanes, int lane, const char *what, uint64_t address, uint64_t alignment) {
  if (address % alignment)
    lanes.report(lane, FindingKind::Misaligned,
                 std::string("expected a ") + what + " at a multiple of " + std::to_string(alignment) + " bytes, got " +
                     hexText(address));
}

bool isOwnShared(const Lanes &lanes, int lane, const char *what, uint32_t address) {
  if (rankOf(address) == lanes.cta.rank)
    return true;
  lanes.report(lane, FindingKind::Operand,
               std::string("expected a ") + what + " in the executing CTA (shared::cta), " +
                   std::to_string(lanes.cta.rank) + " of the cluster, got " + hexText(address) + " in " +
                   ctaOf(address));
  return false;
}

bool isMbarrier(const Lanes &lanes, int lane, const char *verb, uint32_t address) {
  checkAlignment(lanes, lane, "mbarrier", address, kMbarrierAlignment);
  const Mbarrier *barrier = lanes.cluster.mbarrierAt(address);
  if (!barrier) {
    lanes.report(lane, FindingKind::Barrier,
                 std::string(verb) + " " + lanes.cluster.nameOfShared(address) + ", where no mbarrier is initialised");
    return false;
  }
  Epoch start = barrier->initialised;
  if (start.component != lanes.epoch(lane).component && !lanes.state(lane).clock->generic.has(start))
    lanes.report(lane, FindingKind::Barrier,
                 std::string(verb) + " " + lanes.cluster.nameOfShared(address) +
                     " with nothing between its initialisation and this");
  return true;
}

bool fitsShared(const Lanes &lanes, int lane, int64_t bytes) {
  if (bytes <= lanes.cta.shared.size())
    return true;
  lanes.report(lane, FindingKind::OutOfBounds,
               "copies " + std::to_string(bytes) + " bytes, shared memory has " +
                   std::to_string(lanes.cta.shared.size()));
  return false;
}

std::vector<Destination> findDestinations(const Lanes &lanes, int lane, const BulkOpcode &opcode, uint32_t data,
                                          uint32_t mbarrier, uint16_t mask) {
  std::string why = whyNotSignalled(data, mbarrier, opcode.pair);
  if (opcode.toOwnCta && !isOwnShared(lanes, lane, "destination", data))
    return {};
  if (why.empty() && opcode.kind == BulkOpcode::Kind::Peer && rankOf(data) == lanes.cta.rank)
    why =
        "expected a destination in another CTA (PTX ISA 9.7.9.25.4.1), got " + hexText(data) + " in the executing one";
  if (why.empty() && opcode.multicast && mask == 0)
    why = "expected a multicast mask with a CTA in it, got 0";
  if (!why.empty()) {
    lanes.report(lane, FindingKind::Operand, why);
    return {};
  }
  std::vector<Destination> result = {{data, mbarrier}};
  if (opcode.multicast)
    result = multicastDestinations(data, mbarrier, mask, opcode.pair);
  if (!areDestinations(lanes, lane, result))
    return {};
  return result;
}

void issueOntoMbarriers(const Lanes &lanes, int lane, MbarrierCopy copy) {
  AsyncOp op;
  op.agent = lanes.agent(lane, View::Async);
  op.agent.own = {}; // the phase it lands in, once that is known
  op.agent.isInOrder = copy.isAtomic;
  op.agent.what = copy.what;
  op.description = std::string(copy.what) + " of " + std::to_string(copy.bytes) + " bytes onto " +
                   lanes.cluster.nameOfShared(copy.destinations.front().mbarrier);
  op.perform = [copy = std::move(copy)](AsyncContext &ctx) {
    ctx.landOn(copy.destinations.front().mbarrier);
    std::vector<uint8_t> data = copy.read(ctx);
    for (const Destination &destination : copy.destinations) {
      ctx.landOn(destination.mbarrier);
      copy.write(ctx, destination.data, data);
      ctx.completeTx(destination.mbarrier, copy.bytes);
    }
  };
  lanes.cluster.engine.issue(std::move(op), nullptr);
}

void issueIntoBulkGroup(const Lanes &lanes, int lane, const char *what, int64_t bytes,
                        std::function<void(AsyncContext &)> perform) {
  AsyncOp op;
  op.agent = lanes.agent(lane, View::Async);
  op.agent.what = what;
  op.description = std::string(what) + " of " + std::to_string(bytes) + " bytes";
  op.perform = std::move(perform);
  lanes.cluster.engine.issue(std::move(op), &lanes.stream(StreamKind::Bulk, lanes.thread(lane)));
}

void reduceGlobal(AsyncContext &ctx, uint64_t address, int64_t bytes, const uint8_t *from, const Reduction &reduction) {
  GlobalMemory &memory = *ctx.cluster.launch.memory;
  std::lock_guard<std::mutex> lock(memory.atomicMutex());
  if (uint8_t *into = memory.find(address, bytes))
    return reduce(reduction, from, into, bytes);
  ctx.report(FindingKind::OutOfBounds, std::string(ctx.agent.what) + " updates " + std::to_string(bytes) +
                                           " bytes at " + hexText(address) + ": " + memory.describe(address));
}

} // namespace headrace::sim
