// Bulk copies, reductions and prefetches of a contiguous range: PTX ISA 9.7.9.25.4.
#include "Copies.h"
#include "Issue.h"

#include "headrace/Sim/Copies/TensorBox.h"

#include <utility>

namespace headrace::sim {

namespace {

using Kind = BulkOpcode::Kind;

class BulkCopy {
public:
  BulkCopy(Decoder &decode, const BulkOpcode &opcode);

  Step operator()(Lanes &lanes) const {
    lanes.forEach([&](int lane) {
      auto bytes = static_cast<uint32_t>(size(lanes, lane));
      checkOperands(lanes, lane, bytes);
      if (opcode.kind == Kind::Prefetch || !fitsShared(lanes, lane, bytes))
        return;
      if (opcode.kind == Kind::Store)
        issueStore(lanes, lane, bytes);
      else
        issueToShared(lanes, lane, bytes);
    });
    return Step::Done;
  }

private:
  void checkOperands(const Lanes &lanes, int lane, int64_t bytes) const;
  void issueToShared(const Lanes &lanes, int lane, int64_t bytes) const;
  void issueStore(const Lanes &lanes, int lane, int64_t bytes) const;

  BulkOpcode opcode;
  AddressSource to, from, mbarrier;
  Source size;
  Source mask; // of a multicast; bytes of .cp_mask
};

/// [to,] [from], size {, [mbarrier]} {, multicast mask} {, policy} {, byte mask}
BulkCopy::BulkCopy(Decoder &decode, const BulkOpcode &opcode) : opcode(opcode) {
  size_t next = 0;
  if (opcode.kind != Kind::Prefetch)
    to = decode.address(next++);
  from = decode.address(next++);
  size = decode.source(next++);
  if (opcode.kind == Kind::Load || opcode.kind == Kind::Peer)
    mbarrier = decode.address(next++);
  if (opcode.multicast)
    mask = decode.source(next++);
  if (opcode.cacheHint)
    decode.source(next++);
  if (opcode.byteMask)
    mask = decode.source(next++);
  if (decode.numOperands() != next)
    decode.fail("expected " + std::to_string(next) + " operands, got " + std::to_string(decode.numOperands()));
}

void BulkCopy::checkOperands(const Lanes &lanes, int lane, int64_t bytes) const {
  if (opcode.kind != Kind::Prefetch)
    checkAlignment(lanes, lane, "destination", to(lanes, lane), kCopyUnit);
  checkAlignment(lanes, lane, "source", from(lanes, lane), kCopyUnit);
  if (bytes % kCopyUnit)
    lanes.report(lane, FindingKind::Operand,
                 "expected a size that is a multiple of 16 bytes, got " + std::to_string(bytes));
}

void BulkCopy::issueToShared(const Lanes &lanes, int lane, int64_t bytes) const {
  uint64_t source = from(lanes, lane);
  auto local = static_cast<uint32_t>(source);
  bool fromGlobal = opcode.kind == Kind::Load;
  if (!fromGlobal && !isOwnShared(lanes, lane, "source", local))
    return;
  MbarrierCopy copy;
  copy.what = fromGlobal ? "bulk load" : opcode.reduction ? "bulk reduction" : "bulk copy";
  copy.bytes = bytes;
  copy.destinations = findDestinations(lanes, lane, opcode, static_cast<uint32_t>(to(lanes, lane)),
                                       static_cast<uint32_t>(mbarrier(lanes, lane)),
                                       opcode.multicast ? static_cast<uint16_t>(mask(lanes, lane)) : uint16_t(0));
  if (copy.destinations.empty())
    return;
  copy.read = [=](AsyncContext &ctx) {
    std::vector<uint8_t> data(static_cast<size_t>(bytes));
    if (fromGlobal)
      ctx.readGlobal(source, bytes, data.data());
    else
      ctx.readShared(local, bytes, data.data());
    return data;
  };
  copy.write = [bytes](AsyncContext &ctx, uint32_t address, const std::vector<uint8_t> &data) {
    ctx.writeShared(address, bytes, data.data());
  };
  if (opcode.reduction) {
    copy.isAtomic = true;
    Reduction reduction{*opcode.reduction, opcode.type};
    int64_t elements = bytes - bytes % bytesOf(opcode.type);
    copy.write = [=](AsyncContext &ctx, uint32_t address, const std::vector<uint8_t> &data) {
      std::vector<uint8_t> into(data.size());
      ctx.readShared(address, elements, into.data());
      reduce(reduction, data.data(), into.data(), elements);
      ctx.writeShared(address, elements, into.data());
    };
  }
  issueOntoMbarriers(lanes, lane, std::move(copy));
}

void BulkCopy::issueStore(const Lanes &lanes, int lane, int64_t bytes) const {
  auto source = static_cast<uint32_t>(from(lanes, lane));
  uint64_t destination = to(lanes, lane);
  if (!isOwnShared(lanes, lane, "source", source))
    return;
  if (opcode.byteMask) {
    auto kept = static_cast<uint16_t>(mask(lanes, lane));
    return issueIntoBulkGroup(lanes, lane, "bulk store", bytes, [=](AsyncContext &ctx) {
      for (uint32_t at = 0; at < bytes; ++at) {
        if (!(kept >> at % kCopyUnit & 1))
          continue;
        uint8_t value = 0;
        ctx.readShared(source + at, 1, &value);
        ctx.writeGlobal(destination + at, 1, &value);
      }
    });
  }
  const char *what = opcode.reduction ? "bulk reduction" : "bulk store";
  issueIntoBulkGroup(lanes, lane, what, bytes, [=, op = opcode.reduction, type = opcode.type](AsyncContext &ctx) {
    std::vector<uint8_t> data(static_cast<size_t>(bytes));
    ctx.readShared(source, bytes, data.data());
    if (op)
      reduceGlobal(ctx, destination, bytes - bytes % bytesOf(type), data.data(), {*op, type});
    else
      ctx.writeGlobal(destination, bytes, data.data());
  });
}

} // namespace

Evaluator makeBulkCopy(Decoder &decode, const BulkOpcode &opcode) { return BulkCopy(decode, opcode); }

} // namespace headrace::sim
