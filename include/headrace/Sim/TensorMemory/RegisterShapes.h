// Which word of tensor memory is which register of which lane in tcgen05.ld and tcgen05.st (PTX ISA 9.7.16.8.1).
//
//   shape      rows  registers  row                          column
//   32x32b     32    N          t                            j
//   16x64b     16    N          t / 4 + 8 (t % 2)            2 j + t / 2 % 2
//   16x128b    16    2 N        t / 4 + 8 (j % 2)            t % 4 + 4 (j / 2)
//   16x256b    16    4 N        t / 4 + 8 (j / 2 % 2)        2 (t % 4) + j % 2 + 8 (j / 4)
//   16x32bx2   16    N          t % 16                       j, and j + immediate in lanes 16 to 31
//
// for lane t and register j at `.xN`. With 16-bit packing a register is the low halves of two columns, 2 c and 2 c + 1
// where the table says c.
#ifndef HEADRACE_SIM_TENSORMEMORY_REGISTERSHAPES_H
#define HEADRACE_SIM_TENSORMEMORY_REGISTERSHAPES_H

#include <optional>
#include <string_view>
#include <vector>

namespace headrace::sim {

enum class RegisterShape { Lanes32, Bits64, Bits128, Bits256, Split32 };

/// The shape of "32x32b" and the like.
std::optional<RegisterShape> registerShapeOf(std::string_view name);
/// 16 or 32: the address must name a lane that is a multiple of it.
int rowsOf(RegisterShape shape);
/// Registers of a lane at `.x<repeats>`; 0 where the ISA has no such number of repeats.
int registersOf(RegisterShape shape, int repeats);

struct RegisterPlace {
  int row = 0;    // behind the lane of the address
  int column = 0; // behind the column of the address
};

/// `split`: the immediate of 16x32bx2.
RegisterPlace registerPlace(RegisterShape shape, int lane, int reg, int split = 0);

/// A stretch of columns in one row.
struct ColumnRun {
  int row = 0;
  int column = 0;
  int count = 0;
};

/// What an access at `.x<repeats>` touches, in as few runs as can be: row by row, columns ascending. `packed`: with
/// .pack or .unpack, twice as many columns.
std::vector<ColumnRun> touchedColumns(RegisterShape shape, int repeats, int split, bool packed);

} // namespace headrace::sim

#endif
