// What a wgmma.mma_async opcode says: shape and types (PTX ISA 9.7.15.5.2; hardware.md 6.1).
#ifndef HEADRACE_SIM_MATRIX_WGMMAFORM_H
#define HEADRACE_SIM_MATRIX_WGMMAFORM_H

#include "headrace/Sim/Matrix/MmaForm.h"

#include <optional>
#include <string>
#include <vector>

namespace headrace::sim {

struct WgmmaForm {
  static constexpr int kRows = 64;
  static constexpr int kStepBytes = 32; // of K, in one instruction
  static constexpr int kRegistersOfA = 4;

  MatrixShape shape;
  WordPacking a;
  WordPacking b;
  MmaAccumulator accumulator = MmaAccumulator::F32;

  bool isFloat() const { return accumulator == MmaAccumulator::F32 || accumulator == MmaAccumulator::F16; }
  /// imm-scale-a and imm-scale-b.
  bool hasSigns() const { return isFloat(); }
  /// imm-trans-a and imm-trans-b.
  bool hasTransposes() const { return a.bits == 16; }
  int elementsPerRegisterOfD() const { return accumulator == MmaAccumulator::F16 ? 2 : 1; }
  int registersOfD() const { return shape.n / 2 / elementsPerRegisterOfD(); }
};

/// The form that an opcode (its parts, "wgmma" first) names.
/// Ensures: without a value, `error` says what was expected.
std::optional<WgmmaForm> parseWgmma(const std::vector<std::string> &opcode, std::string &error);

} // namespace headrace::sim

#endif
