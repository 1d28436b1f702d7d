// The byte maps of ldmatrix and stmatrix, and the packed formats.
#include "headrace/Sim/Matrix/MatrixRows.h"

namespace headrace::sim {

RowByte placeOfByte(MatrixMove move, int reg, int byte, int lane) {
  const int g = lane / 4, q = lane % 4;
  switch (move) {
  case MatrixMove::Rows16:
  case MatrixMove::Rows8:
    return {8 * reg + g, 4 * q + byte};
  case MatrixMove::Transposed16:
    return {8 * reg + 2 * q + byte / 2, 2 * g + byte % 2};
  case MatrixMove::Transposed8:
    return {16 * (reg / 2) + 4 * q + byte, g + 8 * (reg % 2)};
  case MatrixMove::StoredColumns8:
    return {8 * reg + 2 * q + byte % 2, g + 8 * (byte / 2)};
  }
  return {};
}

int rowsOf(MatrixMove move) { return move == MatrixMove::Transposed8 ? 16 : 8; }

int registersOf(MatrixMove move) { return move == MatrixMove::Transposed8 ? 2 : 1; }

int bytesOf(RowFormat format) { return format == RowFormat::Bytes ? 16 : format == RowFormat::Bits6 ? 12 : 8; }

MatrixRow expandRow(RowFormat format, const MatrixRow &packed) {
  if (format == RowFormat::Bytes)
    return packed;
  const int bits = bytesOf(format) / 2; // 16 elements of them
  MatrixRow result = {};
  for (int element = 0; element < 16; ++element) {
    int first = element * bits, byte = first / 8;
    // An element lies in two bytes at most. The one after the last is padding, of which no bit is kept.
    uint32_t two = packed[byte] | static_cast<uint32_t>(packed[byte + 1]) << 8;
    result[element] = static_cast<uint8_t>(two >> (first % 8) & ((1u << bits) - 1));
  }
  return result;
}

uint32_t transposedWord(const std::array<uint32_t, 32> &words, int lane) {
  const int column = lane / 4, row = 2 * (lane % 4);
  auto element = [&](int r) { return words[4 * r + column / 2] >> (16 * (column % 2)) & 0xFFFF; };
  return element(row) | element(row + 1) << 16;
}

} // namespace headrace::sim
