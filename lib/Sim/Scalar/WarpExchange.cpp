// Exchange of values between the lanes of a warp: shfl, vote, match, redux, activemask (PTX ISA 9.7.9.6, 9.7.13.9 to
// 9.7.13.12).
//
// The .sync forms wait for the lanes that their membermask names and that have not exited. Lanes arrive here together
// once they have converged, so an evaluator that finds some missing is run again when they have come.
#include "Elementwise.h"
#include "Families.h"
#include "Spelling.h"
#include "headrace/Sim/Machine/Hex.h"

#include <algorithm>
#include <utility>

using namespace headrace::sim;

namespace {

LaneMask bit(int lane) { return LaneMask(1) << lane; }

/// The lanes that take part with each lane.
struct Groups {
  LaneMask of[kLanes] = {};
  LaneMask missing = 0; // named by somebody and not here
};

Groups groupsOf(const Lanes &lanes, const Input &members) {
  Groups groups;
  lanes.forEach([&](int lane) {
    groups.of[lane] = static_cast<LaneMask>(members(lanes, lane)) & lanes.warp.live;
    groups.missing |= groups.of[lane] & ~lanes.mask;
  });
  return groups;
}

/// Calls body(lane, group) for each lane when all are here.
template <typename Body> Step together(Lanes &lanes, const Input &members, Body body) {
  const Groups groups = groupsOf(lanes, members);
  if (groups.missing)
    return lanes.waits([&] { return "for lanes " + hexText(groups.missing, 8) + " of its membermask"; });
  lanes.forEach([&](int lane) {
    if (!(groups.of[lane] & bit(lane)))
      lanes.report(lane, FindingKind::Operand,
                   "expected a membermask that names lane " + std::to_string(lane) + ", got " +
                       hexText(members(lanes, lane) & 0xFFFFFFFF, 8));
    body(lane, groups.of[lane] | bit(lane));
  });
  return Step::Done;
}

/// Calls body(other) for each lane of the group.
template <typename Body> void forEachOf(LaneMask group, Body body) {
  for (; group; group &= group - 1)
    body(__builtin_ctz(group));
}

/// The two destinations of d|p; the second is a sink where only d is given.
std::pair<Dest, Dest> takePair(Decoder &decode) {
  const ptx::Operand &operand = decode.instruction.operands[0];
  if (operand.kind == ptx::Operand::Kind::Pair)
    return {decode.dest(operand.elements[0]), decode.dest(operand.elements[1])};
  return {decode.dest(operand), decode.dest(ptx::Operand())};
}

enum class Shuffle { Up, Down, Butterfly, Index };

/// Where a lane of shfl takes its value from, and whether that is within its segment.
struct ShuffleSource {
  int lane;
  bool inRange;
};

ShuffleSource shuffleSource(Shuffle mode, int lane, uint32_t b, uint32_t c) {
  const int value = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31);
  const int segment = static_cast<int>(c >> 8 & 31);
  const int last = (lane & segment) | (clamp & ~segment & 31);
  int from = 0;
  bool inRange = false;
  switch (mode) {
  case Shuffle::Up:
    from = lane - value;
    inRange = from >= last; // the clamp is the first lane here
    break;
  case Shuffle::Down:
    from = lane + value;
    inRange = from <= last;
    break;
  case Shuffle::Butterfly:
    from = lane ^ value;
    inRange = from <= last;
    break;
  case Shuffle::Index:
    from = (lane & segment) | (value & ~segment & 31);
    inRange = from <= last;
    break;
  }
  return {inRange ? from : lane, inRange};
}

Evaluator decodeShfl(Decoder &decode) {
  Spelling spelling(decode);
  const bool sync = spelling.take("sync");
  const int mode = spelling.takeOneOf({"up", "down", "bfly", "idx"});
  const int bits = spelling.takeType().bits();
  if (!sync || mode < 0 || bits != 32)
    decode.fail("expected .sync, a mode, and .b32");
  expectOperands(decode, 5);
  if (!spelling.finish())
    return {};
  auto [dest, predicate] = takePair(decode);
  Input a(decode, 1), b(decode, 2), c(decode, 3), members(decode, 4);
  auto sourceOf = [=](const Lanes &lanes, int lane) {
    return shuffleSource(static_cast<Shuffle>(mode), lane, static_cast<uint32_t>(b(lanes, lane)),
                         static_cast<uint32_t>(c(lanes, lane)));
  };
  Evaluator run = [=, dest = dest, predicate = predicate](Lanes &lanes) {
    uint64_t buffer[kLanes], values[kLanes]; // a copy: the source may be the destination
    std::copy_n(a.read(lanes, buffer), kLanes, values);
    return together(lanes, members, [&](int lane, LaneMask group) {
      ShuffleSource from = sourceOf(lanes, lane);
      if (!(group & bit(from.lane)))
        lanes.report(lane, FindingKind::Operand,
                     "takes its value from lane " + std::to_string(from.lane) +
                         ", which has exited or is not in membermask " + hexText(members(lanes, lane) & 0xFFFFFFFF, 8));
      dest.set(lanes, lane, values[from.lane]);
      predicate.set(lanes, lane, from.inRange);
    });
  };
  return movingBytes(decode, std::move(run), dest, {a}, {b, c, members},
                     [=](const Lanes &lanes, int lane) { return a.definedBytes(lanes, sourceOf(lanes, lane).lane); });
}

