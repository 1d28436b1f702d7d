// Reductions, element by element.
#include "headrace/Sim/Copies/Reduction.h"

#include "headrace/Sim/Numerics/Float.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace headrace::sim {

namespace {

using Op = ReductionOp;
using Type = ReductionType;

constexpr std::pair<std::string_view, Op> kOps[] = {{"add", Op::Add}, {"min", Op::Min}, {"max", Op::Max},
                                                    {"inc", Op::Inc}, {"dec", Op::Dec}, {"and", Op::And},
                                                    {"or", Op::Or},   {"xor", Op::Xor}};
constexpr std::pair<std::string_view, Type> kTypes[] = {
    {"u32", Type::U32}, {"s32", Type::S32},   {"u64", Type::U64}, {"s64", Type::S64}, {"f16", Type::F16},
    {"b32", Type::B32}, {"bf16", Type::BF16}, {"f32", Type::F32}, {"f64", Type::F64}, {"b64", Type::B64}};

/// into[i] = combine(into[i], from[i]) for elements of type T.
template <typename T, typename Combine>
void forEach(const uint8_t *from, uint8_t *into, int64_t bytes, Combine combine) {
  for (int64_t at = 0; at < bytes; at += sizeof(T)) {
    T old, value;
    std::memcpy(&old, into + at, sizeof(T));
    std::memcpy(&value, from + at, sizeof(T));
    old = combine(old, value);
    std::memcpy(into + at, &old, sizeof(T));
  }
}

template <typename T> T combineIntegers(Op op, T old, T value) {
  using Unsigned = std::make_unsigned_t<T>;
  switch (op) {
  case Op::Add:
    return static_cast<T>(static_cast<Unsigned>(old) + static_cast<Unsigned>(value));
  case Op::Min:
    return std::min(old, value);
  case Op::Max:
    return std::max(old, value);
  case Op::Inc: // back to 0 past `value`
    return old >= value ? 0 : old + 1;
  case Op::Dec: // back to `value` past 0
    return old == 0 || old > value ? value : old - 1;
  case Op::And:
    return old & value;
  case Op::Or:
    return old | value;
  case Op::Xor:
    return old ^ value;
  }
  return old;
}

template <typename T> void reduceIntegers(Op op, const uint8_t *from, uint8_t *into, int64_t bytes) {
  forEach<T>(from, into, bytes, [op](T old, T value) { return combineIntegers(op, old, value); });
}

/// The smaller or larger of two numbers of 16 bits; of a number and a NaN the number. -0 is below +0.
uint16_t extreme(Op op, uint16_t old, uint16_t value, const FloatFormat &format) {
  auto magnitude = [&](uint16_t bits) { return static_cast<int>(bits & (format.signBit() - 1)); };
  auto isNan = [&](uint16_t bits) { return magnitude(bits) > static_cast<int>(format.infinity()); };
  auto key = [&](uint16_t bits) { return bits & format.signBit() ? -1 - magnitude(bits) : magnitude(bits); };
  if (isNan(old))
    return isNan(value) ? static_cast<uint16_t>(format.nan()) : value;
  if (isNan(value))
    return old;
  return (key(old) < key(value)) == (op == Op::Min) ? old : value;
}

/// The sum of doubles is correct also for the result: 53 bits are more than twice those of the format, and two.
uint16_t sum(uint16_t old, uint16_t value, const FloatFormat &format) {
  double exact = static_cast<double>(decodeFloat(old, format)) + static_cast<double>(decodeFloat(value, format));
  return static_cast<uint16_t>(encodeFloat(exact, format));
}

void reduceShortFloats(Op op, const uint8_t *from, uint8_t *into, int64_t bytes, const FloatFormat &format) {
  forEach<uint16_t>(from, into, bytes, [&](uint16_t old, uint16_t value) {
    return op == Op::Add ? sum(old, value, format) : extreme(op, old, value, format);
  });
}

uint32_t flushedSum(uint32_t old, uint32_t value) {
  float result = flushed(flushed(floatOfBits(old)) + flushed(floatOfBits(value)));
  return result != result ? static_cast<uint32_t>(kF32.nan()) : bitsOfFloat(result);
}

bool isOneOf(Type type, std::initializer_list<Type> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool existsInGlobal(const Reduction &reduction) {
  switch (reduction.op) {
  case Op::Add:
    return isOneOf(reduction.type, {Type::U32, Type::S32, Type::U64, Type::F32, Type::F64, Type::F16, Type::BF16});
  case Op::Min:
  case Op::Max:
    return isOneOf(reduction.type, {Type::U32, Type::S32, Type::U64, Type::S64, Type::F16, Type::BF16});
  case Op::Inc:
  case Op::Dec:
    return reduction.type == Type::U32;
  case Op::And:
  case Op::Or:
  case Op::Xor:
    return isOneOf(reduction.type, {Type::B32, Type::B64});
  }
  return false;
}

/// The type that an operation has for elements of a tensor map; those of and, or, xor are bits.
std::optional<Type> typeOf(ElementType type, bool isBitwise) {
  switch (type) {
  case ElementType::U32:
    return isBitwise ? Type::B32 : Type::U32;
  case ElementType::I32:
    return isBitwise ? Type::B32 : Type::S32;
  case ElementType::U64:
    return isBitwise ? Type::B64 : Type::U64;
  case ElementType::I64:
    return isBitwise ? Type::B64 : Type::S64;
  case ElementType::F16:
    return Type::F16;
  case ElementType::BF16:
    return Type::BF16;
  case ElementType::F32:
    return Type::F32;
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<ReductionOp> reductionOpNamed(std::string_view name) {
  for (const auto &[spelling, op] : kOps)
    if (spelling == name)
      return op;
  return std::nullopt;
}

std::optional<ReductionType> reductionTypeNamed(std::string_view name) {
  for (const auto &[spelling, type] : kTypes)
    if (spelling == name)
      return type;
  return std::nullopt;
}

int bytesOf(ReductionType type) {
  if (isOneOf(type, {Type::F16, Type::BF16}))
    return 2;
  return isOneOf(type, {Type::U64, Type::S64, Type::F64, Type::B64}) ? 8 : 4;
}

bool exists(const Reduction &reduction, ReductionTarget target) {
  if (!existsInGlobal(reduction))
    return false;
  switch (target) {
  case ReductionTarget::Global:
    return true;
  case ReductionTarget::Tensor:
    return reduction.type != Type::F64;
  case ReductionTarget::Shared:
    return isOneOf(reduction.type, {Type::U32, Type::S32, Type::B32}) ||
           (reduction.op == Op::Add && reduction.type == Type::U64);
  }
  return false;
}

std::optional<Reduction> tensorReduction(ReductionOp op, ElementType type) {
  std::optional<Type> as = typeOf(type, op == Op::And || op == Op::Or || op == Op::Xor);
  if (as && exists({op, *as}, ReductionTarget::Tensor))
    return Reduction{op, *as};
  return std::nullopt;
}

void reduce(const Reduction &reduction, const uint8_t *from, uint8_t *into, int64_t bytes) {
  switch (reduction.type) {
  case Type::U32:
  case Type::B32:
    return reduceIntegers<uint32_t>(reduction.op, from, into, bytes);
  case Type::S32:
    return reduceIntegers<int32_t>(reduction.op, from, into, bytes);
  case Type::U64:
  case Type::B64:
    return reduceIntegers<uint64_t>(reduction.op, from, into, bytes);
  case Type::S64:
    return reduceIntegers<int64_t>(reduction.op, from, into, bytes);
  case Type::F16:
    return reduceShortFloats(reduction.op, from, into, bytes, kF16);
  case Type::BF16:
    return reduceShortFloats(reduction.op, from, into, bytes, kBf16);
  case Type::F32:
    return forEach<uint32_t>(from, into, bytes, flushedSum);
  case Type::F64:
    return forEach<double>(from, into, bytes, [](double old, double value) { return old + value; });
  }
}

} // namespace headrace::sim
