// Shapes of tcgen05.cp: PTX ISA 9.7.16.9.1.
#include "headrace/Sim/TensorMemory/CopyShapes.h"

#include <iterator>

namespace headrace::sim {

namespace {

struct ShapeInfo {
  const char *name;
  const char *multicast;
  int rows;
  int rowBytes;
};

constexpr ShapeInfo kShapes[] = {{"128x256b", "", 128, 32},
                                 {"128x128b", "", 128, 16},
                                 {"4x256b", "", 4, 32},
                                 {"64x128b", "warpx2::02_13", 64, 16},
                                 {"64x128b", "warpx2::01_23", 64, 16},
                                 {"32x128b", "warpx4", 32, 16}};

} // namespace

std::optional<CopyShape> copyShapeOf(std::string_view shape, std::string_view multicast) {
  for (int i = 0; i < static_cast<int>(std::size(kShapes)); ++i)
    if (shape == kShapes[i].name && multicast == kShapes[i].multicast)
      return static_cast<CopyShape>(i);
  return std::nullopt;
}

int rowsOf(CopyShape shape) { return kShapes[static_cast<int>(shape)].rows; }

int rowBytesOf(CopyShape shape) { return kShapes[static_cast<int>(shape)].rowBytes; }

std::vector<int> lanesOf(CopyShape shape, int row) {
  switch (shape) {
  case CopyShape::Full256:
  case CopyShape::Full128:
    return {row};
  case CopyShape::Four256:
    return {32 * row};
  case CopyShape::Half128Alternating:
    return {row, row + 64};
  case CopyShape::Half128Adjacent:
    return row < 32 ? std::vector<int>{row, row + 32} : std::vector<int>{row + 32, row + 64};
  case CopyShape::Quarter128:
    return {row, row + 32, row + 64, row + 96};
  }
  return {};
}

} // namespace headrace::sim
