// Products that are added as a tensor core adds, against the same law in wide integers, and against results of a GPU of
// compute capability 9.0.
#include "headrace/Sim/Matrix/BlockProduct.h"
#include "headrace/Sim/Numerics/Float.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace headrace::sim;

namespace {

using Wide = __int128;

/// units * 2^scale, aligned by `exponent`.
struct Term {
  Wide units;
  int scale;
  int exponent;
};

Term termOf(double a, int minExponentOfA, double b = 1, int minExponentOfB = 0) {
  int first, second;
  auto x = static_cast<int64_t>(std::ldexp(std::frexp(a, &first), 24));
  auto y = static_cast<int64_t>(std::ldexp(std::frexp(b, &second), 24));
  return {Wide(x) * y, first + second - 48, std::max(first - 1, minExponentOfA) + std::max(second - 1, minExponentOfB)};
}

Wide cutTo(const Term &term, int scale) {
  int shift = term.scale - scale;
  Wide size = term.units < 0 ? -term.units : term.units;
  size = shift >= 0 ? size << shift : -shift < 127 ? size >> -shift : 0;
  return term.units < 0 ? -size : size;
}

/// The value of total * 2^scale, of which `fraction` bits stay below the first: the next to zero, or the nearest even.
double finish(Wide total, int scale, int fraction, int minExponent, bool rounds) {
  Wide size = total < 0 ? -total : total;
  int exponent = scale - 1;
  for (Wide rest = size; rest; rest >>= 1)
    ++exponent;
  int drop = std::max(exponent, minExponent) - fraction - scale;
  if (size && drop > 0) {
    Wide kept = size >> drop, rest = size - (kept << drop), half = Wide(1) << (drop - 1);
    if (rounds && (rest > half || (rest == half && kept % 2)))
      ++kept;
    size = kept;
    scale += drop;
  }
  double value = std::ldexp(static_cast<double>(size), scale);
  return size && total < 0 ? -value : value;
}

/// The law: what d = a * b + c is, as `addition` has it, from the products of some k.
double addSlowly(const Addition &addition, const std::vector<double> &a, const std::vector<double> &b,
                 const std::vector<int> &which, double c) {
  const bool isHalf = addition.accumulator == MmaAccumulator::F16;
  const int minExponent = isHalf ? -14 : -126;
  std::vector<Term> terms;
  for (int k : which)
    if (a[k] != 0 && b[k] != 0)
      terms.push_back(termOf(a[k], addition.minExponentOfA, b[k], addition.minExponentOfB));
  if (c != 0)
    terms.push_back(termOf(c, minExponent));
  if (terms.empty())
    return 0;
  int top = terms[0].exponent;
  for (const Term &term : terms)
    top = std::max(top, term.exponent);
  Wide total = 0;
  for (const Term &term : terms)
    total += cutTo(term, top - addition.fraction);
  return finish(total, top - addition.fraction, isHalf ? 10 : std::min(addition.fraction, 23), minExponent, isHalf);
}

double addSlowly(const Addition &addition, const std::vector<double> &a, const std::vector<double> &b, double c) {
  const int depth = static_cast<int>(a.size());
  std::vector<int> all, first, second;
  for (int k = 0; k < depth; ++k) {
    all.push_back(k);
    (k % 4 < 2 ? first : second).push_back(k);
  }
  if (!addition.accumulatorLast)
    return addSlowly(addition, a, b, all, c);
  return addSlowly(addition, a, b, second, addSlowly(addition, a, b, first, 0));
}

struct Case {
  const char *name;
  MatrixUnit unit;
  MatrixElement element;
  FloatFormat format;
  MmaAccumulator accumulator;
  int depth;
};

const Case kCases[] = {
    {"mma f16", MatrixUnit::Mma, MatrixElement::F16, kF16, MmaAccumulator::F32, 16},
    {"mma f16 into f16", MatrixUnit::Mma, MatrixElement::F16, kF16, MmaAccumulator::F16, 16},
    {"mma bf16", MatrixUnit::Mma, MatrixElement::Bf16, kBf16, MmaAccumulator::F32, 16},
    {"mma tf32", MatrixUnit::Mma, MatrixElement::Tf32, kTf32, MmaAccumulator::F32, 8},
    {"mma e4m3", MatrixUnit::Mma, MatrixElement::E4m3, kE4m3, MmaAccumulator::F32, 32},
    {"mma e5m2", MatrixUnit::Mma, MatrixElement::E5m2, kE5m2, MmaAccumulator::F32, 32},
    {"wgmma bf16", MatrixUnit::Wgmma, MatrixElement::Bf16, kBf16, MmaAccumulator::F32, 16},
    {"wgmma e4m3", MatrixUnit::Wgmma, MatrixElement::E4m3, kE4m3, MmaAccumulator::F32, 32},
    {"wgmma e4m3 into f16", MatrixUnit::Wgmma, MatrixElement::E4m3, kE4m3, MmaAccumulator::F16, 32},
    {"wgmma e5m2", MatrixUnit::Wgmma, MatrixElement::E5m2, kE5m2, MmaAccumulator::F32, 32},
};

Addition additionOf(const Case &entry) {
  return additionOf(entry.unit, entry.element, entry.element, entry.accumulator);
}

/// A value of `format` whose exponent is within `spread` of `center`, or 0, and subnormal where the format ends.
double draw(std::mt19937 &random, FloatFormat format, int center, int spread) {
  if (random() % 8 == 0)
    return random() % 2 ? 0.0 : -0.0;
  int exponent = center + static_cast<int>(random() % (2 * spread + 1)) - spread;
  int last = std::max(exponent, format.minExponent()) - format.fractionBits;
  double value = std::trunc(std::ldexp(1 + random() * 0x1p-32, exponent - last));
  return std::ldexp(random() % 2 ? value : -value, last);
}

void expectLaw(const Case &entry, std::mt19937 &random, int center, int spread) {
  const Addition addition = additionOf(entry);
  const FloatFormat ofC = entry.accumulator == MmaAccumulator::F16 ? kF16 : kF32;
  BlockProduct product(16, 16, entry.depth);
  for (double &value : product.a)
    value = draw(random, entry.format, center, spread);
  for (double &value : product.b)
    value = draw(random, entry.format, center, spread);
  std::vector<double> before;
  for (double &value : product.sums)
    before.push_back(value = draw(random, ofC, 2 * center, 2 * spread));
  product.multiply(addition);
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) {
      std::vector<double> a, b;
      for (int k = 0; k < entry.depth; ++k) {
        a.push_back(product.a[product.placeOfA(m, k)]);
        b.push_back(product.b[product.placeOfB(k, n)]);
      }
      double c = before[product.placeOfSum(m, n)], got = product.sums[product.placeOfSum(m, n)];
      ASSERT_EQ(got, addSlowly(addition, a, b, c)) << entry.name << ", row " << m << ", column " << n;
      ASSERT_FALSE(got == 0 && std::signbit(got));
    }
}

