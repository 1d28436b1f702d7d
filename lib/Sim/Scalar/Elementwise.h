// Evaluators that compute each lane of a register from the same lane of others: most instructions.
//
// Operands are read as rows, the 32 cells of a register, so that the loop over a full warp is one that the compiler can
// vectorise; what depends on the instruction is decided once, when it is decoded.
#ifndef HEADRACE_SIM_SCALAR_ELEMENTWISE_H
#define HEADRACE_SIM_SCALAR_ELEMENTWISE_H

#include "Spelling.h"

#include "headrace/Sim/Instructions/Decoder.h"
#include "headrace/Sim/Machine/Program.h"
#include "headrace/Sim/Numerics/Arithmetic.h"
#include "headrace/Sim/Numerics/Bits.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace headrace::sim {

/// A cell as a value of T: an integer of the low bits, a bool, or a number.
template <typename T> T cellAs(uint64_t cell) {
  if constexpr (std::is_same_v<T, float>)
    return floatOfBits(static_cast<uint32_t>(cell));
  else if constexpr (std::is_same_v<T, double>)
    return doubleOfBits(cell);
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>)
    return {static_cast<uint16_t>(cell)};
  else
    return static_cast<T>(cell);
}
/// The other way, zero-extended.
template <typename T> uint64_t cellOf(T value) {
  if constexpr (std::is_same_v<T, float>)
    return bitsOfFloat(value);
  else if constexpr (std::is_same_v<T, double>)
    return bitsOfDouble(value);
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>)
    return value.bits;
  else if constexpr (std::is_same_v<T, bool>)
    return value;
  else
    return static_cast<std::make_unsigned_t<T>>(value);
}

/// A source operand, read for all lanes at once.
class Input {
public:
  Input() = default;
  /// `type`: what a constant that is written as a number must fit.
  Input(Decoder &decode, size_t index, const Type &type = Type());
  Input(Decoder &decode, const ptx::Operand &operand, const Type &type = Type());

  /// The cells of a register, or `buffer` with what the operand is for the lanes of the mask. Requires: 32 places.
  const uint64_t *read(const Lanes &lanes, uint64_t *buffer) const {
    return isCells ? lanes.warp.cells(source.registerId()) : fill(lanes, buffer);
  }
  /// For one lane.
  uint64_t operator()(const Lanes &lanes, int lane) const { return isConstant ? constant : source(lanes, lane); }
  bool isPlainRegister() const { return isCells; }
  ptx::RegId registerId() const { return source.registerId(); }
  /// Lanes in which the operand has a value.
  LaneMask defined(const Lanes &lanes) const {
    return source.isRegister() ? lanes.warp.defined(source.registerId()) : ~LaneMask(0);
  }
  /// Bytes of a lane's operand that have a value.
  ByteMask definedBytes(const Lanes &lanes, int lane) const {
    return source.isRegister() ? lanes.warp.definedBytes(source.registerId(), lane) : ~ByteMask(0);
  }
  const Source &operand() const { return source; }

private:
  const uint64_t *fill(const Lanes &lanes, uint64_t *buffer) const;

  Source source;
  bool isCells = false;
  bool isConstant = true;
  uint64_t constant = 0;
};

/// The type of an operand that is read as a T.
template <typename T> constexpr Type operandType() {
  const bool isNumber = std::is_same_v<T, float> || std::is_same_v<T, double>;
  return {isNumber ? Type::Kind::Float : Type::Kind::Bits, 8 * static_cast<int>(sizeof(T)), 1};
}

/// The destination at `index`. Fails unless it is a register of `bits` bits.
Dest exactDest(Decoder &decode, size_t index, int bits);
/// Fails unless there are `count` operands.
void expectOperands(Decoder &decode, size_t count);

/// Says once that `input` has no value in the lanes of `missing`.
inline void reportMissing(Lanes &lanes, const Input &input, LaneMask missing) {
  if (!missing)
    return;
  lanes.report(__builtin_ctz(missing), FindingKind::Uninitialised,
               "reads " + lanes.cluster.program.function->registers[input.registerId()].name + ", which has no value");
  lanes.warp.define(input.registerId(), missing);
}

/// `run` with operands that may have bytes without a value, which it moves: `bytes(lanes, lane)` says which bytes of the
/// destination have one afterwards. `moved` are those operands; the others must have values.
template <typename Bytes>
Evaluator movingBytes(Decoder &decode, Evaluator run, Dest dest, std::vector<Input> moved, std::vector<Input> others,
                      Bytes bytes) {
  decode.mayReadUndefined();
  return [=](Lanes &lanes) {
    for (const Input &input : others)
      reportMissing(lanes, input, lanes.mask & ~input.defined(lanes));
    LaneMask whole = lanes.mask;
    for (const Input &input : moved)
      whole &= input.defined(lanes);
    if (whole == lanes.mask || dest.isSink())
      return run(lanes);
    ByteMask masks[kLanes];
    lanes.forEach([&](int lane) { masks[lane] = bytes(lanes, lane); });
    const Step step = run(lanes);
    if (step == Step::Done)
      lanes.forEach([&](int lane) { lanes.warp.setDefinedBytes(dest.registerId(), lane, masks[lane], dest.bits()); });
    return step;
  };
}

