// mov, selp and slct (PTX ISA 9.7.9.3, 9.7.9.4, 9.7.6.3, 9.7.6.4).
//
// None of these computes: a value that is undefined stays so in the copy, and may be copied. A mov of a register in
// flight is a renaming (Warp.h).
#include "Elementwise.h"
#include "Families.h"
#include "Spelling.h"

#include "headrace/Sim/Machine/Program.h"

using namespace headrace::sim;

namespace {

/// Gives each lane's `reg` the defined bytes that `bytes(lane)` says. `whole`: lanes in which that is all of them.
template <typename Bytes> void setDefined(Lanes &lanes, ptx::RegId reg, int width, LaneMask whole, Bytes bytes) {
  if ((whole & lanes.mask) == lanes.mask)
    return lanes.warp.define(reg, lanes.mask);
  lanes.forEach([&](int lane) { lanes.warp.setDefinedBytes(reg, lane, bytes(lane), width); });
}

void reportInFlight(Lanes &lanes, ptx::RegId reg) {
  const std::string &name = lanes.cluster.program.function->registers[reg].name;
  lanes.report(lanes.leader(), FindingKind::RegisterInFlight,
               "writes " + name + ", which an asynchronous operation has yet to write or read");
}

/// mov of one register or value.
Evaluator plainMove(Decoder &decode, const Type &type) {
  Dest dest = exactDest(decode, 0, type.bits());
  Input input(decode, 1, type);
  decode.mayReadUndefined();
  decode.mayTouchFlight();
  if (decode.failed())
    return {};
  return [to = dest.registerId(), width = type.bits(), mask = lowMask(type.bits()), wide = type.bits() == 128,
          input](Lanes &lanes) {
    Warp &warp = lanes.warp;
    if (warp.anyInFlight()) {
      if (input.isPlainRegister() && warp.flight(input.registerId()) != Flight::None) {
        if (!warp.renameInFlight(input.registerId(), to))
          reportInFlight(lanes, to);
        return Step::Done;
      }
      if (warp.flight(to) != Flight::None && !warp.overwrite(to))
        reportInFlight(lanes, to);
    }
    uint64_t buffer[kLanes];
    const uint64_t *from = input.read(lanes, buffer);
    uint64_t *out = warp.cells(to);
    lanes.forEach([&](int lane) { out[lane] = from[lane] & mask; });
    if (wide)
      lanes.forEach([&](int lane) {
        uint64_t high = input.operand().high(lanes, lane);
        warp.highCells(to)[lane] = high;
      });
    setDefined(lanes, to, width, input.defined(lanes), [&](int lane) { return input.definedBytes(lanes, lane); });
    return Step::Done;
  };
}

/// The width of the elements of a vector that make up `bits` bits; 0 after a failure.
int elementBits(Decoder &decode, size_t count, int bits) {
  if (count != 0 && bits % static_cast<int>(count) == 0)
    return bits / static_cast<int>(count);
  decode.fail("expected a vector that divides " + std::to_string(bits) + " bits, got one of " + std::to_string(count));
  return 0;
}

/// mov d, {a, b, ...}: the first element is the lowest.
Evaluator pack(Decoder &decode, const Type &type) {
  Dest dest = exactDest(decode, 0, type.bits());
  std::vector<Input> inputs;
  for (const ptx::Operand &element : decode.instruction.operands[1].elements)
    inputs.emplace_back(decode, element);
  const int width = elementBits(decode, inputs.size(), type.bits());
  decode.mayReadUndefined();
  if (decode.failed())
    return {};
  return [dest, inputs, width](Lanes &lanes) {
    LaneMask whole = ~LaneMask(0);
    for (const Input &input : inputs)
      whole &= input.defined(lanes);
    const ByteMask ofElement = (1u << width / 8) - 1;
    lanes.forEach([&](int lane) {
      uint64_t halves[2] = {0, 0};
      ByteMask bytes = 0;
      int at = 0;
      for (const Input &input : inputs) {
        halves[at / 64] |= (input(lanes, lane) & lowMask(width)) << at % 64;
        bytes |= (input.definedBytes(lanes, lane) & ofElement) << at / 8;
        at += width;
      }
      dest.set(lanes, lane, halves[0]);
      if (at > 64)
        dest.setHigh(lanes, lane, halves[1]);
      if (!(whole >> lane & 1))
        lanes.warp.setDefinedBytes(dest.registerId(), lane, bytes, at);
    });
    return Step::Done;
  };
}

/// mov {a, b, ...}, s.
Evaluator unpack(Decoder &decode, const Type &type) {
  std::vector<Dest> dests = decode.dests(0);
  Input input(decode, 1);
  const int width = elementBits(decode, dests.size(), type.bits());
  decode.mayReadUndefined();
  for (const Dest &dest : dests)
    if (!dest.isSink() && dest.bits() != width)
      decode.fail("expected elements of " + std::to_string(width) + " bits, got one of " + std::to_string(dest.bits()));
  if (decode.failed())
    return {};
  return [dests, input, width](Lanes &lanes) {
    const LaneMask whole = input.defined(lanes);
    lanes.forEach([&](int lane) {
      // Read before anything is written: the source may be among the destinations.
      const uint64_t low = input(lanes, lane), high = input.operand().high(lanes, lane);
      const ByteMask bytes = input.definedBytes(lanes, lane);
      int at = 0;
      for (const Dest &dest : dests) {
        dest.set(lanes, lane, (at < 64 ? low : high) >> at % 64);
        if (!(whole >> lane & 1) && !dest.isSink())
          lanes.warp.setDefinedBytes(dest.registerId(), lane, bytes >> at / 8, width);
        at += width;
      }
    });
    return Step::Done;
  };
}

Evaluator decodeMov(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  expectOperands(decode, 2);
  if (!spelling.finish())
    return {};
  if (decode.instruction.operands[0].kind == ptx::Operand::Kind::Vector)
    return unpack(decode, type);
  if (decode.instruction.operands[1].kind == ptx::Operand::Kind::Vector)
    return pack(decode, type);
  return plainMove(decode, type);
}

/// d = takesFirst(cell of c) ? a : b, and the definedness of the one taken.
template <typename TakesFirst>
Evaluator select(Decoder &decode, const Type &type, const Type &by, TakesFirst takesFirst) {
  Dest dest = exactDest(decode, 0, type.bits());
  Input a(decode, 1, type), b(decode, 2, type), c(decode, 3, by);
  decode.mayReadUndefined();
  if (decode.failed())
    return {};
  return [to = dest.registerId(), width = type.bits(), mask = lowMask(type.bits()), a, b, c, takesFirst](Lanes &lanes) {
    if (LaneMask missing = lanes.mask & ~c.defined(lanes))
      lanes.report(__builtin_ctz(missing), FindingKind::Uninitialised, "selects by a register that has no value");
    uint64_t bufferA[kLanes], bufferB[kLanes], bufferC[kLanes];
    const uint64_t *rowA = a.read(lanes, bufferA), *rowB = b.read(lanes, bufferB), *rowC = c.read(lanes, bufferC);
    const LaneMask definedA = a.defined(lanes), definedB = b.defined(lanes);
    uint64_t *out = lanes.warp.cells(to);
    LaneMask first = 0;
    lanes.forEach([&](int lane) {
      const bool takes = takesFirst(rowC[lane]);
      first |= static_cast<LaneMask>(takes) << lane;
      out[lane] = (takes ? rowA[lane] : rowB[lane]) & mask;
    });
    setDefined(lanes, to, width, (first & definedA) | (~first & definedB),
               [&](int lane) { return (first >> lane & 1 ? a : b).definedBytes(lanes, lane); });
    return Step::Done;
  };
}

Evaluator decodeSelp(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType();
  expectOperands(decode, 4);
  if (!spelling.finish())
    return {};
  return select(decode, type, Type(), [](uint64_t cell) { return (cell & 1) != 0; });
}

Evaluator decodeSlct(Decoder &decode) {
  Spelling spelling(decode);
  Type type = spelling.takeType(), by = spelling.takeType();
  const bool flush = spelling.take("ftz");
  expectOperands(decode, 4);
  if (!spelling.finish())
    return {};
  if (by.is(Type::Kind::Signed, 32))
    return select(decode, type, by, [](uint64_t cell) { return static_cast<int32_t>(cell) >= 0; });
  if (!by.is(Type::Kind::Float, 32))
    decode.fail("expected s32 or f32 as the type of the selector");
  return select(decode, type, by, [flush](uint64_t cell) {
    const float value = cellAs<float>(cell);
    return (flush ? flushed(value) : value) >= 0;
  });
}

} // namespace

void headrace::sim::addMoves(Registry &registry) {
  registry.add("mov", decodeMov);
  registry.add("selp", decodeSelp);
  registry.add("slct", decodeSlct);
}
