// Instruction descriptors of tcgen05.mma: fields (PTX ISA 9.7.16.4.2) and legal shapes (9.7.16.2.1).
#include "headrace/Sim/TensorMemory/InstructionDescriptor.h"

#include <initializer_list>

namespace headrace::sim {

namespace {

struct KindInfo {
  MmaKind kind;
  const char *name;
  int depth;
};

constexpr KindInfo kKinds[] = {{MmaKind::F16, "f16", 16},           {MmaKind::Tf32, "tf32", 8},
                               {MmaKind::F8f6f4, "f8f6f4", 32},     {MmaKind::I8, "i8", 32},
                               {MmaKind::Mxf8f6f4, "mxf8f6f4", 32}, {MmaKind::Mxf4, "mxf4", 64},
                               {MmaKind::Mxf4nvf4, "mxf4nvf4", 64}};

const KindInfo &infoOf(MmaKind kind) { return kKinds[static_cast<int>(kind)]; }

uint32_t field(uint32_t bits, int high, int low) { return bits >> low & ((2u << (high - low)) - 1); }

bool isOneOf(int value, std::initializer_list<int> values) {
  for (int candidate : values)
    if (candidate == value)
      return true;
  return false;
}

std::string hexOf(uint32_t bits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4)
    text += kDigits[bits >> shift & 15];
  return text;
}

/// Reads the fields one after the other; the first rule that is broken becomes the error.
class FieldReader {
public:
  FieldReader(const MmaForm &form, uint32_t bits, std::string &error) : form(form), bits(bits), error(error) {}

  InstructionDescriptor result;

  bool read() {
    error.clear();
    if (!isZero(2, 2, "dense"))
      return false;
    return (isBlockScaled(form.kind) ? readScaled() : readPlain()) && readOperands() && readShape();
  }

private:
  bool fail(const std::string &message) {
    error = "instruction descriptor " + hexOf(bits) + " of kind::" + nameOf(form.kind) + ": " + message;
    return false;
  }

  bool isZero(int high, int low, const char *why) {
    if (field(bits, high, low) == 0)
      return true;
    std::string which =
        high == low ? "bit " + std::to_string(low) : "bits " + std::to_string(high) + ":" + std::to_string(low);
    return fail("expected " + which + " to be 0 (" + why + "), got " + std::to_string(field(bits, high, low)));
  }

  bool readPlain() {
    result.saturate = field(bits, 3, 3);
    if (result.saturate && form.kind != MmaKind::I8)
      return fail("only kind::i8 saturates, bit 3 is 1");
    if (!isZero(1, 0, "no sparsity") || !isZero(6, 6, "reserved") || !isZero(23, 23, "reserved") ||
        !isZero(29, 29, "reserved") || !isZero(31, 30, form.weightStationary ? "shifted B is not modelled" : "no .ws"))
      return false;
    return readAccumulatorType(static_cast<int>(field(bits, 5, 4)));
  }

  bool readAccumulatorType(int code) {
    const bool half = form.kind == MmaKind::F16 || form.kind == MmaKind::F8f6f4;
    if (form.kind == MmaKind::I8 ? code != 2 : code != 1 && !(half && code == 0))
      return fail("no accumulator type has the code " + std::to_string(code));
    result.d = static_cast<AccumulatorType>(code);
    if (result.d == AccumulatorType::F16 && form.kind == MmaKind::F16 && field(bits, 12, 7) != 0)
      return fail("an f16 accumulator needs f16 operands");
    return true;
  }

  bool readScaled() {
    result.b.scaleByte = static_cast<int>(field(bits, 5, 4));
    result.a.scaleByte = static_cast<int>(field(bits, 30, 29));
    result.scalesAreUe8m0 = field(bits, 23, 23);
    if (!isZero(1, 0, "no sparsity") || !isZero(3, 3, "reserved") || !isZero(6, 6, "reserved") ||
        !isZero(26, 24, "M is 128 or 256") || !isZero(31, 31, "K = 96 is not modelled"))
      return false;
    if (isPackedFp4(form.kind) && (!isZero(12, 12, "reserved") || !isZero(16, 15, "both operands contiguous along K")))
      return false;
    if (!result.scalesAreUe8m0 && form.scales != 4)
      return fail("expected ue8m0 scale factors (bit 23), ue4m3 needs .block16");
    // The factors of a row are consecutive bytes of one word.
    for (int byte : {result.a.scaleByte, result.b.scaleByte})
      if (byte % form.scales != 0)
        return fail(std::to_string(form.scales) + " scale factors cannot start at byte " + std::to_string(byte));
    return true;
  }

