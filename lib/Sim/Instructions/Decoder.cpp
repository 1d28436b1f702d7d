// Operands and opcodes as evaluators ask for them.
#include "headrace/Sim/Instructions/Decoder.h"

#include "headrace/Sim/Machine/Program.h"

#include <algorithm>
#include <cctype>

namespace headrace::sim {

namespace {

/// Special registers (PTX ISA chapter 10), numbered for Source.
enum class Special : uint64_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  SmId,
  NsmId,
  Clock,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NclusterIdX,
  NclusterIdY,
  NclusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtaRank,
  ClusterNctaRank,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  DynamicSmemSize,
  TotalSmemSize,
};

const std::map<std::string, Special> &specials() {
  static const std::map<std::string, Special> table = {
      {"%tid.x", Special::TidX},
      {"%tid.y", Special::TidY},
      {"%tid.z", Special::TidZ},
      {"%ntid.x", Special::NtidX},
      {"%ntid.y", Special::NtidY},
      {"%ntid.z", Special::NtidZ},
      {"%ctaid.x", Special::CtaidX},
      {"%ctaid.y", Special::CtaidY},
      {"%ctaid.z", Special::CtaidZ},
      {"%nctaid.x", Special::NctaidX},
      {"%nctaid.y", Special::NctaidY},
      {"%nctaid.z", Special::NctaidZ},
      {"%laneid", Special::LaneId},
      {"%warpid", Special::WarpId},
      {"%nwarpid", Special::NwarpId},
      {"%smid", Special::SmId},
      {"%nsmid", Special::NsmId},
      {"%clock", Special::Clock},
      {"%clock64", Special::Clock},
      {"%clock_hi", Special::Clock},
      {"%globaltimer", Special::Clock},
      {"%globaltimer_lo", Special::Clock},
      {"%clusterid.x", Special::ClusterIdX},
      {"%clusterid.y", Special::ClusterIdY},
      {"%clusterid.z", Special::ClusterIdZ},
      {"%nclusterid.x", Special::NclusterIdX},
      {"%nclusterid.y", Special::NclusterIdY},
      {"%nclusterid.z", Special::NclusterIdZ},
      {"%cluster_ctaid.x", Special::ClusterCtaidX},
      {"%cluster_ctaid.y", Special::ClusterCtaidY},
      {"%cluster_ctaid.z", Special::ClusterCtaidZ},
      {"%cluster_nctaid.x", Special::ClusterNctaidX},
      {"%cluster_nctaid.y", Special::ClusterNctaidY},
      {"%cluster_nctaid.z", Special::ClusterNctaidZ},
      {"%cluster_ctarank", Special::ClusterCtaRank},
      {"%cluster_nctarank", Special::ClusterNctaRank},
      {"%lanemask_eq", Special::LanemaskEq},
      {"%lanemask_le", Special::LanemaskLe},
      {"%lanemask_lt", Special::LanemaskLt},
      {"%lanemask_ge", Special::LanemaskGe},
      {"%lanemask_gt", Special::LanemaskGt},
      {"%dynamic_smem_size", Special::DynamicSmemSize},
      {"%total_smem_size", Special::TotalSmemSize},
  };
  return table;
}

uint64_t specialValue(Special special, const Lanes &lanes, int lane) {
  const Launch &launch = lanes.cluster.launch;
  const Cta &cta = lanes.cta;
  uint32_t thread = static_cast<uint32_t>(lanes.thread(lane));
  auto axis = [&](Special first) { return static_cast<size_t>(special) - static_cast<size_t>(first); };
  uint32_t warps = static_cast<uint32_t>(cta.warps.size());
  uint32_t eq = 1u << lane;
  switch (special) {
  case Special::TidX:
    return thread % launch.block[0];
  case Special::TidY:
    return thread / launch.block[0] % launch.block[1];
  case Special::TidZ:
    return thread / launch.block[0] / launch.block[1];
  case Special::NtidX:
  case Special::NtidY:
  case Special::NtidZ:
    return launch.block[axis(Special::NtidX)];
  case Special::CtaidX:
  case Special::CtaidY:
  case Special::CtaidZ:
    return cta.coordinates[axis(Special::CtaidX)];
  case Special::NctaidX:
  case Special::NctaidY:
  case Special::NctaidZ:
    return launch.grid[axis(Special::NctaidX)];
  case Special::LaneId:
    return static_cast<uint64_t>(lane);
  case Special::WarpId:
    return static_cast<uint64_t>(lanes.warp.index);
  case Special::NwarpId:
    return warps;
  case Special::SmId:
    return static_cast<uint64_t>(cta.index);
  case Special::NsmId:
    return launch.grid[0] * launch.grid[1] * launch.grid[2];
  case Special::Clock:
    return lanes.state(lane).step; // grows, as a clock must
  case Special::ClusterIdX:
  case Special::ClusterIdY:
  case Special::ClusterIdZ: {
    size_t i = axis(Special::ClusterIdX);
    return cta.coordinates[i] / launch.cluster[i];
  }
  case Special::NclusterIdX:
  case Special::NclusterIdY:
  case Special::NclusterIdZ: {
    size_t i = axis(Special::NclusterIdX);
    return launch.grid[i] / launch.cluster[i];
  }
  case Special::ClusterCtaidX:
  case Special::ClusterCtaidY:
  case Special::ClusterCtaidZ: {
    size_t i = axis(Special::ClusterCtaidX);
    return cta.coordinates[i] % launch.cluster[i];
  }
  case Special::ClusterNctaidX:
  case Special::ClusterNctaidY:
  case Special::ClusterNctaidZ:
    return launch.cluster[axis(Special::ClusterNctaidX)];
  case Special::ClusterCtaRank:
    return cta.rank;
  case Special::ClusterNctaRank:
    return lanes.cluster.ctas.size();
  case Special::LanemaskEq:
    return eq;
  case Special::LanemaskLe:
    return eq | (eq - 1);
  case Special::LanemaskLt:
    return eq - 1;
  case Special::LanemaskGe:
    return ~(eq - 1);
  case Special::LanemaskGt:
    return ~(eq - 1) & ~eq;
  case Special::DynamicSmemSize:
    return static_cast<uint64_t>(launch.sharedBytes);
  case Special::TotalSmemSize:
    return static_cast<uint64_t>(launch.sharedBytes + lanes.cluster.program.staticSharedBytes);
  }
  return 0;
}

const ptx::Operand kNoOperand;
const std::vector<ptx::Operand> kNoOperands;

} // namespace