/// As movingBytes, for operands that are computed with: compilers compute with bytes that nobody asks for, but not with
/// operands that have none, which are findings like `others`.
template <typename Bytes>
Evaluator computingBytes(Decoder &decode, Evaluator run, std::vector<Input> operands, std::vector<Input> others,
                         Bytes bytes) {
  if (decode.failed() || decode.dest(0).bits() < 8)
    return run;
  Evaluator moving = movingBytes(decode, std::move(run), decode.dest(0), operands, std::move(others), bytes);
  return [=](Lanes &lanes) {
    for (const Input &input : operands) {
      LaneMask missing = lanes.mask & ~input.defined(lanes);
      for (LaneMask rest = missing; rest; rest &= rest - 1)
        if (const int lane = __builtin_ctz(rest); input.definedBytes(lanes, lane))
          missing &= ~(LaneMask(1) << lane);
      reportMissing(lanes, input, missing);
    }
    return moving(lanes);
  };
}

/// As computingBytes with the first `count` operands: the result's bytes are told by `bytes` from those that have a value in
/// all of them.
inline Evaluator computingCommonBytes(Decoder &decode, Evaluator run, size_t count, ByteMask (*bytes)(ByteMask)) {
  if (decode.failed())
    return run;
  std::vector<Input> operands;
  for (size_t i = 0; i < count; ++i)
    operands.emplace_back(decode, 1 + i);
  return computingBytes(decode, std::move(run), operands, {}, [=](const Lanes &lanes, int lane) {
    ByteMask common = ~ByteMask(0);
    for (const Input &input : operands)
      common &= input.definedBytes(lanes, lane);
    return bytes(common);
  });
}

/// Of wrapped sums, differences and products, whose bytes depend on all lower ones of the operands.
inline ByteMask bytesBelowGap(ByteMask common) { return static_cast<ByteMask>((~common & (common + 1)) - 1); }
/// Of logic, byte by byte.
inline ByteMask sameBytes(ByteMask common) { return common; }

template <typename R, typename... Args, typename Op, size_t... I>
void runElementwise(Lanes &lanes, ptx::RegId dest, uint64_t mask, const std::array<Input, sizeof...(Args)> &inputs,
                    const Op &op, std::index_sequence<I...>) {
  uint64_t buffers[sizeof...(Args)][kLanes];
  const uint64_t *const rows[] = {inputs[I].read(lanes, buffers[I])...};
  uint64_t *out = lanes.warp.cells(dest);
  auto compute = [&](int lane) { return cellOf<R>(static_cast<R>(op(cellAs<Args>(rows[I][lane])...))) & mask; };
  if (lanes.mask == ~LaneMask(0)) {
    uint64_t results[kLanes]; // `out` may be one of the rows; a place of its own lets the loop be vectorised
    for (int lane = 0; lane < kLanes; ++lane)
      results[lane] = compute(lane);
    std::copy_n(results, kLanes, out);
  } else {
    lanes.forEach([&](int lane) { out[lane] = compute(lane); });
  }
  lanes.warp.define(dest, lanes.mask);
}

/// operand 0 = op(operand 1, ...): a register of `bits` bits gets an R, whose higher bits are dropped, from Args. Where
/// those are integers that stand for something else, `type` says what.
template <typename R, typename... Args, typename Op>
Evaluator elementwise(Decoder &decode, int bits, Op op, const Type *type = nullptr) {
  expectOperands(decode, 1 + sizeof...(Args));
  if (decode.failed())
    return {};
  Dest dest = exactDest(decode, 0, bits);
  size_t index = 0;
  const std::array<Input, sizeof...(Args)> inputs = {Input(decode, ++index, type ? *type : operandType<Args>())...};
  return [dest = dest.registerId(), mask = lowMask(bits), inputs, op](Lanes &lanes) {
    runElementwise<R, Args...>(lanes, dest, mask, inputs, op, std::index_sequence_for<Args...>());
    return Step::Done;
  };
}

template <typename T, size_t> using Repeated = T;
template <typename R, typename T, typename Op, size_t... I>
Evaluator uniformElementwise(Decoder &decode, int bits, Op op, std::index_sequence<I...>) {
  return elementwise<R, Repeated<T, I>...>(decode, bits, op);
}
/// As elementwise with N arguments of type T.
template <size_t N, typename R, typename T, typename Op> Evaluator elementwiseOf(Decoder &decode, int bits, Op op) {
  return uniformElementwise<R, T>(decode, bits, op, std::make_index_sequence<N>());
}

/// op of the two elements of type T that each word packs.
template <typename T, typename Word, typename Op, typename... Words>
Word eachOfPair(const Op &op, Word first, Words... rest) {
  constexpr int kBits = 4 * sizeof(Word);
  uint64_t low = cellOf<T>(op(cellAs<T>(first), cellAs<T>(rest)...));
  uint64_t high = cellOf<T>(op(cellAs<T>(first >> kBits), cellAs<T>(rest >> kBits)...));
  return static_cast<Word>(high << kBits | low);
}

} // namespace headrace::sim

#endif
