// The bound of each pipelined loop: cycles that one trip keeps every unit of a multiprocessor busy.
#include "headrace/Dialect/Pipe/Transforms/OpCosts.h"
#include "headrace/Dialect/Pipe/Transforms/Schedules.h"
#include "headrace/Report/KernelReport.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace headrace;
namespace json = llvm::json;

static UnitCycles countTrip(scf::ForOp loop, const UnitModel &model) {
  UnitCycles cycles;
  loop.getBody()->walk([&](Operation *op) {
    if (isa<tile::ReduceOp, tile::ScanOp>(op->getParentOp()))
      return; // counted with the op
    cycles += pipe::costOf(op, model);
  });
  return cycles;
}

json::Array headrace::reportLoops(func::FuncOp kernel, const TargetInfo &target) {
  json::Array loops;
  const UnitModel &model = getUnitModel(target);
  kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    auto pipeline = loop->getAttrOfType<tile::PipelineAttr>(pipe::kPipelineAttr);
    if (!pipeline)
      return;
    int64_t depth = 0;
    json::Array channels;
    for (auto wait : loop.getBody()->getOps<pipe::ConsumerWaitOp>()) {
      depth = std::max(depth, wait.getChannel().getType().getDepth());
      channels.push_back(pipe::getChannelOf(wait).getName());
    }
    UnitCycles cycles = countTrip(loop, model);
    Unit binds = cycles.busiest();
    json::Object entry{{"asked_stages", pipeline.getStages()},
                       {"stages", std::max<int64_t>(depth, 1)},
                       {"channels", std::move(channels)},
                       {"cycles", json::Object{{"matmul", cycles[Unit::Tensor]},
                                               {"copy", cycles[Unit::Copy]},
                                               {"shared", cycles[Unit::Shared]},
                                               {"special", cycles[Unit::Special]},
                                               {"alu", cycles[Unit::Alu]}}},
                       {"ii_bound", cycles[binds]},
                       {"bound_by", unitName(binds)}};
    if (auto loc = dyn_cast<FileLineColLoc>(loop.getLoc()))
      entry["line"] = int64_t(loc.getLine());
    if (depth <= 1)
      entry["not_pipelined"] = depth == 0 ? "no load in it goes through shared memory"
                               : pipeline.getStages() >= 0 && pipeline.getStages() <= 1
                                   ? "stages = 1 was asked for"
                                   : "shared memory has room for one stage only";
    loops.push_back(std::move(entry));
  });
  return loops;
}

void headrace::addSchedules(json::Array &loops, func::FuncOp kernel) {
  auto schedules = kernel->getAttrOfType<ArrayAttr>(pipe::kSchedulesAttr);
  if (!schedules)
    return;
  for (auto [loop, schedule] : llvm::zip(loops, schedules.getAsRange<DictionaryAttr>())) {
    json::Object entry;
    for (NamedAttribute fact : schedule) {
      StringRef name = fact.getName().getValue();
      if (auto number = dyn_cast<IntegerAttr>(fact.getValue()))
        entry[name] = number.getInt();
      else if (auto text = dyn_cast<StringAttr>(fact.getValue()))
        entry[name] = text.str();
      else if (auto list = dyn_cast<ArrayAttr>(fact.getValue()))
        entry[name] =
            json::Array(llvm::map_range(list.getAsValueRange<StringAttr>(), [](StringRef s) { return s.str(); }));
    }
    (*loop.getAsObject())["schedule"] = std::move(entry);
  }
}
