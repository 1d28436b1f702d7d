// The matrix instructions, by family.
#include "Factories.h"

namespace headrace::sim {

bool expectRegisters(Decoder &decode, size_t index, int count, const char *what) {
  size_t got = index < decode.numOperands() ? decode.instruction.operands[index].elements.size() : 0;
  if (got == static_cast<size_t>(count))
    return true;
  decode.fail("expected " + std::to_string(count) + " registers of " + what + ", got " + std::to_string(got));
  return false;
}

void requireWholeWarp(const Lanes &lanes) {
  if (int missing = kLanes - __builtin_popcount(lanes.mask))
    lanes.report(lanes.leader(), FindingKind::Divergence,
                 "expected all 32 lanes of the warp, " + std::to_string(missing) + " are missing");
}

void addMatrixInstructions(Registry &registry) {
  registry.add("ldmatrix", makeLdmatrix);
  registry.add("stmatrix", makeStmatrix);
  registry.add("movmatrix", makeMovmatrix);
  registry.add("mma", makeMma);
  registry.add("wgmma", [](Decoder &decode) -> Evaluator {
    if (decode.part(1) == "mma_async")
      return makeWgmma(decode);
    if (decode.part(1) == "fence")
      return makeWgmmaFence(decode);
    if (decode.part(1) == "commit_group")
      return makeWgmmaCommit(decode);
    if (decode.part(1) == "wait_group")
      return makeWgmmaWait(decode);
    decode.fail("expected mma_async, fence, commit_group or wait_group, got '" + std::string(decode.part(1)) + "'");
    return {};
  });
}

} // namespace headrace::sim
