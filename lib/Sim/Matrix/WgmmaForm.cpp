// The opcodes of wgmma.mma_async. The table of forms is hardware.md 6.1.
#include "headrace/Sim/Matrix/WgmmaForm.h"

#include <algorithm>

namespace headrace::sim {

namespace {

bool isFloat8(MatrixElement element) { return element == MatrixElement::E4m3 || element == MatrixElement::E5m2; }
bool isInteger8(MatrixElement element) { return element == MatrixElement::S8 || element == MatrixElement::U8; }

/// Whether A, B and D of these types go together (PTX ISA 9.7.15.3).
bool typesMatch(MatrixElement a, MatrixElement b, const std::string &d) {
  switch (a) {
  case MatrixElement::F16:
    return a == b && (d == "f32" || d == "f16");
  case MatrixElement::Bf16:
  case MatrixElement::Tf32:
    return a == b && d == "f32";
  case MatrixElement::E4m3:
  case MatrixElement::E5m2:
    return isFloat8(b) && (d == "f32" || d == "f16");
  case MatrixElement::S8:
  case MatrixElement::U8:
    return isInteger8(b) && d == "s32";
  case MatrixElement::B1:
    return a == b && d == "s32";
  default:
    return false;
  }
}

/// Whether there is an instruction of this shape: N steps by 8, from 32 on by 16 in integers.
bool shapeMatches(const MatrixShape &shape, int bits, bool integers) {
  bool n = shape.n % 8 == 0 && shape.n >= 8 && shape.n <= 256 && (!integers || shape.n <= 24 || shape.n % 16 == 0);
  return shape.m == WgmmaForm::kRows && n && shape.k * bits == WgmmaForm::kStepBytes * 8;
}

struct WgmmaParts {
  std::string shape;
  std::vector<std::string> types; // D, A, B
  bool saturates = false;
  bool counts = false; // .and.popc
};

/// Reads the parts after "wgmma.mma_async". Result: what is wrong, or "".
std::string readParts(const std::vector<std::string> &opcode, WgmmaParts &parts) {
  bool conjunction = false, popc = false;
  for (size_t i = 2; i < opcode.size(); ++i) {
    const std::string &part = opcode[i];
    if (part == "sync" || part == "aligned")
      continue;
    if (part == "satfinite")
      parts.saturates = true;
    else if (part == "and")
      conjunction = true;
    else if (part == "popc")
      popc = true;
    else if (matrixShapeNamed(part))
      parts.shape = part;
    else if (matrixElementNamed(part) || part == "f32" || part == "s32")
      parts.types.push_back(part);
    else
      return "expected a shape, a type or a modifier of dense wgmma, got '" + part + "'";
  }
  parts.counts = conjunction && popc;
  if (conjunction != popc || parts.shape.empty() || parts.types.size() != 3)
    return "expected wgmma.mma_async with a shape and three types, and .and.popc or neither";
  return "";
}

} // namespace

std::optional<WgmmaForm> parseWgmma(const std::vector<std::string> &opcode, std::string &error) {
  WgmmaParts parts;
  error = readParts(opcode, parts);
  if (!error.empty())
    return std::nullopt;
  const std::string &d = parts.types[0];
  std::optional<MatrixElement> a = matrixElementNamed(parts.types[1]), b = matrixElementNamed(parts.types[2]);
  WgmmaForm form;
  form.shape = *matrixShapeNamed(parts.shape);
  bool integers = d == "s32";
  if (!a || !b || !typesMatch(*a, *b, d) || !shapeMatches(form.shape, densePacking(*a).bits, integers)) {
    error = "no wgmma of " + parts.shape + " multiplies " + parts.types[1] + " and " + parts.types[2] + " into " + d;
    return std::nullopt;
  }
  bool bits = *a == MatrixElement::B1;
  if (bits != parts.counts || (parts.saturates && !isInteger8(*a))) {
    error = "expected .and.popc with b1 and only there, .satfinite only with 8-bit integers";
    return std::nullopt;
  }
  form.a = densePacking(*a);
  form.b = densePacking(*b);
  form.accumulator = d == "f16"        ? MmaAccumulator::F16
                     : !integers       ? MmaAccumulator::F32
                     : parts.saturates ? MmaAccumulator::S32Saturated
                                       : MmaAccumulator::S32;
  return form;
}

} // namespace headrace::sim