uint64_t Source::other(const Lanes &lanes, int lane) const {
  switch (kind) {
  case Kind::Predicate:
    return (lanes.warp.cells(reg)[lane] & 1) ^ static_cast<uint64_t>(negated);
  case Kind::Shared: // an address in the executing CTA's own memory carries its rank: hardware.md section 3
    return bits | static_cast<uint64_t>(lanes.cta.rank) << 24;
  case Kind::Special:
    return specialValue(static_cast<Special>(bits), lanes, lane);
  default:
    return bits;
  }
}

uint64_t Source::high(const Lanes &lanes, int lane) const {
  return kind == Kind::Register ? lanes.warp.highCells(reg)[lane] : 0;
}

void Dest::setHigh(Lanes &lanes, int lane, uint64_t value) const {
  if (!sink)
    lanes.warp.highCells(reg)[lane] = value;
}

std::string_view Decoder::part(size_t index) const {
  return index < numParts() ? std::string_view(instruction.opcode[index]) : std::string_view();
}

bool Decoder::has(std::string_view part) const {
  return std::find(instruction.opcode.begin(), instruction.opcode.end(), part) != instruction.opcode.end();
}

int Decoder::bits() {
  std::string_view type = lastPart();
  if (type == "pred")
    return 1;
  int width = 0;
  for (size_t i = 1; i < type.size() && std::isdigit(static_cast<unsigned char>(type[i])); ++i)
    width = width * 10 + (type[i] - '0');
  if (width == 0 || type.empty() || std::string_view("usbf").find(type[0]) == std::string_view::npos)
    fail("expected a type at the end of the opcode, got '" + std::string(type) + "'");
  return width;
}

void Decoder::fail(std::string message) {
  if (error.empty())
    error = std::move(message);
}

Source Decoder::source(size_t index) {
  if (index >= numOperands()) {
    fail("expected an operand " + std::to_string(index + 1) + ", got " + std::to_string(numOperands()) + " operands");
    return source(kNoOperand);
  }
  return source(instruction.operands[index]);
}

