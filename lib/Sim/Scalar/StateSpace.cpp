// State spaces, modifiers and checks of memory instructions.
#include "StateSpace.h"

#include "headrace/Sim/Machine/Hex.h"

using namespace headrace::sim;

StateSpace headrace::sim::takeStateSpace(Spelling &spelling) {
  switch (spelling.takeOneOf({"global", "const", "shared", "shared::cta", "shared::cluster", "param", "param::entry",
                              "param::func", "local"})) {
  case 0:
    return StateSpace::Global;
  case 1:
    return StateSpace::Const;
  case 2:
  case 3:
  case 4:
    return StateSpace::Shared;
  case 5:
  case 6:
  case 7:
    return StateSpace::Param;
  case 8:
    return StateSpace::Local;
  default:
    return StateSpace::Generic;
  }
}

bool headrace::sim::takeMemoryModifiers(Spelling &spelling) {
  spelling.takeOneOf({"weak", "volatile", "relaxed", "acquire", "release", "acq_rel"});
  spelling.take("mmio");
  spelling.takeOneOf({"cta", "cluster", "gpu", "sys"});
  spelling.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"}); // PTX ISA 9.7.9.1
  spelling.take("nc");
  spelling.takeAllWith("L1::");
  const bool hint = spelling.take("L2::cache_hint");
  spelling.takeAllWith("L2::");
  return hint;
}

int headrace::sim::takeVector(Spelling &spelling) {
  const int index = spelling.takeOneOf({"v2", "v4", "v8"});
  return index < 0 ? 1 : 2 << index;
}

void headrace::sim::checkAligned(const Lanes &lanes, int lane, uint64_t address, int64_t bytes) {
  if (address % static_cast<uint64_t>(bytes) != 0)
    lanes.report(lane, FindingKind::Misaligned,
                 "expected an address that is a multiple of " + std::to_string(bytes) + ", got " + hexText(address));
}

uint32_t headrace::sim::sharedAddress(const Lanes &lanes, int lane, uint64_t address) {
  if (address >> 32)
    lanes.report(lane, FindingKind::OutOfBounds, "expected a shared address, got " + hexText(address));
  return static_cast<uint32_t>(address);
}
