// Names for places and warps, read off channels and roles.
#include "MemoryNames.h"
#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;
namespace json = llvm::json;

namespace {
struct NamedRange {
  int64_t offset;
  int64_t bytes;
  std::string name;
};
} // namespace

static constexpr int64_t kBarrierBytes = 8; // PTX ISA 9.7.13.15.1

static void addSlots(CreateChannelOp channel, SmallVectorImpl<NamedRange> &ranges) {
  ChannelType type = channel.getChannel().getType();
  for (int64_t slot = 0; slot < type.getDepth(); ++slot)
    for (auto [i, buffer] : llvm::enumerate(type.getBuffers()))
      if (buffer.isShared() && channel.getOffset())
        ranges.push_back({int64_t(*channel.getOffset() + slot * channel.getSlotPitch() + channel.getBufferOffset(i)),
                          buffer.getSharedBytes(),
                          type.getBuffers().size() == 1
                              ? llvm::formatv("slot {0} of '{1}'", slot, channel.getName()).str()
                              : llvm::formatv("slot {0} of '{1}', tile {2}", slot, channel.getName(), i).str()});
}

static void addBarriers(CreateChannelOp channel, SmallVectorImpl<NamedRange> &ranges) {
  if (!channel.getBarrierOffset())
    return;
  int64_t depth = channel.getChannel().getType().getDepth();
  for (int64_t i = 0; i < 2 * depth; ++i)
    ranges.push_back(
        {int64_t(*channel.getBarrierOffset() + i * kBarrierBytes), kBarrierBytes,
         llvm::formatv("{0} of '{1}', slot {2}", i < depth ? "full" : "empty", channel.getName(), i % depth)});
}

json::Array headrace::memoryNames(func::FuncOp kernel) {
  SmallVector<NamedRange> ranges;
  kernel.walk([&](CreateChannelOp channel) {
    addSlots(channel, ranges);
    addBarriers(channel, ranges);
  });
  llvm::stable_sort(ranges, [](const NamedRange &a, const NamedRange &b) { return a.offset < b.offset; });
  json::Array result;
  for (const NamedRange &range : ranges)
    result.push_back(json::Object{{"name", range.name}, {"offset", range.offset}, {"bytes", range.bytes}});
  return result;
}

json::Array headrace::roleNames(func::FuncOp kernel) {
  json::Array result;
  kernel.walk([&](RolesOp roles) {
    int64_t first = 0;
    for (auto [name, warps] : llvm::zip(roles.getNames().getAsValueRange<StringAttr>(), roles.getWarps())) {
      result.push_back(json::Object{{"name", name.str()}, {"first_warp", first}});
      first += warps;
    }
  });
  return result;
}
