// What an mma.sync opcode says: shape, types, scaling (PTX ISA 9.7.14.5.14; hardware.md 5.1).
#ifndef HEADRACE_SIM_MATRIX_MMAFORM_H
#define HEADRACE_SIM_MATRIX_MMAFORM_H

#include "headrace/Sim/Matrix/BlockProduct.h"
#include "headrace/Sim/Matrix/MatrixElements.h"

#include <optional>
#include <string>
#include <vector>

namespace headrace::sim {

struct MatrixShape {
  int m = 0;
  int n = 0;
  int k = 0;

  bool operator==(const MatrixShape &other) const { return m == other.m && n == other.n && k == other.k; }
};

/// Reads "m16n8k16".
std::optional<MatrixShape> matrixShapeNamed(const std::string &name);

struct WarpMmaForm {
  MatrixShape shape;
  WordPacking a;
  WordPacking b;
  MmaAccumulator accumulator = MmaAccumulator::F32;
  std::string kind;               // "f8f6f4", or ""
  bool countsDifferences = false; // .xor.popc; the elements are then Xor1
  int scales = 0;                 // factors of a row, each for k / scales elements; 0: not block-scaled
  bool fractionalScales = false;  // ue4m3, not ue8m0

  // Registers of a lane: of 32 bits, or of 64 in f64.
  int registersOfA() const { return shape.m / 8 * registersOfB(); }
  int registersOfB() const { return shape.k / (4 * a.perWord()); }
  int registersOfC() const { return shape.m / 8 * 2 / elementsPerRegisterOfC(); }
  int elementsPerRegisterOfC() const { return accumulator == MmaAccumulator::F16 ? 2 : 1; }
};

/// The form that an opcode (its parts, "mma" first) names. Modifiers may be in any order, as for ptxas.
/// Ensures: without a value, `error` says what was expected.
std::optional<WarpMmaForm> parseMma(const std::vector<std::string> &opcode, std::string &error);

} // namespace headrace::sim

#endif
