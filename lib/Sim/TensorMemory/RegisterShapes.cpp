// Shapes of tcgen05.ld and tcgen05.st: PTX ISA 9.7.16.8.1.
#include "headrace/Sim/TensorMemory/RegisterShapes.h"

#include <set>

namespace headrace::sim {

namespace {

struct ShapeInfo {
  const char *name;
  int rows;
  int registersPerRepeat;
  int maxRepeats;
};

constexpr ShapeInfo kShapes[] = {{"32x32b", 32, 1, 128},
                                 {"16x64b", 16, 1, 128},
                                 {"16x128b", 16, 2, 64},
                                 {"16x256b", 16, 4, 32},
                                 {"16x32bx2", 16, 1, 128}};

const ShapeInfo &infoOf(RegisterShape shape) { return kShapes[static_cast<int>(shape)]; }

} // namespace

std::optional<RegisterShape> registerShapeOf(std::string_view name) {
  for (int i = 0; i < static_cast<int>(std::size(kShapes)); ++i)
    if (name == kShapes[i].name)
      return static_cast<RegisterShape>(i);
  return std::nullopt;
}

int rowsOf(RegisterShape shape) { return infoOf(shape).rows; }

int registersOf(RegisterShape shape, int repeats) {
  const ShapeInfo &info = infoOf(shape);
  bool isPowerOfTwo = repeats > 0 && (repeats & (repeats - 1)) == 0;
  return isPowerOfTwo && repeats <= info.maxRepeats ? repeats * info.registersPerRepeat : 0;
}

RegisterPlace registerPlace(RegisterShape shape, int lane, int reg, int split) {
  switch (shape) {
  case RegisterShape::Lanes32:
    return {lane, reg};
  case RegisterShape::Bits64:
    return {lane / 4 + 8 * (lane % 2), 2 * reg + lane / 2 % 2};
  case RegisterShape::Bits128:
    return {lane / 4 + 8 * (reg % 2), lane % 4 + 4 * (reg / 2)};
  case RegisterShape::Bits256:
    return {lane / 4 + 8 * (reg / 2 % 2), 2 * (lane % 4) + reg % 2 + 8 * (reg / 4)};
  case RegisterShape::Split32:
    return {lane % 16, reg + lane / 16 * split};
  }
  return {};
}

std::vector<ColumnRun> touchedColumns(RegisterShape shape, int repeats, int split, bool packed) {
  std::set<std::pair<int, int>> words; // (row, column)
  const int width = packed ? 2 : 1;
  for (int lane = 0; lane < 32; ++lane)
    for (int reg = 0; reg < registersOf(shape, repeats); ++reg) {
      RegisterPlace place = registerPlace(shape, lane, reg, split);
      for (int i = 0; i < width; ++i)
        words.insert({place.row, place.column * width + i});
    }
  std::vector<ColumnRun> runs;
  for (auto [row, column] : words) {
    if (!runs.empty() && runs.back().row == row && runs.back().column + runs.back().count == column)
      ++runs.back().count;
    else
      runs.push_back({row, column, 1});
  }
  return runs;
}

} // namespace headrace::sim
