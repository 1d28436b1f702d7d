// Reductions of elements, against values worked out by hand or by wider arithmetic.
#include "headrace/Sim/Copies/Reduction.h"

#include "headrace/Sim/Numerics/Float.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace headrace::sim;

namespace {

using Op = ReductionOp;
using Type = ReductionType;

template <typename T> T reduced(Op op, Type type, T into, T from) {
  uint8_t source[sizeof(T)], target[sizeof(T)];
  std::memcpy(source, &from, sizeof(T));
  std::memcpy(target, &into, sizeof(T));
  reduce({op, type}, source, target, sizeof(T));
  std::memcpy(&into, target, sizeof(T));
  return into;
}

TEST(Reduction, Integers) {
  EXPECT_EQ(reduced<uint32_t>(Op::Add, Type::U32, 0xFFFFFFFF, 2), 1u);
  EXPECT_EQ(reduced<uint32_t>(Op::Min, Type::U32, 0xFFFFFFFF, 2), 2u);
  EXPECT_EQ(reduced<uint32_t>(Op::Max, Type::U32, 0xFFFFFFFF, 2), 0xFFFFFFFFu);
  EXPECT_EQ(reduced<int32_t>(Op::Add, Type::S32, INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(reduced<int32_t>(Op::Min, Type::S32, -1, 2), -1);
  EXPECT_EQ(reduced<int32_t>(Op::Max, Type::S32, -1, 2), 2);
  EXPECT_EQ(reduced<uint64_t>(Op::Add, Type::U64, ~uint64_t(0), 3), 2u);
  EXPECT_EQ(reduced<int64_t>(Op::Min, Type::S64, -5, 4), -5);
  EXPECT_EQ(reduced<uint64_t>(Op::Max, Type::U64, static_cast<uint64_t>(-5), 4), static_cast<uint64_t>(-5));
  EXPECT_EQ(reduced<uint32_t>(Op::And, Type::B32, 12, 10), 8u);
  EXPECT_EQ(reduced<uint32_t>(Op::Or, Type::B32, 12, 10), 14u);
  EXPECT_EQ(reduced<uint64_t>(Op::Xor, Type::B64, uint64_t(12) << 40, uint64_t(10) << 40), uint64_t(6) << 40);
}

TEST(Reduction, IncAndDecGoRoundFromZeroToTheOperand) {
  for (uint32_t limit = 0; limit < 5; ++limit)
    for (uint32_t old = 0; old < 8; ++old) {
      EXPECT_EQ(reduced<uint32_t>(Op::Inc, Type::U32, old, limit), old >= limit ? 0 : old + 1);
      EXPECT_EQ(reduced<uint32_t>(Op::Dec, Type::U32, old, limit), old == 0 || old > limit ? limit : old - 1);
    }
}

TEST(Reduction, EachElementOnItsOwn) {
  uint16_t from[3] = {1, 0x8000, 0xFFFF}, into[3] = {0, 0x3C00, 5};
  reduce({Op::Max, Type::F16}, reinterpret_cast<uint8_t *>(from), reinterpret_cast<uint8_t *>(into), 6);
  EXPECT_EQ(into[0], 1);
  EXPECT_EQ(into[1], 0x3C00);
  EXPECT_EQ(into[2], 5); // of a number and a NaN the number
}

TEST(Reduction, SumsOfShortFloatsRoundOnceAndKeepSubnormals) {
  EXPECT_EQ(reduced<uint16_t>(Op::Add, Type::F16, 0x0001, 0x0001), 0x0002);  // 2^-24 + 2^-24
  EXPECT_EQ(reduced<uint16_t>(Op::Add, Type::F16, 0x7BFF, 0x7BFF), 0x7C00);  // past the largest
  EXPECT_EQ(reduced<uint16_t>(Op::Add, Type::F16, 0x6800, 0x3C00), 0x6800);  // 2048 + 1: a tie, to even
  EXPECT_EQ(reduced<uint16_t>(Op::Add, Type::F16, 0x6801, 0x3C00), 0x6802);  // 2050 + 1: a tie, to even
  EXPECT_EQ(reduced<uint16_t>(Op::Add, Type::BF16, 0x0001, 0x0001), 0x0002); // subnormals
  EXPECT_EQ(reduced<uint16_t>(Op::Add, Type::BF16, 0x4380, 0x3F80), 0x4380); // 256 + 1: a tie, to even
  EXPECT_EQ(reduced<uint16_t>(Op::Add, Type::BF16, 0x3F80, 0xBF80), 0x0000); // 1 - 1
  EXPECT_EQ(reduced<uint16_t>(Op::Add, Type::BF16, 0x7F80, 0xFF80), 0x7FFF); // inf - inf
}

TEST(Reduction, ExtremesOfShortFloats) {
  for (Type type : {Type::F16, Type::BF16}) {
    auto value = [&](uint16_t bits) { return type == Type::F16 ? halfToFloat(bits) : bfloatToFloat(bits); };
    for (uint32_t a = 0; a < 0x10000; a += 89)
      for (uint32_t b = 0; b < 0x10000; b += 97) {
        auto x = static_cast<uint16_t>(a), y = static_cast<uint16_t>(b);
        float low = value(reduced<uint16_t>(Op::Min, type, x, y)), high = value(reduced<uint16_t>(Op::Max, type, x, y));
        if (std::isnan(value(x)) && std::isnan(value(y))) {
          ASSERT_TRUE(std::isnan(low) && std::isnan(high));
          continue;
        }
        ASSERT_EQ(low, std::fmin(value(x), value(y)));
        ASSERT_EQ(high, std::fmax(value(x), value(y)));
      }
  }
  EXPECT_EQ(reduced<uint16_t>(Op::Min, Type::F16, 0x0000, 0x8000), 0x8000);
  EXPECT_EQ(reduced<uint16_t>(Op::Max, Type::F16, 0x8000, 0x0000), 0x0000);
}

TEST(Reduction, SumsOfFloatsFlushSubnormals) {
  EXPECT_EQ(reduced<float>(Op::Add, Type::F32, 1.5f, 2.25f), 3.75f);
  EXPECT_EQ(reduced<uint32_t>(Op::Add, Type::F32, 0x00000001, 0x00800000), 0x00800000u); // an operand
  EXPECT_EQ(reduced<uint32_t>(Op::Add, Type::F32, 0x00800001, 0x80800000), 0x00000000u); // the result
  EXPECT_EQ(reduced<uint32_t>(Op::Add, Type::F32, 0x80000001, 0x80000001), 0x80000000u); // keeps its sign
  EXPECT_EQ(reduced<uint32_t>(Op::Add, Type::F32, 0x7F800000, 0xFF800000), 0x7FFFFFFFu);
  EXPECT_EQ(reduced<double>(Op::Add, Type::F64, 0x1p-1074, 0x1p-1074), 0x1p-1073);
}

/// The table of PTX ISA 9.7.9.25.4.2 and that of 9.7.9.27.1.3.
TEST(Reduction, ExistAsTheIsaSays) {
  const std::vector<Type> all = {Type::U32,  Type::S32, Type::U64, Type::S64, Type::F16,
                                 Type::BF16, Type::F32, Type::F64, Type::B32, Type::B64};
  auto count = [&](Op op, ReductionTarget target) {
    return std::count_if(all.begin(), all.end(), [&](Type type) { return exists({op, type}, target); });
  };
  EXPECT_EQ(count(Op::Add, ReductionTarget::Global), 7);
  EXPECT_EQ(count(Op::Add, ReductionTarget::Tensor), 6);
  EXPECT_EQ(count(Op::Add, ReductionTarget::Shared), 3);
  EXPECT_EQ(count(Op::Min, ReductionTarget::Global), 6);
  EXPECT_EQ(count(Op::Max, ReductionTarget::Tensor), 6);
  EXPECT_EQ(count(Op::Min, ReductionTarget::Shared), 2);
  for (ReductionTarget target : {ReductionTarget::Global, ReductionTarget::Shared, ReductionTarget::Tensor})
    EXPECT_EQ(count(Op::Inc, target), 1);
  EXPECT_EQ(count(Op::Xor, ReductionTarget::Global), 2);
  EXPECT_EQ(count(Op::Xor, ReductionTarget::Shared), 1);
}

TEST(Reduction, OfTheElementsOfATensorMap) {
  EXPECT_EQ(tensorReduction(Op::Add, ElementType::BF16)->type, Type::BF16);
  EXPECT_EQ(tensorReduction(Op::Max, ElementType::I64)->type, Type::S64);
  EXPECT_EQ(tensorReduction(Op::Xor, ElementType::I32)->type, Type::B32);
  EXPECT_FALSE(tensorReduction(Op::Add, ElementType::F64));
  EXPECT_FALSE(tensorReduction(Op::Add, ElementType::I64));
  EXPECT_FALSE(tensorReduction(Op::Add, ElementType::U8));
  EXPECT_FALSE(tensorReduction(Op::Inc, ElementType::I32));
  EXPECT_FALSE(tensorReduction(Op::And, ElementType::F32));
}

TEST(Reduction, Names) {
  EXPECT_EQ(reductionOpNamed("dec"), Op::Dec);
  EXPECT_FALSE(reductionOpNamed("sub"));
  EXPECT_EQ(reductionTypeNamed("s64"), Type::S64);
  EXPECT_FALSE(reductionTypeNamed("u16"));
  EXPECT_EQ(bytesOf(Type::BF16), 2);
  EXPECT_EQ(bytesOf(Type::B32), 4);
  EXPECT_EQ(bytesOf(Type::F64), 8);
}

} // namespace
