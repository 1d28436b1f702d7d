// Checked tensor memory, and the issue of operations to the tensor core.
#include "TensorAccess.h"

#include "headrace/Sim/Machine/Hex.h"

#include <algorithm>

namespace headrace::sim::tcgen05 {

namespace {

/// The first of the columns that is in no allocation, or `first + count`.
int firstUnallocated(const TensorAllocator &allocator, int first, int count) {
  int column = first;
  for (bool advanced = true; advanced && column < first + count;) {
    advanced = false;
    for (const TensorColumns &columns : allocator.live)
      if (column >= columns.first && column < columns.first + columns.count) {
        column = columns.first + columns.count;
        advanced = true;
      }
  }
  return std::min(column, first + count);
}

} // namespace

bool TensorAccess::reaches(int first, int count) const {
  if (first + count > Cta::kTensorColumns) {
    ctx.report(FindingKind::OutOfBounds, std::string(agent.what) + " accesses tensor memory columns " +
                                             std::to_string(first) + " to " + std::to_string(first + count - 1) +
                                             ", there are " + std::to_string(Cta::kTensorColumns));
    return false;
  }
  int missing = firstUnallocated(cta.tensorAllocator, first, count);
  if (missing == first + count)
    return true;
  ctx.report(FindingKind::TensorMemory, std::string(agent.what) + " accesses tensor memory columns " +
                                            std::to_string(first) + " to " + std::to_string(first + count - 1) +
                                            " of CTA " + std::to_string(cta.index) + ", column " +
                                            std::to_string(missing) + " is not allocated");
  return false;
}

void TensorAccess::read(int lane, int column, int count, uint32_t *out) const {
  cta.tensor->read(agent, (int64_t(lane) * Cta::kTensorColumns + column) * 4, int64_t(count) * 4, out);
}

void TensorAccess::readAny(int lane, int column, int count, uint32_t *out, uint32_t *written) const {
  const int64_t offset = (int64_t(lane) * Cta::kTensorColumns + column) * 4;
  cta.tensor->readAny(agent, offset, int64_t(count) * 4, out);
  for (int i = 0; i < count; ++i)
    written[i] = cta.tensor->isWritten(offset + int64_t(i) * 4, 4) ? ~uint32_t(0) : 0;
}

void TensorAccess::write(int lane, int column, int count, const uint32_t *in) const {
  cta.tensor->write(agent, (int64_t(lane) * Cta::kTensorColumns + column) * 4, int64_t(count) * 4, in);
}

int singleIssuer(const Lanes &lanes) {
  if (int count = __builtin_popcount(lanes.mask); count != 1)
    lanes.report(lanes.leader(), FindingKind::Operand,
                 "expected one thread to issue this, got " + std::to_string(count) + " threads of the warp");
  return lanes.leader();
}

int firstRankOf(const Lanes &lanes, int ctaGroup) {
  const uint32_t rank = lanes.cta.rank;
  if (ctaGroup == 1)
    return static_cast<int>(rank);
  if ((rank | 1) < lanes.cluster.ctas.size())
    return static_cast<int>(rank & ~1u);
  lanes.report(lanes.leader(), FindingKind::Operand,
               "cta_group::2 needs a pair of CTAs, the cluster has " + std::to_string(lanes.cluster.ctas.size()));
  return -1;
}

uint32_t addressInCta(uint32_t rank, uint32_t offset) { return rank << 24 | offset; } // hardware.md, section 3

uint64_t tensorCoreOrder(const Lanes &lanes, int lane) {
  return (static_cast<uint64_t>(StreamKind::TensorCore) + 1) << 32 |
         lanes.cluster.componentOf(lanes.cta, lanes.thread(lane));
}

void issueToTensorCore(const Lanes &lanes, int lane, const char *what, std::string description,
                       std::function<void(AsyncContext &)> perform) {
  AsyncOp op;
  op.perform = std::move(perform);
  op.agent = lanes.agent(lane, View::Async);
  op.agent.what = what;
  op.description = std::move(description);
  op.order = tensorCoreOrder(lanes, lane);
  lanes.cluster.engine.issue(std::move(op), &lanes.stream(StreamKind::TensorCore, lanes.thread(lane)));
}

std::string hex(uint32_t value) { return hexText(value, 8); }

} // namespace headrace::sim::tcgen05
