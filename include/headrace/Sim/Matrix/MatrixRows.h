// What ldmatrix, stmatrix and movmatrix do with rows of 16 bytes (PTX ISA 9.7.14.5.15-17).
//
// A matrix is rows in shared memory, each at an address that some lane supplies, and four bytes in a register of each
// lane. With g = lane / 4, q = lane % 4, and M[row][byte]:
//
//   Rows16          m8n8 b16           byte i of register j is M_j[g][4q + i]
//   Transposed16    m8n8 b16 .trans    16-bit element i of register j is element g of row 2q + i of M_j
//   Rows8           m8n16 b8x16        byte i of register j is M_j[g][4q + i]
//   Transposed8     m16n16 b8 .trans   byte i of register 2j + h is M_j[4q + i][g + 8h]
//   StoredColumns8  m16n8 b8 .trans    byte i of register j is M_j[2q + i % 2][g + 8 * (i / 2)]
#ifndef HEADRACE_SIM_MATRIX_MATRIXROWS_H
#define HEADRACE_SIM_MATRIX_MATRIXROWS_H

#include <array>
#include <cstdint>

namespace headrace::sim {

enum class MatrixMove { Rows16, Transposed16, Rows8, Transposed8, StoredColumns8 };

/// Where a byte of a register is: `row` counts over all matrices, and is the number of the lane that supplies it.
struct RowByte {
  int row = 0;
  int byte = 0;
};
RowByte placeOfByte(MatrixMove move, int reg, int byte, int lane);
/// Of one matrix.
int rowsOf(MatrixMove move);
int registersOf(MatrixMove move);

/// A row as it lies in a register file, a byte for an element.
using MatrixRow = std::array<uint8_t, 16>;

/// How a row lies in shared memory: 16 bytes of 8 or 16-bit elements, or 16 smaller elements at its start, the rest of
/// the 16 bytes padding.
enum class RowFormat { Bytes, Bits6, Bits4 };
/// Bytes that are not padding.
int bytesOf(RowFormat format);
/// Each element in the low bits of its byte.
MatrixRow expandRow(RowFormat format, const MatrixRow &packed);

/// Register of lane `lane` in the transpose of the 8 x 8 matrix whose registers are `words`.
uint32_t transposedWord(const std::array<uint32_t, 32> &words, int lane);

} // namespace headrace::sim

#endif
