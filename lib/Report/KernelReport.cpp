// What was chosen for a kernel, read off its function at the pipe level.
#include "headrace/Report/KernelReport.h"
#include "SharedAccesses.h"
#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "headrace/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "headrace/Dialect/Tile/Transforms/Plan.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace mlir;
using namespace headrace;
namespace json = llvm::json;

static std::string why(Operation *op) {
  auto attr = op->getAttrOfType<StringAttr>(tile::kWhyAttr);
  return attr ? attr.str() : "";
}

static json::Array reportChannels(const pipe::MemoryPlan &plan) {
  json::Array channels;
  for (const pipe::ChannelPlacement &placement : plan.channels) {
    pipe::CreateChannelOp channel = placement.channel;
    pipe::ChannelType type = channel.getChannel().getType();
    bool shared = type.getBuffers().front().isShared();
    channels.push_back(json::Object{{"name", channel.getName()},
                                    {"sync", pipe::stringifySync(channel.getSync())},
                                    {"memory", shared ? "shared" : "tensor"},
                                    {"slots", type.getDepth()},
                                    {shared ? "slot_bytes" : "slot_columns", channel.getSlotPitch()}});
  }
  return channels;
}

/// One entry for each way in which an array moves; copies of one array that move alike count once.
static json::Array reportCopies(func::FuncOp kernel) {
  std::map<std::string, json::Object> entries;
  auto add = [&](Operation *op, Value array, StringRef direction, StringRef mechanism, int64_t bytes) {
    auto argument = dyn_cast<BlockArgument>(array);
    auto given = argument ? kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name") : StringAttr();
    std::string name = given ? given.str() : argument ? "arg" + std::to_string(argument.getArgNumber()) : "?";
    json::Object entry{
        {"array", name}, {"direction", direction}, {"mechanism", mechanism}, {"bytes_per_instruction", bytes}};
    if (std::string reason = why(op); !reason.empty())
      entry["why_not_faster"] = reason;
    entries.try_emplace((name + " " + direction + " " + mechanism).str(), std::move(entry));
  };
  kernel.walk([&](Operation *op) {
    if (auto copy = dyn_cast<pipe::CopyOp>(op))
      add(op, copy.getArray(), "load", tile::stringifyMechanism(copy.getMechanism()),
          copy.getVector() ? *copy.getVector() : copy.getBuffer().getType().getSharedBytes());
    else if (auto store = dyn_cast<pipe::AsyncStoreOp>(op))
      add(op, store.getArray(), "store", "tma", store.getBuffer().getType().getSharedBytes());
    else if (auto load = dyn_cast<pipe::LoadOp>(op))
      add(op, load.getArray(), "load", "registers", load.getVector().value_or(0));
    else if (auto store = dyn_cast<pipe::StoreOp>(op))
      add(op, store.getArray(), "store", "registers", store.getVector().value_or(0));
  });
  json::Array copies;
  for (auto &entry : entries)
    copies.push_back(std::move(entry.second));
  return copies;
}

static json::Array reportMatmuls(func::FuncOp kernel) {
  json::Array matmuls;
  kernel.walk([&](Operation *op) {
    if (!isa<pipe::MmaOp, pipe::MmaAsyncOp, pipe::MmaTmemOp>(op))
      return;
    auto atom = op->getAttrOfType<tile::AtomAttr>("atom");
    json::Object entry{{"family", tile::stringifyFamily(atom.getFamily())},
                       {"atom", json::Array{atom.getM(), atom.getN(), atom.getK()}},
                       {"groups", json::Array{atom.getGroupsM(), atom.getGroupsN()}}};
    if (std::string reason = why(op); !reason.empty())
      entry["why_not_faster"] = reason;
    matmuls.push_back(std::move(entry));
  });
  return matmuls;
}

static json::Array reportRoles(func::FuncOp kernel) {
  json::Array roles;
  kernel.walk([&](pipe::RolesOp op) {
    for (size_t i = 0; i < op.getBodies().size(); ++i)
      roles.push_back(json::Object{{"name", cast<StringAttr>(op.getNames()[i]).getValue()},
                                   {"warps", op.getWarps()[i]},
                                   {"registers", op.getRegisters()[i]}});
  });
  if (roles.empty())
    roles.push_back(json::Object{{"name", "kernel"},
                                 {"warps", pipe::getRole(kernel.getBody().front().getTerminator()).warps},
                                 {"registers", 0}});
  return roles;
}

