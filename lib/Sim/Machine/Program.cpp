// A parsed kernel made ready to run: places for its variables, evaluators for its instructions.
#include "headrace/Sim/Machine/Program.h"

#include <algorithm>
#include <cstdlib>

namespace headrace::sim {

namespace {

constexpr int64_t kSystemShared = 1024;       // hardware.md 1.1: reserved per block, so addresses start here
constexpr int64_t kMaxLocal = 512 << 10;      // of a thread: CUDA C++ Programming Guide, "Technical Specifications"
constexpr int64_t kMaxStaticShared = 1 << 20; // more than any device has

int64_t alignedTo(int64_t value, int64_t alignment) {
  alignment = std::max<int64_t>(alignment, 1);
  return (value + alignment - 1) / alignment * alignment;
}

/// Registers of an operand, in order.
void collect(const ptx::Operand &operand, std::vector<ptx::RegId> &into) {
  if (operand.kind == ptx::Operand::Kind::Register || operand.kind == ptx::Operand::Kind::Predicate)
    into.push_back(operand.reg);
  for (const ptx::Operand &element : operand.elements)
    collect(element, into);
}

/// Opcode families whose first operand is read like the others.
bool readsFirstOperand(const std::string &family) {
  static const char *const families[] = {"st",
                                         "red",
                                         "bra",
                                         "brx",
                                         "bar",
                                         "barrier",
                                         "cp",
                                         "mbarrier",
                                         "stmatrix",
                                         "tcgen05",
                                         "prefetch",
                                         "prefetchu",
                                         "fence",
                                         "membar",
                                         "setmaxnreg",
                                         "trap",
                                         "exit",
                                         "ret",
                                         "nanosleep",
                                         "griddepcontrol",
                                         "wgmma",
                                         "discard",
                                         "applypriority",
                                         "clusterlaunchcontrol"};
  return std::any_of(std::begin(families), std::end(families), [&](const char *name) { return family == name; });
}

/// Fills in which registers an instruction reads, and which it only writes. An instruction of several roles
/// (mbarrier.try_wait writes its first operand, mbarrier.arrive its token) is told by the kind of its first operand.
void classify(const ptx::Instruction &instruction, Decoded &code) {
  bool first = true;
  for (const ptx::Operand &operand : instruction.operands) {
    bool plain = operand.kind == ptx::Operand::Kind::Register || operand.kind == ptx::Operand::Kind::Pair ||
                 operand.kind == ptx::Operand::Kind::Vector;
    const std::string &family = instruction.opcode.front();
    bool returns = !readsFirstOperand(family) || (family == "mbarrier" && plain) ||
                   (family == "tcgen05" && instruction.opcode.size() > 1 && instruction.opcode[1] == "ld") ||
                   (family == "clusterlaunchcontrol" && plain);
    collect(operand, first && plain && returns ? code.writes : code.reads);
    first = false;
  }
  if (instruction.guarded)
    code.reads.push_back(instruction.guard);
}

/// Global and constant variables lie below all arrays (GlobalMemory), apart from each other.
void placeGlobal(const ptx::Variable &variable, Program &program) {
  constexpr int64_t kFirst = 0x6000'0000'0000, kGap = 1 << 20, kAlignment = 256;
  int64_t end = kFirst;
  if (!program.globals.empty()) {
    const auto &[last, address] = program.globals.back();
    end = static_cast<int64_t>(address) + last->bytes + kGap;
  }
  uint64_t address = static_cast<uint64_t>(alignedTo(end, std::max(kAlignment, variable.align)));
  program.globals.push_back({&variable, address});
  program.symbols.places[variable.name] = {variable.space, false, address};
}

/// A thread's own variables. What it passes to functions has generic addresses from here on: loads and stores tell them
/// from the parameters of the kernel by that.
void placeLocal(const ptx::Variable &variable, Program &program) {
  uint64_t offset = static_cast<uint64_t>(alignedTo(program.localBytes, variable.align));
  program.localBytes = static_cast<int64_t>(offset) + variable.bytes;
  program.symbols.places[variable.name] = {variable.space, false,
                                           variable.space == ptx::Space::Param ? kLocalWindow | offset : offset};
}

/// Gives each variable its place. Result: the bytes of static shared memory, from Program::sharedBase on.
bool place(const std::vector<ptx::Variable> &variables, Program &program, std::string &error) {
  for (const ptx::Variable &variable : variables) {
    if (variable.space != ptx::Space::Shared && variable.isExternal) {
      error = "variable '" + variable.name + "' is external: only shared memory is given by the launch";
      return false;
    }
    if (variable.isExternal)
      continue;
    if (variable.space == ptx::Space::Global || variable.space == ptx::Space::Const) {
      placeGlobal(variable, program);
      continue;
    }
    if (variable.space != ptx::Space::Shared) {
      placeLocal(variable, program);
      continue;
    }
    int64_t offset = alignedTo(program.sharedBase + program.staticSharedBytes, variable.align);
    program.symbols.places[variable.name] = {ptx::Space::Shared, false, static_cast<uint64_t>(offset)};
    program.staticSharedBytes = offset + variable.bytes - program.sharedBase;
  }
  return true;
}

/// Dynamic shared memory begins after the static variables; all external arrays are it.
void placeDynamic(const std::vector<ptx::Variable> &variables, Program &program) {
  for (const ptx::Variable &variable : variables) {
    if (!variable.isExternal)
      continue;
    program.staticSharedBytes =
        alignedTo(program.sharedBase + program.staticSharedBytes, variable.align) - program.sharedBase;
    program.symbols.places[variable.name] = {ptx::Space::Shared, false,
                                             static_cast<uint64_t>(program.sharedBase + program.staticSharedBytes)};
  }
}

void placeParameters(Program &program) {
  for (const ptx::Parameter &parameter : program.function->parameters) {
    program.parameterBytes = alignedTo(program.parameterBytes, parameter.align);
    program.parameterOffsets.push_back(static_cast<uint64_t>(program.parameterBytes));
    program.symbols.places[parameter.name] = {ptx::Space::Const, true, static_cast<uint64_t>(program.parameterBytes)};
    program.parameterBytes += parameter.bytes;
  }
}

std::string decodeInstruction(const ptx::Instruction &instruction, Program &program) {
  Registry::Factory factory = Registry::all().find(instruction.opcode.front());
  if (!factory)
    return "instruction '" + instruction.spelling() + "' is not simulated";
  Decoder decoder(instruction, *program.function, program.symbols);
  Decoded code;
  code.run = factory(decoder);
  if (!decoder.failed() && !code.run)
    decoder.fail("is not simulated");
  if (decoder.failed())
    return "instruction '" + instruction.spelling() + "': " + decoder.error;
  code.scope = decoder.scope;
  code.touchesFlight = decoder.touchesFlight;
  code.readsUndefined = decoder.readsUndefined;
  classify(instruction, code);
  program.code.push_back(std::move(code));
  return "";
}

} // namespace

std::optional<Program> Program::decode(const ptx::Module &module, const std::string &kernel, std::string &error) {
  auto function = std::find_if(module.functions.begin(), module.functions.end(),
                               [&](const ptx::Function &f) { return f.isEntry && f.name == kernel; });
  if (function == module.functions.end()) {
    error = module.file + ": no kernel is named '" + kernel + "'";
    return std::nullopt;
  }
  Program program;
  program.module = &module;
  program.function = &*function;
  program.architecture = std::atoi(module.target.c_str() + std::min<size_t>(3, module.target.size()));
  program.sharedBase = kSystemShared;
  for (const ptx::ExternalFunction &external : module.externals)
    program.symbols.functions[external.name] = &external;
  if (!place(module.variables, program, error) || !place(function->variables, program, error))
    return std::nullopt;
  placeDynamic(module.variables, program);
  placeDynamic(function->variables, program);
  if (program.staticSharedBytes > kMaxStaticShared) {
    error = module.file + ": expected at most " + std::to_string(kMaxStaticShared) +
            " bytes of static shared memory in kernel '" + kernel + "', got " +
            std::to_string(program.staticSharedBytes);
    return std::nullopt;
  }
  if (program.localBytes > kMaxLocal) {
    error = module.file + ": expected at most " + std::to_string(kMaxLocal) + " bytes of local memory in kernel '" +
            kernel + "', got " + std::to_string(program.localBytes);
    return std::nullopt;
  }
  placeParameters(program);
  for (const ptx::Instruction &instruction : function->instructions) {
    std::string message = decodeInstruction(instruction, program);
    if (!message.empty()) {
      error = module.file + ":" + std::to_string(instruction.line) + ": " + message;
      return std::nullopt;
    }
  }
  return program;
}

} // namespace headrace::sim
