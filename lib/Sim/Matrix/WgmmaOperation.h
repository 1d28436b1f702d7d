// One wgmma.mma_async of a program: its operands, and what it does when it is performed.
#ifndef HEADRACE_SIM_MATRIX_WGMMAOPERATION_H
#define HEADRACE_SIM_MATRIX_WGMMAOPERATION_H

#include "headrace/Sim/Instructions/Decoder.h"
#include "headrace/Sim/Machine/Engine.h"
#include "headrace/Sim/Matrix/BlockProduct.h"
#include "headrace/Sim/Matrix/WgmmaDescriptor.h"
#include "headrace/Sim/Matrix/WgmmaForm.h"

#include <array>
#include <optional>
#include <vector>

namespace headrace::sim {

/// The operands that are known when it is issued.
struct WgmmaInputs {
  uint32_t shared = 0; // shared::cluster address of byte 0 of the CTA's memory
  std::array<Warp *, 4> warps = {};
  WgmmaDescriptor a;
  WgmmaDescriptor b;
  bool accumulates = true; // scale-d
};

class WgmmaOperation {
public:
  /// Fails `decode` where the operands do not fit the form.
  WgmmaOperation(Decoder &decode, const WgmmaForm &form);

  WgmmaForm form;
  std::vector<ptx::RegId> d;
  std::vector<ptx::RegId> a;     // empty: from shared memory
  std::optional<Source> aMatrix; // its descriptor
  Source bMatrix;
  Source scaleD;

  /// Reads A and B, and updates the accumulators in the warps' registers.
  void perform(AsyncContext &context, const WgmmaInputs &inputs) const;

private:
  struct SharedOperand {
    const WgmmaDescriptor &matrix;
    const WordPacking &packing;
    bool mnMajor;
    int rows; // M or N
  };
  template <typename Put>
  void readShared(AsyncContext &context, uint32_t shared, const SharedOperand &operand, Put put) const;
  void readRegisters(const WgmmaInputs &inputs, BlockProduct &product) const;
  void readAccumulators(const WgmmaInputs &inputs, BlockProduct &product) const;
  void writeAccumulators(const WgmmaInputs &inputs, const BlockProduct &product) const;
  void tabulate();

  Addition addition;
  int sign = 1; // of all products: imm-scale-a times imm-scale-b
  bool transposesA = false;
  bool transposesB = false;
  std::vector<size_t> placesOfD; // of element i of lane: at lane * n / 2 + i, for the first warp
};

} // namespace headrace::sim

#endif