/// What asserts and prints cost the kernel, or lose in it; nothing without them.
static json::Array reportMessages(func::FuncOp kernel) {
  bool checks = false, prints = false;
  kernel.walk([&](Operation *op) {
    checks |= isa<tile::AssertOp>(op);
    prints |= isa<tile::PrintOp>(op);
  });
  json::Array notes;
  if (!pipe::usesWgmma(kernel))
    return notes;
  if (checks && !prints)
    notes.push_back(
        "a failed assert stops the kernel without its message, by a trap: a call would make ptxas take wgmma one "
        "by one (C7510); the launch record lists the asserts");
  if (prints)
    notes.push_back(
        "it prints: ptxas takes wgmma one by one in kernels that call functions (C7510), so it is slow while "
        "it does");
  return notes;
}

json::Object headrace::reportKernel(func::FuncOp kernel, const TargetInfo &target, json::Array loops) {
  pipe::MemoryPlan plan = pipe::planMemory(kernel);
  json::Object report{{"kernel", kernel.getSymName()},
                      {"target", target.name},
                      {"shared_bytes", plan.sharedBytes},
                      {"shared_limit", pipe::getSharedLimit(kernel, target)},
                      {"tmem_columns", plan.tmemColumns},
                      {"loops", std::move(loops)},
                      {"channels", reportChannels(plan)},
                      {"copies", reportCopies(kernel)},
                      {"shared_accesses", reportSharedAccesses(kernel, target)},
                      {"matmuls", reportMatmuls(kernel)},
                      {"roles", reportRoles(kernel)}};
  if (json::Array messages = reportMessages(kernel); !messages.empty())
    report["messages"] = std::move(messages);
  return report;
}

void headrace::addPtxasReport(json::Object &report, const PtxasResult &result) {
  json::Array notes;
  for (const PtxasNote &note : result.performance)
    notes.push_back(json::Object{{"code", note.code}, {"text", note.text}});
  report["ptxas"] = json::Object{{"registers", result.registers},
                                 {"spill_bytes", result.spillStores + result.spillLoads},
                                 {"stack_bytes", result.stackBytes},
                                 {"notes", std::move(notes)}};
}

//===- text ---------------------------------------------------------------------------------------------------------===//

/// A JSON scalar as text without quotes.
static std::string scalar(const json::Value *value) {
  if (!value)
    return "-";
  if (std::optional<StringRef> text = value->getAsString())
    return text->str();
  if (std::optional<int64_t> number = value->getAsInteger())
    return std::to_string(*number);
  if (std::optional<double> number = value->getAsNumber())
    return llvm::formatv("{0:f1}", *number);
  return llvm::formatv("{0}", *value);
}

static void formatRows(std::string &text, const json::Object &report, StringRef list,
                       llvm::function_ref<std::string(const json::Object &)> row) {
  const json::Array *entries = report.getArray(list);
  if (!entries)
    return;
  for (const json::Value &entry : *entries) {
    text += "  " + row(*entry.getAsObject()) + "\n";
    if (const json::Value *reason = entry.getAsObject()->get("why_not_faster"))
      text += "    not faster: " + scalar(reason) + "\n";
  }
}

/// "3 stages, 1080 cycles a trip (one stage 2120, bound 1024 by matmul), 170 of 240 registers; next trip: ..."
static std::string formatSchedule(const json::Object &schedule) {
  bool several = schedule.getInteger("stages") > 1;
  std::string text = several ? scalar(schedule.get("stages")) + " stages" : "one stage";
  if (schedule.get("ii")) {
    text += llvm::formatv(", {0} cycles a trip (", scalar(schedule.get("ii")));
    if (several)
      text += llvm::formatv("one stage {0}, ", scalar(schedule.get("ii_one_stage")));
    text += llvm::formatv("bound {0} by {1}), {2} of {3} registers", scalar(schedule.get("bound")),
                          scalar(schedule.get("binds")), scalar(schedule.get("registers")),
                          scalar(schedule.get("register_budget")));
  }
  if (const json::Array *list = schedule.getArray("next_trip"); list && !list->empty()) {
    text += "; a trip later: ";
    llvm::interleave(*list, [&](const json::Value &cut) { text += scalar(&cut); }, [&] { text += ", "; });
  }
  if (const json::Value *why = schedule.get("why_one_stage"))
    text += "; " + scalar(why);
  if (const json::Value *ii = schedule.get("not_fitting_ii"))
    text += llvm::formatv("; {0} cycles would take {1} registers", scalar(ii),
                          scalar(schedule.get("not_fitting_registers")));
  return text;
}

