// One tcgen05.mma as it was issued: everything that its performance needs.
#ifndef HEADRACE_LIB_SIM_TENSORMEMORY_MMAREQUEST_H
#define HEADRACE_LIB_SIM_TENSORMEMORY_MMAREQUEST_H

#include "TensorAccess.h"

#include "headrace/Sim/TensorMemory/InstructionDescriptor.h"
#include "headrace/Sim/TensorMemory/SharedDescriptor.h"

#include <array>
#include <vector>

namespace headrace::sim::tcgen05 {

struct MmaRequest {
  MmaForm form;
  InstructionDescriptor shape;
  uint32_t firstRank = 0; // of the CTAs that it works on
  TensorAddress d{0};
  TensorAddress tensorA{0}; // form.aInTensorMemory
  SharedDescriptor sharedA; // else
  SharedDescriptor sharedB;
  TensorAddress scalesA{0}, scalesB{0};       // form.scales
  bool accumulate = false;                    // enable-input-d
  int inputShift = 0;                         // scale-input-d: D counts 2^-inputShift times
  std::array<uint32_t, 8> disabledLanes = {}; // bit i of word w: lane 32 w + i, of the pair's second CTA from word 4 on
};

/// Reads its operands, and reads and writes D.
void performMma(AsyncContext &ctx, const MmaRequest &request);

/// `rows` rows of a matrix in the shared memory of the CTA of rank `rank`, appended to `out` as [row][k].
void readSharedMatrix(AsyncContext &ctx, uint32_t rank, const SharedDescriptor &descriptor,
                      const MmaOperandFields &operand, MmaKind kind, int rows, std::vector<double> &out);

/// One row of A from tensor memory, as [k]. Requires: access.reaches(column, kRowWords).
void readTensorRow(const TensorAccess &access, int lane, int column, const MmaOperandFields &operand, MmaKind kind,
                   double *out);
inline constexpr int kRowWords = 8; // of 32 bytes of K (PTX ISA 9.7.16.10.4)

/// Which scale factors to read.
struct ScaleRequest {
  const char *matrix = "A"; // for messages
  TensorAddress address{0};
  int scaleByte = 0;
  int scales = 0; // of a row
  bool areUe8m0 = false;
  int rows = 0;
  bool split = false; // the halves of the rows in two halves of the lanes
};

/// Scale factors as [row][s]; empty after a finding. That the copies of a factor differ is a finding.
std::vector<double> readScales(AsyncContext &ctx, const TensorAccess &access, const ScaleRequest &request);

} // namespace headrace::sim::tcgen05

#endif
