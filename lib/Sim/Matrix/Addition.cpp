// Which instruction adds how.
#include "headrace/Sim/Matrix/Addition.h"

#include "headrace/Sim/Numerics/Float.h"

namespace headrace::sim {

namespace {

enum class Elements { Wide, Float8 }; // f16, bf16, tf32; e4m3, e5m2

struct MeasuredAddition {
  MatrixUnit unit;
  Elements elements;
  MmaAccumulator accumulator;
  int fraction;
  bool accumulatorLast;
};

// docs/hardware-findings.md, "Additions": each row explains all results of the probes `UNIT-adds-...`.
constexpr MeasuredAddition kMeasured[] = {
    {MatrixUnit::Mma, Elements::Wide, MmaAccumulator::F32, 25, false},
    {MatrixUnit::Mma, Elements::Wide, MmaAccumulator::F16, 25, false},
    {MatrixUnit::Mma, Elements::Float8, MmaAccumulator::F32, 25, true},
    {MatrixUnit::Wgmma, Elements::Wide, MmaAccumulator::F32, 25, false},
    {MatrixUnit::Wgmma, Elements::Wide, MmaAccumulator::F16, 25, false},
    {MatrixUnit::Wgmma, Elements::Float8, MmaAccumulator::F32, 13, false},
    {MatrixUnit::Wgmma, Elements::Float8, MmaAccumulator::F16, 13, false},
};

bool isIn(MatrixElement element, Elements elements) {
  switch (element) {
  case MatrixElement::F16:
  case MatrixElement::Bf16:
  case MatrixElement::Tf32:
    return elements == Elements::Wide;
  case MatrixElement::E4m3:
  case MatrixElement::E5m2:
    return elements == Elements::Float8;
  default:
    return false;
  }
}

int minExponentOf(MatrixElement element, bool asHalf) {
  switch (element) {
  case MatrixElement::E4m3:
    return asHalf ? kF16.minExponent() : kE4m3.minExponent();
  case MatrixElement::E5m2:
  case MatrixElement::F16:
    return kF16.minExponent();
  default:
    return kBf16.minExponent();
  }
}

} // namespace

Addition additionOf(MatrixUnit unit, MatrixElement a, MatrixElement b, MmaAccumulator accumulator, bool isPlain) {
  for (const MeasuredAddition &row : kMeasured)
    if (isPlain && row.unit == unit && row.accumulator == accumulator && isIn(a, row.elements) && isIn(b, row.elements))
      return {row.fraction, row.accumulatorLast, accumulator, minExponentOf(a, row.accumulatorLast),
              minExponentOf(b, row.accumulatorLast)};
  return {};
}

} // namespace headrace::sim