std::string headrace::formatReport(const json::Object &report) {
  std::string text = llvm::formatv("{0} for {1}\n", scalar(report.get("kernel")), scalar(report.get("target")));
  text +=
      llvm::formatv("  shared memory {0} of {1} bytes, tensor memory {2} columns\n", scalar(report.get("shared_bytes")),
                    scalar(report.get("shared_limit")), scalar(report.get("tmem_columns")));
  formatRows(text, report, "roles", [](const json::Object &role) -> std::string {
    return llvm::formatv("role {0}: {1} warps{2}", scalar(role.get("name")), scalar(role.get("warps")),
                         role.getInteger("registers") != 0 ? ", " + scalar(role.get("registers")) + " registers" : "");
  });
  formatRows(text, report, "loops", [](const json::Object &loop) -> std::string {
    const json::Object &cycles = *loop.getObject("cycles");
    std::string row =
        llvm::formatv("loop at line {0}: {1} stages; a trip is bound by {2} at {3} cycles (matmul {4}, copy {5}, "
                      "shared memory {6})",
                      scalar(loop.get("line")), scalar(loop.get("stages")), scalar(loop.get("bound_by")),
                      scalar(loop.get("ii_bound")), scalar(cycles.get("matmul")), scalar(cycles.get("copy")),
                      scalar(cycles.get("shared")));
    if (const json::Value *reason = loop.get("not_pipelined"))
      row += "; not pipelined: " + scalar(reason);
    if (const json::Object *schedule = loop.getObject("schedule"))
      row += "\n    schedule: " + formatSchedule(*schedule);
    return row;
  });
  formatRows(text, report, "channels", [](const json::Object &channel) -> std::string {
    bool shared = channel.get("slot_bytes");
    return llvm::formatv("channel {0} ({1}): {2} x {3} {4}", scalar(channel.get("name")), scalar(channel.get("sync")),
                         scalar(channel.get("slots")), scalar(channel.get(shared ? "slot_bytes" : "slot_columns")),
                         shared ? "bytes" : "columns");
  });
  formatRows(text, report, "copies", [](const json::Object &copy) -> std::string {
    return llvm::formatv("{0} of {1}: {2}, {3} bytes an instruction", scalar(copy.get("direction")),
                         scalar(copy.get("array")), scalar(copy.get("mechanism")),
                         scalar(copy.get("bytes_per_instruction")));
  });
  formatRows(text, report, "shared_accesses", [](const json::Object &access) -> std::string {
    return llvm::formatv("{0} of {1}: {2}, {3} bytes a thread, {4} bank conflicts", scalar(access.get("direction")),
                         scalar(access.get("channel")), scalar(access.get("instruction")), scalar(access.get("bytes")),
                         scalar(access.get("bank_conflicts")));
  });
  formatRows(text, report, "matmuls", [](const json::Object &matmul) -> std::string {
    const json::Array &atom = *matmul.getArray("atom");
    return llvm::formatv("matmul: {0} {1}x{2}x{3}", scalar(matmul.get("family")), scalar(&atom[0]), scalar(&atom[1]),
                         scalar(&atom[2]));
  });
  if (const json::Array *messages = report.getArray("messages"))
    for (const json::Value &message : *messages)
      text += "  note: " + scalar(&message) + "\n";
  if (const json::Object *ptxas = report.getObject("ptxas"))
    text += llvm::formatv("  ptxas: {0} registers, {1} spill bytes\n", scalar(ptxas->get("registers")),
                          scalar(ptxas->get("spill_bytes")));
  return text;
}