Source Decoder::source(const ptx::Operand &operand) {
  Source result;
  switch (operand.kind) {
  case ptx::Operand::Kind::Register:
    result.kind = Source::Kind::Register;
    result.reg = operand.reg;
    break;
  case ptx::Operand::Kind::Predicate:
    result.kind = Source::Kind::Predicate;
    result.reg = operand.reg;
    result.negated = operand.negated;
    break;
  case ptx::Operand::Kind::Integer:
  case ptx::Operand::Kind::Float:
    result.bits = operand.bits;
    break;
  case ptx::Operand::Kind::Symbol: {
    auto it = symbols.places.find(operand.name);
    if (it == symbols.places.end()) {
      fail("nothing is named '" + operand.name + "'");
      break;
    }
    bool shared = !it->second.isParameter && it->second.space == ptx::Space::Shared;
    result.kind = shared ? Source::Kind::Shared : Source::Kind::Constant;
    result.bits = it->second.offset + static_cast<uint64_t>(operand.offset);
    break;
  }
  case ptx::Operand::Kind::Special: {
    auto it = specials().find(operand.name);
    if (it == specials().end()) {
      fail("special register '" + operand.name + "' is not simulated");
      break;
    }
    result.kind = Source::Kind::Special;
    result.bits = static_cast<uint64_t>(it->second);
    break;
  }
  case ptx::Operand::Kind::Sink:
    break;
  default:
    fail("expected a register or a constant as operand");
  }
  return result;
}

Dest Decoder::dest(size_t index) {
  if (index >= numOperands()) {
    fail("expected an operand " + std::to_string(index + 1) + ", got " + std::to_string(numOperands()) + " operands");
    return dest(kNoOperand);
  }
  return dest(instruction.operands[index]);
}

Dest Decoder::dest(const ptx::Operand &operand) {
  Dest result;
  if (operand.kind == ptx::Operand::Kind::Sink) {
    result.sink = true;
  } else if (operand.kind == ptx::Operand::Kind::Register) {
    result.reg = operand.reg;
    result.width = function.registers[operand.reg].bits;
    result.mask = result.width >= 64 ? ~uint64_t(0) : (uint64_t(1) << result.width) - 1;
  } else {
    fail("expected a register as destination");
    result.sink = true;
  }
  return result;
}

std::vector<Source> Decoder::sources(size_t index) {
  std::vector<Source> result;
  if (index < numOperands() && instruction.operands[index].kind == ptx::Operand::Kind::Vector)
    for (const ptx::Operand &element : instruction.operands[index].elements)
      result.push_back(source(element));
  else
    result.push_back(source(index));
  return result;
}

std::vector<Dest> Decoder::dests(size_t index) {
  std::vector<Dest> result;
  if (index < numOperands() && instruction.operands[index].kind == ptx::Operand::Kind::Vector)
    for (const ptx::Operand &element : instruction.operands[index].elements)
      result.push_back(dest(element));
  else
    result.push_back(dest(index));
  return result;
}

AddressSource Decoder::address(size_t index) {
  AddressSource result;
  if (index >= numOperands() || instruction.operands[index].kind != ptx::Operand::Kind::Address ||
      instruction.operands[index].elements.empty()) {
    fail("expected an address as operand " + std::to_string(index + 1));
    return result;
  }
  result.base = source(instruction.operands[index].elements.front());
  result.offset = instruction.operands[index].offset;
  return result;
}

const std::vector<ptx::Operand> &Decoder::insideAddress(size_t index) {
  if (index < numOperands() && instruction.operands[index].kind == ptx::Operand::Kind::Address)
    return instruction.operands[index].elements;
  fail("expected an address as operand " + std::to_string(index + 1));
  return kNoOperands;
}

int64_t Decoder::integer(size_t index) {
  if (index < numOperands() && instruction.operands[index].kind == ptx::Operand::Kind::Integer)
    return static_cast<int64_t>(instruction.operands[index].bits);
  fail("expected a constant as operand " + std::to_string(index + 1));
  return 0;
}

size_t Decoder::label(size_t index) {
  if (index < numOperands() && instruction.operands[index].kind == ptx::Operand::Kind::Label)
    return instruction.operands[index].target;
  fail("expected a label as operand " + std::to_string(index + 1));
  return 0;
}

Registry::Factory Registry::find(const std::string &family) const {
  auto it = factories.find(family);
  return it == factories.end() ? nullptr : it->second;
}

const Registry &Registry::all() {
  static const Registry registry = [] {
    Registry result;
    addScalarInstructions(result);
    addSynchronization(result);
    addCopyInstructions(result);
    addMatrixInstructions(result);
    addTensorMemoryInstructions(result);
    return result;
  }();
  return registry;
}

} // namespace headrace::sim
