// Accumulator layouts A to G: PTX ISA 9.7.16.10.5.
#include "headrace/Sim/TensorMemory/AccumulatorLayout.h"

namespace headrace::sim {

namespace {

/// Lanes that a part of the columns occupies: with few rows the columns are cut to fill the 128 lanes.
struct Layout {
  int rowsPerCta = 128;
  int parts = 1;
};

Layout layoutOf(int ctaGroup, bool weightStationary, int m) {
  if (ctaGroup == 2)
    return {m / 2, m == 128 ? 2 : 1};
  return {m, weightStationary ? 128 / m : 1};
}

} // namespace

bool mayStartAtLane16(int ctaGroup, bool weightStationary, int m) {
  return ctaGroup == 1 && !weightStationary && m == 64;
}

std::vector<AccumulatorRun> accumulatorRuns(int ctaGroup, bool weightStationary, int m, int n) {
  const Layout layout = layoutOf(ctaGroup, weightStationary, m);
  const bool everyOther16 = mayStartAtLane16(ctaGroup, weightStationary, m);
  const int count = n / layout.parts;
  std::vector<AccumulatorRun> runs;
  runs.reserve(m * layout.parts);
  for (int row = 0; row < m; ++row) {
    int inCta = row % layout.rowsPerCta;
    int lane = everyOther16 ? inCta / 16 * 32 + inCta % 16 : inCta;
    for (int part = 0; part < layout.parts; ++part)
      runs.push_back({row, part * count, count, row / layout.rowsPerCta, lane + part * layout.rowsPerCta});
  }
  return runs;
}

} // namespace headrace::sim
