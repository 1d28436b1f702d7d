// wgmma.mma_async: from an instruction to an operation in flight (PTX ISA 9.7.15.5.2).
//
// The operations of a warpgroup are performed in the order of their issue. An operation has seen what the first lanes
// of its four warps had seen, taken together: any of them may have waited for the data, as long as it did so before.
#include "Factories.h"
#include "WgmmaOperation.h"

#include "headrace/Sim/Machine/Program.h"
#include "headrace/Sim/Matrix/WgmmaOrder.h"

#include <algorithm>
#include <memory>

namespace headrace::sim {

namespace {

/// One wgmma being issued by a warpgroup.
class WgmmaIssue {
public:
  WgmmaIssue(Lanes &lanes, std::shared_ptr<const WgmmaOperation> operation);

  void run();

private:
  uint64_t uniform(const Source &source, const char *what) const;
  WgmmaDescriptor descriptor(const Source &source, const char *what) const;
  bool isDefined(ptx::RegId reg) const;
  void checkOrder(ptx::RegId reg) const;
  void checkShapes() const;
  void takeAccumulators();
  void takeRegistersOfA();
  Agent agent() const;
  void send() const;
  void report(FindingKind kind, std::string message) const { lanes.report(lanes.leader(), kind, std::move(message)); }
  const std::string &nameOf(ptx::RegId reg) const { return lanes.cluster.program.function->registers[reg].name; }

