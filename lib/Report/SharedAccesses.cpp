// Reads and writes of slots as the layouts predict them. Asynchronous accesses (TMA, wgmma, tcgen05) are by the canonical
// layouts and have no conflicts.
#include "SharedAccesses.h"
#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "headrace/Layout/Access.h"
#include <map>

using namespace mlir;
using namespace headrace;
namespace json = llvm::json;

/// The channel whose slot a buffer is; null if it is none of an acquire or a wait.
static pipe::CreateChannelOp channelOf(Value buffer) {
  Operation *op = buffer.getDefiningOp();
  if (auto view = dyn_cast_or_null<pipe::ViewOp>(op))
    op = view.getBuffer().getDefiningOp();
  return op ? pipe::getChannelOf(op) : pipe::CreateChannelOp();
}

json::Array headrace::reportSharedAccesses(func::FuncOp kernel, const TargetInfo &target) {
  std::map<std::string, json::Object> entries;
  auto add = [&](Value tile, Value buffer, bool isRead) {
    auto type = cast<pipe::BufferType>(buffer.getType());
    auto attr = dyn_cast_or_null<tile::LayoutAttr>(cast<RankedTensorType>(tile.getType()).getEncoding());
    pipe::CreateChannelOp channel = channelOf(buffer);
    if (!type.isShared() || !attr || !channel)
      return;
    TileLayout layout = attr.getTileLayout();
    SharedLayout shared = type.getSharedLayout();
    std::optional<MatrixPlan> plan;
    if (isRead || (target.has(Feature::Stmatrix) && layout.replicatedLaneBits().empty()))
      plan = planMatrixAccess(layout, shared);
    int64_t bytes = plan ? 16 : sharedVectorBytes(layout, shared);
    int64_t conflicts = plan ? matrixBankConflicts(*plan, layout, shared) : bankConflicts(layout, shared, bytes);
    StringRef direction = isRead ? "read" : "write";
    StringRef instruction = !plan ? "vector" : isRead ? "ldmatrix" : "stmatrix";
    json::Object entry{{"channel", channel.getName()},
                       {"direction", direction},
                       {"instruction", instruction},
                       {"bytes", bytes},
                       {"bank_conflicts", conflicts}};
    std::string key = (channel.getName() + " " + direction + " " + instruction).str() + std::to_string(bytes) + " " +
                      std::to_string(conflicts);
    entries.try_emplace(key, std::move(entry));
  };
  kernel.walk([&](Operation *op) {
    if (auto read = dyn_cast<pipe::ReadOp>(op))
      add(read.getResult(), read.getBuffer(), /*isRead=*/true);
    else if (auto write = dyn_cast<pipe::WriteOp>(op))
      add(write.getTile(), write.getBuffer(), /*isRead=*/false);
  });
  json::Array accesses;
  for (auto &entry : entries)
    accesses.push_back(std::move(entry.second));
  return accesses;
}
