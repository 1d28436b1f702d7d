// Control flow (PTX ISA 9.7.12), trap and nanosleep.
#include "Elementwise.h"
#include "Families.h"
#include "Spelling.h"

#include <string>

using namespace headrace::sim;

namespace {

Evaluator decodeBranch(Decoder &decode) {
  Spelling spelling(decode);
  spelling.take("uni");
  const size_t target = decode.label(0);
  expectOperands(decode, 1);
  if (!spelling.finish())
    return {};
  return [target](Lanes &lanes) {
    lanes.forEach([&](int lane) { lanes.jump(lane, target); });
    return Step::Done;
  };
}

/// brx.idx index, {label, ...}.
Evaluator decodeIndexedBranch(Decoder &decode) {
  Spelling spelling(decode);
  spelling.take("uni");
  if (!spelling.take("idx"))
    decode.fail("expected .idx");
  expectOperands(decode, 2);
  if (!spelling.finish())
    return {};
  Input index(decode, 0);
  std::vector<size_t> targets;
  for (const ptx::Operand &label : decode.instruction.operands[1].elements)
    targets.push_back(label.target);
  if (decode.instruction.operands[1].kind != ptx::Operand::Kind::Vector || targets.empty())
    decode.fail("expected a list of labels");
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      const uint64_t i = index(lanes, lane) & 0xFFFFFFFF;
      if (i >= targets.size())
        lanes.report(lane, FindingKind::Operand,
                     "branches to target " + std::to_string(i) + " of " + std::to_string(targets.size()));
      lanes.jump(lane, targets[std::min<uint64_t>(i, targets.size() - 1)]);
    });
    return Step::Done;
  };
}

/// exit, and ret of a kernel.
Evaluator decodeExit(Decoder &decode) {
  Spelling spelling(decode);
  spelling.take("uni");
  expectOperands(decode, 0);
  if (!decode.function.isEntry)
    decode.fail("expected a kernel: device functions are not simulated");
  if (!spelling.finish())
    return {};
  return [](Lanes &lanes) {
    lanes.forEach([&](int lane) { lanes.exit(lane); });
    return Step::Done;
  };
}

/// The assert that the launch record has at the place in the source that an instruction came from, or null.
const NamedAssert *assertAt(const Launch &launch, const ptx::SourceLocation &source) {
  for (const NamedAssert &known : launch.asserts)
    if (source.line && known.line == source.line && known.column == source.column && known.file == source.file)
      return &known;
  return nullptr;
}

/// A failed assert, where calls would cost too much, or a fault.
Evaluator decodeTrap(Decoder &decode) {
  if (!Spelling(decode).finish())
    return {};
  return [](Lanes &lanes) {
    const NamedAssert *failed = assertAt(lanes.cluster.launch, lanes.instruction.source);
    lanes.forEach([&](int lane) {
      if (failed)
        lanes.report(lane, FindingKind::Assert, "assert failed: " + failed->message);
      else
        lanes.report(lane, FindingKind::Operand, "runs into a trap");
    });
    lanes.cluster.stop();
    return Step::Done;
  };
}

/// Nothing here takes time.
Evaluator decodeNanosleep(Decoder &decode) {
  Spelling spelling(decode);
  spelling.takeType();
  decode.source(0);
  if (!spelling.finish())
    return {};
  return [](Lanes &) { return Step::Done; };
}

} // namespace

void headrace::sim::addControl(Registry &registry) {
  registry.add("bra", decodeBranch);
  registry.add("brx", decodeIndexedBranch);
  registry.add("ret", decodeExit);
  registry.add("exit", decodeExit);
  registry.add("trap", decodeTrap);
  registry.add("nanosleep", decodeNanosleep);
}