  bool readOperands() {
    result.a.negated = field(bits, 13, 13);
    result.b.negated = field(bits, 14, 14);
    result.a.mnMajor = field(bits, 15, 15);
    result.b.mnMajor = field(bits, 16, 16);
    if (form.kind == MmaKind::I8 && (result.a.negated || result.b.negated))
      return fail("kind::i8 negates no operand");
    if (result.a.mnMajor && form.aInTensorMemory)
      return fail("matrix A in tensor memory cannot be transposed, bit 15 is 1");
    return readType("A", static_cast<int>(field(bits, 9, 7)), result.a) &&
           readType("B", static_cast<int>(field(bits, 12, 10)), result.b);
  }

  bool readType(const char *name, int code, MmaOperandFields &operand) {
    std::optional<MatrixElement> type = typeOf(code);
    if (!type)
      return fail(std::string("no type of ") + name + " has the code " + std::to_string(code));
    operand.type = *type;
    if (operand.mnMajor && widthOf(*type) < 8)
      return fail(std::string(nameOf(*type)) + " must be contiguous along K");
    return true;
  }

  std::optional<MatrixElement> typeOf(int code) const {
    switch (form.kind) {
    case MmaKind::F16:
      if (code <= 1)
        return code ? MatrixElement::Bf16 : MatrixElement::F16;
      break;
    case MmaKind::Tf32:
      if (code == 2)
        return MatrixElement::Tf32;
      break;
    case MmaKind::I8:
      if (code <= 1)
        return code ? MatrixElement::S8 : MatrixElement::U8;
      break;
    case MmaKind::F8f6f4:
    case MmaKind::Mxf8f6f4:
      if (code == 0 || code == 1)
        return code ? MatrixElement::E5m2 : MatrixElement::E4m3;
      if (code >= 3 && code <= 5)
        return code == 3 ? MatrixElement::E2m3 : code == 4 ? MatrixElement::E3m2 : MatrixElement::E2m1;
      break;
    case MmaKind::Mxf4:
    case MmaKind::Mxf4nvf4:
      if (code == 1)
        return MatrixElement::E2m1;
      break;
    }
    return std::nullopt;
  }

  bool readShape() {
    result.m = static_cast<int>(field(bits, 28, 24)) * 16;
    result.n = static_cast<int>(field(bits, 22, 17)) * 8;
    result.k = depthOf(form.kind);
    if (isLegalShape())
      return true;
    return fail("no shape of cta_group::" + std::to_string(form.ctaGroup) + (form.weightStationary ? " with .ws" : "") +
                " is M = " + std::to_string(result.m) + ", N = " + std::to_string(result.n));
  }

  bool isLegalShape() const {
    const int m = result.m, n = result.n;
    if (form.weightStationary)
      return isOneOf(m, {32, 64, 128}) && isOneOf(n, {64, 128, 256});
    if (n == 0 || n > 256)
      return false;
    if (form.ctaGroup == 2)
      return isOneOf(m, {128, 256}) && n % pairColumns() == 0;
    if (isBlockScaled(form.kind) ? m != 128 : !isOneOf(m, {64, 128}))
      return false;
    // The ISA's table has N in steps of 8 also for M = 128; CUTLASS and DeepGEMM take steps of 16 only.
    return n % 16 == 0 || (m == 64 && n % 8 == 0 && !needs16() && (form.kind != MmaKind::I8 || n <= 24));
  }

  /// 8-bit B that is contiguous along N needs N a multiple of 16 (9.7.16.10.1).
  bool needs16() const { return result.b.mnMajor && widthOf(result.b.type) == 8; }

  /// What N is a multiple of for a pair of CTAs.
  int pairColumns() const { return form.kind == MmaKind::I8 || form.aInTensorMemory || needs16() ? 32 : 16; }

  const MmaForm &form;
  uint32_t bits;
  std::string &error;
};

} // namespace

std::optional<MmaKind> mmaKindOf(std::string_view name) {
  for (const KindInfo &info : kKinds)
    if (name == info.name)
      return info.kind;
  return std::nullopt;
}

const char *nameOf(MmaKind kind) { return infoOf(kind).name; }

bool isBlockScaled(MmaKind kind) {
  return kind == MmaKind::Mxf8f6f4 || kind == MmaKind::Mxf4 || kind == MmaKind::Mxf4nvf4;
}

bool isPackedFp4(MmaKind kind) { return kind == MmaKind::Mxf4 || kind == MmaKind::Mxf4nvf4; }

int depthOf(MmaKind kind) { return infoOf(kind).depth; }

std::optional<InstructionDescriptor> decodeInstructionDescriptor(const MmaForm &form, uint32_t bits,
                                                                 std::string &error) {
  FieldReader reader(form, bits, error);
  if (!reader.read())
    return std::nullopt;
  return reader.result;
}

} // namespace headrace::sim