  Lanes &lanes;
  std::shared_ptr<const WgmmaOperation> operation;
  std::vector<Lanes> warps; // all lanes of each
  WgmmaInputs inputs;
  std::vector<WgmmaInFlight> &inFlight;
  const WgmmaOrder &order;
};

WgmmaIssue::WgmmaIssue(Lanes &lanes, std::shared_ptr<const WgmmaOperation> operation)
    : lanes(lanes), operation(std::move(operation)), inFlight(lanes.cta.wgmmaInFlight[lanes.warpgroupIndex()]),
      order(lanes.cta.wgmmaOrder[lanes.warpgroupIndex()]) {
  inputs.shared = lanes.cta.rank << 24; // hardware.md 3: where shared::cluster addresses have the rank
  inputs.warps = lanes.warpgroup();
  for (Warp *warp : inputs.warps)
    warps.emplace_back(lanes.cluster, lanes.cta, *warp, warp->live, lanes.instruction);
}

/// The value that all threads must give.
uint64_t WgmmaIssue::uniform(const Source &source, const char *what) const {
  if (source.isRegister())
    isDefined(source.registerId());
  const uint64_t value = source(lanes, lanes.leader());
  bool differs = false;
  for (const Lanes &warp : warps)
    warp.forEach([&](int lane) { differs |= source(warp, lane) != value; });
  if (differs)
    report(FindingKind::Operand, std::string("expected one ") + what + " in all threads of the warpgroup, got several");
  return value;
}

WgmmaDescriptor WgmmaIssue::descriptor(const Source &source, const char *what) const {
  uint64_t bits = uniform(source, what);
  if (std::string wrong = WgmmaDescriptor::invalid(bits); !wrong.empty())
    report(FindingKind::Operand, wrong);
  return WgmmaDescriptor::decode(bits);
}

/// Reports a register that has no value in some lane.
bool WgmmaIssue::isDefined(ptx::RegId reg) const {
  for (const Lanes &warp : warps) {
    if (LaneMask missing = warp.mask & ~warp.warp.defined(reg)) {
      warp.report(__builtin_ctz(missing), FindingKind::Uninitialised, "reads " + nameOf(reg) + ", which has no value");
      return false;
    }
  }
  return true;
}

/// Reports a register that ordinary instructions have written since the last fence.
void WgmmaIssue::checkOrder(ptx::RegId reg) const {
  if (!order.fenced)
    return;
  for (size_t i = 0; i < warps.size(); ++i)
    if (!isOrdered(order, warps[i].warp, static_cast<int>(i), reg))
      return warps[i].report(warps[i].leader(), FindingKind::RegisterInFlight,
                             "wgmma uses " + nameOf(reg) + ", written since the last wgmma.fence");
}

const std::string &shapeOf(const ptx::Instruction &instruction) {
  static const std::string kNone;
  auto shape = std::find_if(instruction.opcode.begin(), instruction.opcode.end(),
                            [](const std::string &part) { return matrixShapeNamed(part).has_value(); });
  return shape == instruction.opcode.end() ? kNone : *shape;
}

/// Reports accumulators that a pending wgmma has in another shape or at another place. From one pending wgmma to the
/// next they pass only as they are (PTX ISA 9.7.15.7.1).
void WgmmaIssue::checkShapes() const {
  const std::string &shape = shapeOf(lanes.instruction);
  for (auto earlier = inFlight.rbegin(); earlier != inFlight.rend(); ++earlier) {
    const size_t count = earlier->instruction->operands[0].elements.size();
    auto first = earlier->registers.begin(), last = first + count;
    const std::string &other = shapeOf(*earlier->instruction);
    if (shape == other && std::equal(first, last, operation->d.begin(), operation->d.end()))
      return; // which has been compared with the ones before it
    for (size_t i = 0; i < operation->d.size(); ++i) {
      size_t place = std::find(first, last, operation->d[i]) - first;
      if (place != count && (place != i || shape != other))
        return report(FindingKind::RegisterInFlight,
                      "wgmma of " + shape + " has " + nameOf(operation->d[i]) + " as accumulator " + std::to_string(i) +
                          ", a pending one of " + other + " at PTX line " + std::to_string(earlier->instruction->line) +
                          " as " + std::to_string(place));
    }
  }
}

/// Checks D and marks it as in flight.
void WgmmaIssue::takeAccumulators() {
  checkShapes();
  for (ptx::RegId reg : operation->d) {
    Flight flight = lanes.warp.flight(reg);
    if (flight == Flight::Operand)
      report(FindingKind::RegisterInFlight, "wgmma writes " + nameOf(reg) + ", which a pending wgmma reads as A");
    else if (flight == Flight::Load)
      report(FindingKind::RegisterInFlight, "wgmma writes " + nameOf(reg) + " in the hands of tcgen05.ld");
    else if (flight == Flight::None && inputs.accumulates && isDefined(reg))
      checkOrder(reg);
    for (const Lanes &warp : warps) {
      warp.warp.takeOff(reg, Flight::Accumulator);
      warp.warp.define(reg, warp.mask);
    }
  }
}

/// Checks A in registers and marks it as in flight.
void WgmmaIssue::takeRegistersOfA() {
  for (ptx::RegId reg : operation->a) {
    Flight flight = lanes.warp.flight(reg);
    if (flight == Flight::Accumulator || flight == Flight::Load)
      report(FindingKind::RegisterInFlight, "wgmma reads " + nameOf(reg) + " as A, which is in the hands of " +
                                                (flight == Flight::Load ? "tcgen05.ld" : "wgmma as accumulator"));
    else if (flight == Flight::None && isDefined(reg))
      checkOrder(reg);
    for (const Lanes &warp : warps)
      warp.warp.takeOff(reg, Flight::Operand);
  }
}

/// Who reads shared memory: all four warps as one.
Agent WgmmaIssue::agent() const {
  Agent result = lanes.agent(lanes.leader(), View::Async);
  result.what = "wgmma";
  for (const Lanes &warp : warps)
    if (warp.warp.index != lanes.warp.index)
      result.seen = joined(result.seen, warp.snapshot(warp.leader()));
  return result;
}

void WgmmaIssue::send() const {
  std::vector<ptx::RegId> registers = operation->d;
  registers.insert(registers.end(), operation->a.begin(), operation->a.end());
  Stream &stream = lanes.stream(StreamKind::Wgmma, lanes.warpgroupIndex());
  AsyncOp op;
  op.agent = agent();
  op.description = "wgmma of " + shapeOf(lanes.instruction) + " in CTA " + std::to_string(lanes.cta.index) +
                   ", warpgroup " + std::to_string(lanes.warpgroupIndex());
  op.order = reinterpret_cast<uintptr_t>(&stream);
  op.perform = [operation = operation, inputs = inputs, registers](AsyncContext &context) {
    operation->perform(context, inputs);
    for (Warp *warp : inputs.warps)
      for (ptx::RegId reg : registers)
        warp->arrive(reg);
  };
  uint32_t number = lanes.cluster.engine.issue(std::move(op), &stream);
  inFlight.push_back({number, std::move(registers), &lanes.instruction});
}

void WgmmaIssue::run() {
  for (const Lanes &warp : warps)
    requireWholeWarp(warp);
  inputs.accumulates = uniform(operation->scaleD, "scale-d") != 0;
  if (operation->aMatrix)
    inputs.a = descriptor(*operation->aMatrix, "descriptor of A");
  inputs.b = descriptor(operation->bMatrix, "descriptor of B");
  if (!order.fenced)
    report(FindingKind::RegisterInFlight, "wgmma uses registers without a wgmma.fence before");
  takeAccumulators();
  takeRegistersOfA();
  send();
}

} // namespace

Evaluator makeWgmma(Decoder &decode) {
  std::string error;
  std::optional<WgmmaForm> form = parseWgmma(decode.instruction.opcode, error);
  if (!form) {
    decode.fail(error);
    return {};
  }
  auto operation = std::make_shared<const WgmmaOperation>(decode, *form);
  decode.executedBy(Scope::Warpgroup);
  decode.mayTouchFlight();
  decode.mayReadUndefined();
  return [operation](Lanes &lanes) {
    WgmmaIssue(lanes, operation).run();
    return Step::Done;
  };
}

} // namespace headrace::sim
