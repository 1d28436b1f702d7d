// The 32 bits that tell tcgen05.mma its types and shape (PTX ISA 9.7.16.4.2), checked against the instruction's kind.
//
// The fields move with the kind: block-scaled kinds have no type of D, which is f32, and put the byte offsets of their
// scale factors where the others have it.
//
//   bits     f16, tf32, f8f6f4, i8          mxf8f6f4, mxf4, mxf4nvf4
//   3        saturate (i8)                  0
//   5:4      type of D                      byte of the scale factors of B
//   9:7      type of A                      type of A
//   12:10    type of B                      type of B
//   13, 14   negate A, B                    negate A, B
//   15, 16   A, B contiguous along M, N     the same; 0 for the 4-bit kinds
//   22:17    N / 8                          N / 8
//   23       0                              scale factors are ue8m0, not ue4m3
//   28:24    M / 16                         M / 16
//   30:29    0                              byte of the scale factors of A
//   31:30    maximum shift (.ws)            bit 31: K = 96
#ifndef HEADRACE_SIM_TENSORMEMORY_INSTRUCTIONDESCRIPTOR_H
#define HEADRACE_SIM_TENSORMEMORY_INSTRUCTIONDESCRIPTOR_H

#include "headrace/Sim/TensorMemory/Elements.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace::sim {

enum class MmaKind { F16, Tf32, F8f6f4, I8, Mxf8f6f4, Mxf4, Mxf4nvf4 };

/// The kind of `.kind::name`.
std::optional<MmaKind> mmaKindOf(std::string_view name);
const char *nameOf(MmaKind kind);
bool isBlockScaled(MmaKind kind);
/// Whether elements are 4 bits wide, two to a byte: mxf4 and mxf4nvf4.
bool isPackedFp4(MmaKind kind);
/// K of one instruction: always 32 bytes of a row (PTX ISA 9.7.16.2.1).
int depthOf(MmaKind kind);

/// What the opcode says of a tcgen05.mma.
struct MmaForm {
  MmaKind kind = MmaKind::F16;
  int ctaGroup = 1;
  bool weightStationary = false; // .ws
  bool aInTensorMemory = false;
  int scales = 0; // scale factors of a row in one instruction: 1, 2 or 4; 0 without block scaling
};

enum class AccumulatorType { F16, F32, S32 };

struct MmaOperandFields {
  MatrixElement type = MatrixElement::F16;
  bool negated = false;
  bool mnMajor = false; // contiguous along M or N, not K
  int scaleByte = 0;    // of the first scale factor in its word of tensor memory
};

struct InstructionDescriptor {
  MmaOperandFields a, b;
  AccumulatorType d = AccumulatorType::F32;
  bool saturate = false;
  bool scalesAreUe8m0 = false;
  int m = 0; // with cta_group::2, of the pair
  int n = 0;
  int k = 0;
};

/// Reads `bits`. Ensures: without a value, `error` says which rule of PTX ISA 9.7.16.2.1 or 9.7.16.4.2 they break.
std::optional<InstructionDescriptor> decodeInstructionDescriptor(const MmaForm &form, uint32_t bits,
                                                                 std::string &error);

} // namespace headrace::sim

#endif
