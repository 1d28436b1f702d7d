// The fragment maps of mma.sync and wgmma.
#include "headrace/Sim/Matrix/Fragments.h"

namespace headrace::sim {

namespace {

constexpr int kWarpRows = 16; // of the 64 rows of wgmma

/// Row of register or pair of elements `index` of a fragment: below 8 rows there is one, below 16 there are two.
int rowOf(int rows, int index, int lane) { return lane / 4 + (rows > 8 ? 8 * (index % 2) : 0); }

int depthOf(int perRegister, int index, int element, int lane) {
  return perRegister * (lane % 4) + element + 4 * perRegister * index;
}

} // namespace

MatrixPlace placeInA(int rows, int perRegister, int reg, int element, int lane) {
  return {rowOf(rows, reg, lane), depthOf(perRegister, rows > 8 ? reg / 2 : reg, element, lane)};
}

MatrixPlace placeInB(int perRegister, int reg, int element, int lane) {
  return {depthOf(perRegister, reg, element, lane), lane / 4};
}

MatrixPlace placeInC(int rows, int element, int lane) {
  return {rowOf(rows, element / 2, lane), 2 * (lane % 4) + element % 2 + 8 * (element / 4)};
}

MatrixPlace placeInWarpgroupD(int warp, int element, int lane) {
  MatrixPlace place = placeInC(kWarpRows, element, lane);
  return {kWarpRows * warp + place.row, place.column};
}

MatrixPlace placeInWarpgroupA(int warp, int perRegister, int reg, int element, int lane) {
  MatrixPlace place = placeInA(kWarpRows, perRegister, reg, element, lane);
  return {kWarpRows * warp + place.row, place.column};
}

int laneOfScaleA(int row, int selector) { return 4 * (row % 8) + 2 * selector + row / 8; }

int laneOfScaleB(int column, int selector) { return 4 * column + selector; }

} // namespace headrace::sim
