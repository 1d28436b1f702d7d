// Which rows of shared memory tcgen05.cp brings to which lanes (PTX ISA 9.7.16.9.1).
//
//   shape               rows   columns  row r goes to lanes
//   128x256b            128    8        r
//   128x128b            128    4        r
//   4x256b              4      8        32 r
//   64x128b 02_13       64     4        r, r + 64
//   64x128b 01_23       64     4        r and r + 32 for r < 32; r + 32 and r + 64 else
//   32x128b warpx4      32     4        r, r + 32, r + 64, r + 96
#ifndef HEADRACE_SIM_TENSORMEMORY_COPYSHAPES_H
#define HEADRACE_SIM_TENSORMEMORY_COPYSHAPES_H

#include <optional>
#include <string_view>
#include <vector>

namespace headrace::sim {

enum class CopyShape { Full256, Full128, Four256, Half128Alternating, Half128Adjacent, Quarter128 };

/// The shape of "64x128b" with its multicast "warpx2::02_13", or "" without one.
std::optional<CopyShape> copyShapeOf(std::string_view shape, std::string_view multicast);
int rowsOf(CopyShape shape);
/// Bytes of a row: 16 or 32.
int rowBytesOf(CopyShape shape);
/// Lanes that get row `row`, behind the lane of the address.
std::vector<int> lanesOf(CopyShape shape, int row);

} // namespace headrace::sim

#endif
