// Types of the elements of mma.sync and wgmma operands, and their values.
//
// double holds every value of these types, and the product of any two of them but F64, exactly.
#ifndef HEADRACE_SIM_MATRIX_MATRIXELEMENTS_H
#define HEADRACE_SIM_MATRIX_MATRIXELEMENTS_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace::sim {

/// Xor1: a bit that counts as +1 (clear) or -1 (set), so that the sum of k products is k - 2 * popc(a ^ b).
enum class MatrixElement : uint8_t { F16, Bf16, Tf32, F64, E4m3, E5m2, E3m2, E2m3, E2m1, S8, U8, S4, U4, B1, Xor1 };

/// The type that an opcode calls `name`: "bf16", "u4".
std::optional<MatrixElement> matrixElementNamed(std::string_view name);

/// How elements lie in 32-bit words, the first in the lowest bits: `bits` for each, the value above `shift` of them.
struct WordPacking {
  MatrixElement element = MatrixElement::F16;
  int bits = 16;
  int shift = 0;

  int perWord() const { return bits < 32 ? 32 / bits : 1; }
};

/// One beside the other.
WordPacking densePacking(MatrixElement element);
/// A byte for each, of which e2m1 takes the middle and the 6-bit types the low bits (PTX ISA 9.7.14.5.14).
WordPacking bytePacking(MatrixElement element);

/// The values in `count` words, perWord() of each. Requires: not F64.
void unpackWords(const WordPacking &packing, const uint32_t *words, int count, double *values);

} // namespace headrace::sim

#endif
