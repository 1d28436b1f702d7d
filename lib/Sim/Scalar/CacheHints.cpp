// Instructions that only caches could tell from nothing (PTX ISA 9.7.9.15 to 9.7.9.18).
#include "Elementwise.h"
#include "Families.h"
#include "StateSpace.h"

using namespace headrace::sim;

namespace {

Step nothing(Lanes &) { return Step::Done; }

Evaluator decodePrefetch(Decoder &decode) {
  Spelling spelling(decode);
  takeStateSpace(spelling);
  const bool hasLevel = spelling.takeOneOf({"L1", "L2", "tensormap"}) >= 0 || spelling.takeAllWith("L2::evict");
  if (!hasLevel)
    decode.fail("expected .L1, .L2 or .tensormap");
  decode.address(0);
  return spelling.finish() ? nothing : Evaluator();
}

/// discard and applypriority. What discard leaves behind is indeterminate; here it stays as it was.
Evaluator decodeRange(Decoder &decode) {
  Spelling spelling(decode);
  spelling.take("global");
  if (!spelling.take("L2") && !spelling.takeAllWith("L2::evict"))
    decode.fail("expected .L2");
  AddressSource address = decode.address(0);
  const int64_t size = decode.integer(1);
  if (size != 128) // the only one there is (9.7.9.16, 9.7.9.17)
    decode.fail("expected a size of 128, got " + std::to_string(size));
  if (!spelling.finish())
    return {};
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) { checkAligned(lanes, lane, address(lanes, lane), size); });
    return Step::Done;
  };
}

/// A policy is opaque: any value will do. These are what CUTLASS passes (hardware.md 4.4).
Evaluator decodeCreatePolicy(Decoder &decode) {
  Spelling spelling(decode);
  const int kind = spelling.takeOneOf({"fractional", "range", "cvt"});
  const bool first = spelling.take("L2::evict_first"), last = spelling.take("L2::evict_last");
  spelling.takeAllWith("L2");
  spelling.take("global");
  if (kind < 0 || spelling.takeType().bits() != 64)
    decode.fail("expected .fractional, .range or .cvt, and .b64");
  Dest dest = exactDest(decode, 0, 64);
  if (!spelling.finish())
    return {};
  const uint64_t policy = first ? 0x12F0000000000000 : last ? 0x14F0000000000000 : 0x1000000000000000;
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) { dest.set(lanes, lane, policy); });
    return Step::Done;
  };
}

} // namespace

void headrace::sim::addCacheHints(Registry &registry) {
  registry.add("prefetch", decodePrefetch);
  registry.add("prefetchu", decodePrefetch);
  registry.add("discard", decodeRange);
  registry.add("applypriority", decodeRange);
  registry.add("createpolicy", decodeCreatePolicy);
}
