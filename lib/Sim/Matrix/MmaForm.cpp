// The opcodes of mma.sync. The table of forms is hardware.md 5.1.
#include "headrace/Sim/Matrix/MmaForm.h"

#include <algorithm>
#include <cstdlib>

namespace headrace::sim {

namespace {

/// A row of the table. Any two of `elements` go together as A and B where `mixes`, else only one and the same.
struct LegalForm {
  const char *kind; // as in the opcode, or ""
  std::vector<MatrixElement> elements;
  bool mixes;
  std::vector<MatrixShape> shapes;
  std::vector<std::string> accumulators;
};

const std::vector<LegalForm> &legalForms() {
  using E = MatrixElement;
  static const std::vector<LegalForm> forms = {
      {"", {E::F16}, false, {{16, 8, 8}, {16, 8, 16}}, {"f32", "f16"}},
      {"", {E::Bf16}, false, {{16, 8, 8}, {16, 8, 16}}, {"f32"}},
      {"", {E::Tf32}, false, {{16, 8, 4}, {16, 8, 8}}, {"f32"}},
      {"", {E::E4m3, E::E5m2}, true, {{16, 8, 16}, {16, 8, 32}}, {"f32", "f16"}},
      {"", {E::S8, E::U8}, true, {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}}, {"s32"}},
      {"", {E::S4, E::U4}, true, {{8, 8, 32}, {16, 8, 32}, {16, 8, 64}}, {"s32"}},
      {"", {E::B1}, false, {{8, 8, 128}, {16, 8, 128}, {16, 8, 256}}, {"s32"}},
      {"", {E::F64}, false, {{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}}, {"f64"}},
      {"f8f6f4", {E::E4m3, E::E5m2, E::E3m2, E::E2m3, E::E2m1}, true, {{16, 8, 32}}, {"f32", "f16"}},
      {"mxf8f6f4", {E::E4m3, E::E5m2, E::E3m2, E::E2m3, E::E2m1}, true, {{16, 8, 32}}, {"f32"}},
      {"mxf4", {E::E2m1}, false, {{16, 8, 64}}, {"f32"}},
      {"mxf4nvf4", {E::E2m1}, false, {{16, 8, 64}}, {"f32"}},
  };
  return forms;
}

template <typename T> bool contains(const std::vector<T> &values, const T &value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// The parts of an opcode, sorted by what they are.
struct Parts {
  std::string shape;
  std::vector<std::string> types; // D, A, B, C, and of scale factors
  std::string kind;
  std::string scaleVector; // "1X"
  bool blockScale = false;
  bool saturates = false;
  std::string bitOperation; // "xor" or "and"
  bool popc = false;
};

/// Takes in one part. Result: false where it is nothing that mma has.
bool take(Parts &parts, const std::string &part) {
  static const std::string kKind = "kind::", kScale = "scale_vec::";
  // .rn is what f64 does anyway; of layouts there is one choice.
  if (part == "sync" || part == "aligned" || part == "row" || part == "col" || part == "rn")
    return true;
  if (part.compare(0, kKind.size(), kKind) == 0)
    parts.kind = part.substr(kKind.size());
  else if (part.compare(0, kScale.size(), kScale) == 0)
    parts.scaleVector = part.substr(kScale.size());
  else if (part == "block_scale")
    parts.blockScale = true;
  else if (part == "satfinite")
    parts.saturates = true;
  else if (part == "xor" || part == "and")
    parts.bitOperation = part;
  else if (part == "popc")
    parts.popc = true;
  else if (matrixShapeNamed(part))
    parts.shape = part;
  else if (matrixElementNamed(part) || part == "f32" || part == "s32" || part == "ue8m0" || part == "ue4m3")
    parts.types.push_back(part);
  else
    return false;
  return true;
}

bool isLegal(const LegalForm &form, const Parts &parts, MatrixShape shape, MatrixElement a, MatrixElement b) {
  return parts.kind == form.kind && contains(form.elements, a) && contains(form.elements, b) &&
         (form.mixes || a == b) && contains(form.shapes, shape) && contains(form.accumulators, parts.types[0]) &&
         parts.types[3] == parts.types[0];
}

MmaAccumulator accumulatorOf(const Parts &parts) {
  const std::string &name = parts.types[0];
  if (name == "f16")
    return MmaAccumulator::F16;
  if (name == "f64")
    return MmaAccumulator::F64;
  if (name == "s32")
    return parts.saturates ? MmaAccumulator::S32Saturated : MmaAccumulator::S32;
  return MmaAccumulator::F32;
}

/// Fills in the block scaling (PTX ISA 9.7.14.5.14, table 36). Result: what is wrong, or "".
std::string readScaling(const Parts &parts, WarpMmaForm &form) {
  bool expected = parts.kind.compare(0, 2, "mx") == 0;
  if (!expected)
    return parts.blockScale || !parts.scaleVector.empty() || parts.types.size() != 4
               ? "expected no block scaling with this kind"
               : "";
  std::string vector = parts.scaleVector;
  if (vector.empty() && parts.kind != "mxf4nvf4")
    vector = parts.kind == "mxf4" ? "2X" : "1X";
  std::string type = parts.types.size() == 5 ? parts.types[4] : "";
  bool byte = vector == "1X" && parts.kind == "mxf8f6f4" && type == "ue8m0";
  bool pair = vector == "2X" && parts.kind != "mxf8f6f4" && type == "ue8m0";
  bool four = vector == "4X" && parts.kind == "mxf4nvf4" && type == "ue4m3";
  if (!parts.blockScale || !(byte || pair || four))
    return "expected .block_scale with 1X and ue8m0 (mxf8f6f4), 2X and ue8m0 (mxf4, mxf4nvf4) or 4X and ue4m3 "
           "(mxf4nvf4), got '" +
           vector + "' and '" + type + "'";
  form.scales = vector[0] - '0';
  form.fractionalScales = four;
  return "";
}

/// Fills in how elements lie in registers. Result: what is wrong, or "".
std::string readPacking(const Parts &parts, MatrixElement a, MatrixElement b, WarpMmaForm &form) {
  bool inBytes = parts.kind == "f8f6f4" || parts.kind == "mxf8f6f4";
  form.a = inBytes ? bytePacking(a) : densePacking(a);
  form.b = inBytes ? bytePacking(b) : densePacking(b);
  bool bits = a == MatrixElement::B1;
  if (parts.popc != bits || parts.bitOperation.empty() == bits)
    return "expected .xor.popc or .and.popc with b1 and only there";
  if (parts.bitOperation == "xor") {
    form.countsDifferences = true;
    form.a.element = form.b.element = MatrixElement::Xor1;
  }
  bool integers = a == MatrixElement::S8 || a == MatrixElement::U8 || a == MatrixElement::S4 || a == MatrixElement::U4;
  return parts.saturates && !integers ? "expected .satfinite only with 8- and 4-bit integers" : "";
}

} // namespace

std::optional<MatrixShape> matrixShapeNamed(const std::string &name) {
  int sizes[3];
  const char *at = name.c_str();
  for (int i = 0; i < 3; ++i) {
    if (*at != "mnk"[i] || at[1] < '1' || at[1] > '9')
      return std::nullopt;
    char *end = nullptr;
    sizes[i] = static_cast<int>(std::strtol(at + 1, &end, 10));
    at = end;
  }
  return *at ? std::nullopt : std::optional<MatrixShape>({sizes[0], sizes[1], sizes[2]});
}

std::optional<WarpMmaForm> parseMma(const std::vector<std::string> &opcode, std::string &error) {
  Parts parts;
  for (size_t i = 1; i < opcode.size(); ++i) {
    if (!take(parts, opcode[i])) {
      error = "expected a shape, a type or a modifier of dense mma, got '" + opcode[i] + "'";
      return std::nullopt;
    }
  }
  if (!contains<std::string>(opcode, "sync") || !contains<std::string>(opcode, "row") ||
      !contains<std::string>(opcode, "col") || parts.shape.empty() || parts.types.size() < 4) {
    error = "expected mma.sync with a shape, .row.col and four types";
    return std::nullopt;
  }
  std::optional<MatrixElement> a = matrixElementNamed(parts.types[1]), b = matrixElementNamed(parts.types[2]);
  MatrixShape shape = *matrixShapeNamed(parts.shape);
  const auto &forms = legalForms();
  if (!a || !b || std::none_of(forms.begin(), forms.end(), [&](const LegalForm &form) {
        return isLegal(form, parts, shape, *a, *b);
      })) {
    error = "no dense mma of " + parts.shape + " multiplies " + parts.types[1] + " and " + parts.types[2] + " into " +
            parts.types[0] + (parts.kind.empty() ? "" : " in kind " + parts.kind);
    return std::nullopt;
  }
  WarpMmaForm result;
  result.shape = shape;
  result.accumulator = accumulatorOf(parts);
  result.kind = parts.kind;
  error = readPacking(parts, *a, *b, result);
  if (error.empty())
    error = readScaling(parts, result);
  return error.empty() ? std::optional<WarpMmaForm>(result) : std::nullopt;
}

} // namespace headrace::sim
