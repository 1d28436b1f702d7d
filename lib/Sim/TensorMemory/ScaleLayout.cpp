// Scale factors in tensor memory: PTX ISA 9.7.16.10.7.
#include "headrace/Sim/TensorMemory/ScaleLayout.h"

namespace headrace::sim {

namespace {
constexpr int kGroup = 32; // lanes that hold one column's factors
}

ScalePlace scalePlace(int row) { return {row % kGroup, row / kGroup}; }

ScalePlace splitScalePlace(int n, int numColumns) {
  const int half = numColumns / 2;
  ScalePlace place = scalePlace(n % half);
  place.lane += n / half * (2 * kGroup);
  place.copies = kScaleReplicas / 2;
  return place;
}

} // namespace headrace::sim