/// The lanes of the mask whose predicate is true.
LaneMask ballot(const Lanes &lanes, const Input &predicate) {
  LaneMask result = 0;
  lanes.forEach([&](int lane) { result |= static_cast<LaneMask>(predicate(lanes, lane) & 1) << lane; });
  return result;
}

Evaluator decodeVote(Decoder &decode) {
  Spelling spelling(decode);
  const bool sync = spelling.take("sync");
  const int mode = spelling.takeOneOf({"all", "any", "uni", "ballot"});
  const int bits = spelling.takeType().bits();
  if (!sync || mode < 0 || bits != (mode == 3 ? 32 : 1))
    decode.fail("expected .sync, and a mode of .pred or .ballot.b32");
  expectOperands(decode, 3);
  if (!spelling.finish())
    return {};
  Dest dest = exactDest(decode, 0, bits);
  Input predicate(decode, 1), members(decode, 2);
  return [=](Lanes &lanes) {
    const LaneMask votes = ballot(lanes, predicate);
    return together(lanes, members, [&](int lane, LaneMask group) {
      const LaneMask yes = votes & group;
      const bool all = yes == group, any = yes != 0;
      dest.set(lanes, lane, mode == 0 ? all : mode == 1 ? any : mode == 2 ? all || !any : yes);
    });
  };
}

Evaluator decodeMatch(Decoder &decode) {
  Spelling spelling(decode);
  const bool sync = spelling.take("sync");
  const int mode = spelling.takeOneOf({"any", "all"});
  const int bits = spelling.takeType().bits();
  if (!sync || mode < 0 || (bits != 32 && bits != 64))
    decode.fail("expected .any or .all, .sync, and .b32 or .b64");
  expectOperands(decode, 3);
  if (!spelling.finish())
    return {};
  auto [dest, predicate] = takePair(decode);
  Input a(decode, 1), members(decode, 2);
  return [=, dest = dest, predicate = predicate](Lanes &lanes) {
    uint64_t values[kLanes];
    lanes.forEach([&](int lane) { values[lane] = a(lanes, lane) & lowMask(bits); });
    return together(lanes, members, [&](int lane, LaneMask group) {
      LaneMask same = 0;
      forEachOf(group, [&](int other) { same |= values[other] == values[lane] ? bit(other) : 0; });
      const bool all = same == group;
      dest.set(lanes, lane, mode == 0 || all ? same : 0);
      predicate.set(lanes, lane, all);
    });
  };
}

enum class Reduction { Add, Min, Max, And, Or, Xor };

uint32_t reduced(Reduction op, bool isSigned, uint32_t a, uint32_t b) {
  const bool aIsLess = isSigned ? static_cast<int32_t>(a) < static_cast<int32_t>(b) : a < b;
  switch (op) {
  case Reduction::Add:
    return a + b;
  case Reduction::Min:
    return aIsLess ? a : b;
  case Reduction::Max:
    return aIsLess ? b : a;
  case Reduction::And:
    return a & b;
  case Reduction::Or:
    return a | b;
  case Reduction::Xor:
    return a ^ b;
  }
  return 0;
}

/// redux.sync of 32-bit words. `combine` joins two of them.
template <typename Combine> Evaluator reduxEvaluator(Decoder &decode, Combine combine) {
  Dest dest = exactDest(decode, 0, 32);
  Input a(decode, 1), members(decode, 2);
  return [=](Lanes &lanes) {
    uint32_t values[kLanes];
    lanes.forEach([&](int lane) { values[lane] = static_cast<uint32_t>(a(lanes, lane)); });
    return together(lanes, members, [&](int lane, LaneMask group) {
      const int first = __builtin_ctz(group);
      uint32_t result = values[first];
      forEachOf(group, [&](int other) { result = other == first ? result : combine(result, values[other]); });
      dest.set(lanes, lane, result);
    });
  };
}

Evaluator decodeRedux(Decoder &decode) {
  Spelling spelling(decode);
  const bool sync = spelling.take("sync");
  const int op = spelling.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  MinMaxMode mode;
  mode.absolute = spelling.take("abs");
  mode.nan = spelling.take("NaN");
  const Type type = spelling.takeType();
  if (!sync || op < 0 || type.bits() != 32)
    decode.fail("expected .sync, an operation, and a type of 32 bits");
  if (type.isFloat() ? op != 1 && op != 2 : mode.absolute || mode.nan)
    decode.fail("expected .min or .max of f32, and modifiers only there");
  expectOperands(decode, 3);
  if (!spelling.finish())
    return {};
  if (!type.isFloat())
    return reduxEvaluator(decode, [op, isSigned = type.isSigned()](uint32_t a, uint32_t b) {
      return reduced(static_cast<Reduction>(op), isSigned, a, b);
    });
  return reduxEvaluator(decode, [mode, isMax = op == 2](uint32_t a, uint32_t b) {
    return bitsOfFloat(minMax(mode, isMax, floatOfBits(a), floatOfBits(b)));
  });
}

Evaluator decodeActiveMask(Decoder &decode) {
  Spelling spelling(decode);
  spelling.takeType();
  Dest dest = exactDest(decode, 0, 32);
  if (!spelling.finish())
    return {};
  return [dest](Lanes &lanes) {
    lanes.forEach([&](int lane) { dest.set(lanes, lane, lanes.mask); });
    return Step::Done;
  };
}

} // namespace

void headrace::sim::addWarpExchange(Registry &registry) {
  registry.add("shfl", decodeShfl);
  registry.add("vote", decodeVote);
  registry.add("match", decodeMatch);
  registry.add("redux", decodeRedux);
  registry.add("activemask", decodeActiveMask);
}