TEST(AlignedProduct, KeepsTheLawOnRandomNumbers) {
  std::mt19937 random(1);
  for (const Case &entry : kCases)
    for (int spread : {0, 1, 3, 6})
      for (int trial = 0; trial < 8; ++trial)
        expectLaw(entry, random, 0, spread);
}

TEST(AlignedProduct, KeepsTheLawAmongSubnormals) {
  std::mt19937 random(2);
  for (const Case &entry : kCases)
    for (int trial = 0; trial < 8; ++trial)
      expectLaw(entry, random, entry.format.exponentBits == 8 ? -70 : entry.format.minExponent() + 1, 4);
}

TEST(AlignedProduct, SumsOfSmallIntegersAreExact) {
  for (const Case &entry : kCases) {
    BlockProduct product(2, 8, entry.depth);
    std::fill(product.a.begin(), product.a.end(), 3);
    std::fill(product.b.begin(), product.b.end(), -2);
    std::fill(product.sums.begin(), product.sums.end(), 7);
    product.multiply(additionOf(entry));
    EXPECT_EQ(product.sums[0], -6 * entry.depth + (additionOf(entry).takesAccumulator() ? 7 : 0)) << entry.name;
  }
}

/// d, where a row of A has `a` and a column of B 1 at each k.
double sumOf(const Case &entry, const std::vector<double> &a, double c) {
  BlockProduct product(2, 8, entry.depth);
  std::copy(a.begin(), a.end(), product.a.begin());
  std::fill(product.b.begin(), product.b.end(), 1);
  product.sums[0] = c;
  product.multiply(additionOf(entry));
  return product.sums[0];
}

const Case &caseNamed(const std::string &name) {
  return *std::find_if(std::begin(kCases), std::end(kCases), [&](const Case &entry) { return entry.name == name; });
}

