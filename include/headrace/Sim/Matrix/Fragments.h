// Which element of a matrix a lane has in which register: the fragments of mma.sync (PTX ISA 9.7.14.5) and of wgmma
// (9.7.15.5.1.1).
//
// All of them follow one scheme. With g = lane / 4, q = lane % 4 and e elements in a register,
//
//   A (M x K)   element i of register r:   row g + 8 * (r % 2)     k = e * q + i + 4 * e * (r / 2)
//   B (K x N)   element i of register r:   column g                k = e * q + i + 4 * e * r
//   C (M x N)   element i of a lane:       row g + 8 * (i / 2 % 2) column 2 * q + i % 2 + 8 * (i / 4)
//
// where a shape of 8 rows has no registers of rows 8 and up. In wgmma, warp w has rows 16 * w and up.
#ifndef HEADRACE_SIM_MATRIX_FRAGMENTS_H
#define HEADRACE_SIM_MATRIX_FRAGMENTS_H

#include <vector>

namespace headrace::sim {

struct MatrixPlace {
  int row = 0;
  int column = 0;
};

/// Of A, in a matrix of `rows` (8 or 16): `perRegister` elements in a register; (row, k).
MatrixPlace placeInA(int rows, int perRegister, int reg, int element, int lane);
/// Of B; (k, column).
MatrixPlace placeInB(int perRegister, int reg, int element, int lane);
/// Of C and D, in a matrix of `rows` (8 or 16); `element` counts those of a lane, however many a register holds.
MatrixPlace placeInC(int rows, int element, int lane);
/// Of D of wgmma, in `warp` of the warpgroup.
MatrixPlace placeInWarpgroupD(int warp, int element, int lane);
/// Of A of wgmma, in four registers; (row, k).
MatrixPlace placeInWarpgroupA(int warp, int perRegister, int reg, int element, int lane);

/// The lane whose scale factors belong to a row of A (a column of B) in block-scaled mma.sync with this thread-id
/// selector. Requires: selector 0 or 1 for A, 0 to 3 for B.
int laneOfScaleA(int row, int selector);
int laneOfScaleB(int column, int selector);

} // namespace headrace::sim

#endif
