// tcgen05.alloc, dealloc and relinquish_alloc_permit: PTX ISA 9.7.16.7.1.
#include "Families.h"
#include "OpcodeReader.h"
#include "TensorAccess.h"

#include "headrace/Sim/TensorMemory/ColumnAllocation.h"

namespace headrace::sim::tcgen05 {

namespace {

/// The other CTA's allocator where `.cta_group::2` allocates in both, or null.
const TensorAllocator *peerAllocator(const Lanes &lanes, int ctaGroup) {
  if (ctaGroup == 1)
    return nullptr;
  return &lanes.cluster.ctas[lanes.cta.rank ^ 1]->tensorAllocator;
}

/// What is wrong with allocating `count` columns now, or "".
std::string refusal(const Lanes &lanes, int64_t count) {
  const TensorAllocator &allocator = lanes.cta.tensorAllocator;
  if (!lanes.cta.tensor)
    return "allocates tensor memory, which the target does not have";
  if (!isAllocationSize(count))
    return "allocates " + std::to_string(count) + " columns, expected 32, 64, 128, 256 or 512";
  if (allocator.relinquished)
    return "allocates after tcgen05.relinquish_alloc_permit";
  return "";
}

Step allocate(Lanes &lanes, int ctaGroup, int64_t count, int &first) {
  TensorAllocator &allocator = lanes.cta.tensorAllocator;
  std::optional<int> place = findColumns(allocator, peerAllocator(lanes, ctaGroup), static_cast<int>(count));
  if (!place)
    return lanes.waits([&] {
      return "for " + std::to_string(count) + " consecutive free columns of tensor memory, " +
             std::to_string(freeColumns(allocator)) + " are free";
    });
  first = *place;
  if (count > allocator.last)
    lanes.report(lanes.leader(), FindingKind::TensorMemory,
                 "allocates " + std::to_string(count) + " columns after " + std::to_string(allocator.last) +
                     ", the number must not grow");
  allocator.live.push_back({first, static_cast<int>(count), &lanes.instruction});
  allocator.last = static_cast<int>(count);
  for (int lane = 0; lane < Cta::kTensorLanes; ++lane)
    lanes.cta.tensor->forget((int64_t(lane) * Cta::kTensorColumns + first) * 4, count * 4);
  return Step::Done;
}

void deallocate(Lanes &lanes, TensorAddress address, int64_t count) {
  auto &live = lanes.cta.tensorAllocator.live;
  auto report = [&](const std::string &message) {
    lanes.report(lanes.leader(), FindingKind::TensorMemory,
                 "frees " + std::to_string(count) + " columns from " + std::to_string(address.column) + message);
  };
  for (auto it = live.begin(); it != live.end(); ++it) {
    if (it->first != address.column || address.lane != 0)
      continue;
    if (it->count != count)
      report(", " + std::to_string(it->count) + " were allocated there");
    // Others must be done with the columns (hardware row 25); that takes order, no fence.
    Agent agent = lanes.agent(lanes.leader(), View::Tensor);
    for (int lane = 0; lane < Cta::kTensorLanes; ++lane)
      lanes.cta.tensor->release(agent, (int64_t(lane) * Cta::kTensorColumns + it->first) * 4, int64_t(it->count) * 4);
    live.erase(it);
    lanes.cluster.changed();
    return;
  }
  report(address.lane ? ", whose address names lane " + std::to_string(address.lane) : ", which are not allocated");
}

} // namespace

Evaluator decodeAlloc(Decoder &decode) {
  OpcodeReader opcode(decode, 2);
  const int ctaGroup = opcode.ctaGroup();
  opcode.expect({"sync", "aligned"});
  const bool isShared = opcode.take("shared::cta");
  opcode.expect({"b32"});
  opcode.finish(2, 2);
  AddressSource address = decode.address(0);
  Source count = decode.source(1);
  decode.executedBy(Scope::Warp);
  return [=](Lanes &lanes) {
    const int leader = lanes.leader();
    const auto columns = static_cast<int64_t>(static_cast<uint32_t>(count(lanes, leader)));
    if (std::string message = refusal(lanes, columns); !message.empty()) {
      lanes.report(leader, FindingKind::TensorMemory, std::move(message));
      return Step::Done;
    }
    int first = 0;
    if (firstRankOf(lanes, ctaGroup) < 0)
      return Step::Done; // reported
    if (allocate(lanes, ctaGroup, columns, first) == Step::Blocked)
      return Step::Blocked;
    const auto word = static_cast<uint32_t>(first);
    if (isShared)
      lanes.storeShared(leader, static_cast<uint32_t>(address(lanes, leader)), sizeof word, &word);
    else
      lanes.storeGeneric(leader, address(lanes, leader), sizeof word, &word);
    return Step::Done;
  };
}

Evaluator decodeDealloc(Decoder &decode) {
  OpcodeReader opcode(decode, 2);
  opcode.ctaGroup();
  opcode.expect({"sync", "aligned", "b32"});
  opcode.finish(2, 2);
  Source address = decode.source(0), count = decode.source(1);
  decode.executedBy(Scope::Warp);
  return [=](Lanes &lanes) {
    const int leader = lanes.leader();
    deallocate(lanes, TensorAddress(static_cast<uint32_t>(address(lanes, leader))),
               static_cast<uint32_t>(count(lanes, leader)));
    return Step::Done;
  };
}

Evaluator decodeRelinquish(Decoder &decode) {
  OpcodeReader opcode(decode, 2);
  opcode.ctaGroup();
  opcode.expect({"sync", "aligned"});
  opcode.finish(0, 0);
  decode.executedBy(Scope::Warp);
  return [](Lanes &lanes) {
    lanes.cta.tensorAllocator.relinquished = true;
    return Step::Done;
  };
}

} // namespace headrace::sim::tcgen05