// Results of the probes UNIT-adds-TYPE-ACCUMULATOR (docs/hardware-findings.md).
TEST(AlignedProduct, CutsAsTheGpu) {
  const Case &bf16 = caseNamed("mma bf16");
  EXPECT_EQ(sumOf(bf16, {1, 0x1p-25, -1}, 0), 0x1p-25);
  EXPECT_EQ(sumOf(bf16, {1, 0x1p-26, -1}, 0), 0);
  EXPECT_EQ(sumOf(bf16, {1, 0x1.8p-25, -1}, 0), 0x1p-25);
  EXPECT_EQ(sumOf(bf16, {1, -1}, 0x1p-26), 0);
  EXPECT_EQ(sumOf(bf16, {0x1p-23, 0x1p-24}, 1), 1 + 0x1p-23); // where rounding would go up
  EXPECT_EQ(sumOf(bf16, {-0x1p-23, -0x1p-24}, -1), -1 - 0x1p-23);
  const Case &e4m3 = caseNamed("wgmma e4m3");
  EXPECT_EQ(sumOf(e4m3, {64, 0x1p-7, -64}, 0), 0x1p-7);
  EXPECT_EQ(sumOf(e4m3, {64, 0x1p-8, -64}, 0), 0);
  EXPECT_EQ(sumOf(e4m3, {0}, 3 * 0x1p-149), 0);
}

TEST(AlignedProduct, HalvesAreRounded) {
  const Case &half = caseNamed("mma f16 into f16");
  EXPECT_EQ(sumOf(half, {0x1p-10, 0x1p-11}, 1), 1 + 0x1p-9);
  EXPECT_EQ(sumOf(half, {0x1p-11}, 1), 1);
  EXPECT_EQ(sumOf(half, {65504, 65504}, 0), INFINITY);
}

TEST(AlignedProduct, FloatsBeyondTheRangeAreInfinite) {
  EXPECT_EQ(sumOf(caseNamed("mma bf16"), {0x1p125}, 0x1.fffffep127), INFINITY);
  EXPECT_EQ(sumOf(caseNamed("mma bf16"), {-0x1p125}, -0x1.fffffep127), -INFINITY);
}

TEST(AlignedProduct, SpecialNumbersStayInTheirRowsAndColumns) {
  const Case &entry = caseNamed("wgmma bf16");
  BlockProduct product(4, 8, entry.depth);
  std::fill(product.a.begin(), product.a.end(), 1);
  std::fill(product.b.begin(), product.b.end(), 1);
  product.a[product.placeOfA(1, 3)] = INFINITY;
  product.b[product.placeOfB(5, 2)] = NAN;
  product.sums[product.placeOfSum(1, 4)] = -INFINITY;
  product.sums[product.placeOfSum(3, 7)] = -INFINITY;
  product.sums[product.placeOfSum(0, 0)] = 0x1p-24;
  product.multiply(additionOf(entry));
  EXPECT_EQ(product.sums[product.placeOfSum(0, 0)], 16);
  EXPECT_EQ(product.sums[product.placeOfSum(1, 0)], INFINITY);
  EXPECT_TRUE(std::isnan(product.sums[product.placeOfSum(1, 4)]));
  EXPECT_TRUE(std::isnan(product.sums[product.placeOfSum(3, 2)]));
  EXPECT_EQ(product.sums[product.placeOfSum(3, 7)], -INFINITY);
}

TEST(AdditionOf, IsExactWhereNothingWasMeasured) {
  using E = MatrixElement;
  EXPECT_TRUE(additionOf(MatrixUnit::Mma, E::S8, E::U8, MmaAccumulator::S32).isExact());
  EXPECT_TRUE(additionOf(MatrixUnit::Mma, E::F64, E::F64, MmaAccumulator::F64).isExact());
  EXPECT_TRUE(additionOf(MatrixUnit::Mma, E::E2m1, E::E4m3, MmaAccumulator::F32).isExact());
  EXPECT_TRUE(additionOf(MatrixUnit::Mma, E::E4m3, E::E4m3, MmaAccumulator::F16).isExact());
  EXPECT_TRUE(additionOf(MatrixUnit::Mma, E::E4m3, E::E4m3, MmaAccumulator::F32, false).isExact());
  EXPECT_EQ(additionOf(MatrixUnit::Wgmma, E::E4m3, E::E5m2, MmaAccumulator::F32).fraction, 13);
}

} // namespace
