// One operand of pipe.mma, as the registers that mma.sync takes, a k-step at a time.
#pragma once

#include "MatrixAccess.h"

namespace headrace::lowering {

/// A or B, from a slot or from registers. A *block* is the 16 (8) rows of A or the 8 columns of B
/// of one instruction; a *step* the K of one instruction.
class MmaOperand {
public:
  /// `layout`: of the whole operand as a tile [rows, K] (mmaOperandA, mmaOperandB [N, K]). `type`:
  /// of the operand, which is [K, rows] if `kFirst`. `values`: what it was converted to. Emits an
  /// error on `op` if the operand does not fit.
  static mlir::FailureOr<MmaOperand> create(OpBuilder &builder, Operation *op, Type type, ValueRange values,
                                            bool kFirst, const TileLayout &layout, int64_t atomK);

  /// The registers of all blocks of one step: 32-bit words (i32), f64 for 64-bit elements.
  llvm::SmallVector<Value> load(OpBuilder &builder, Location loc, int64_t step);
  int64_t steps() const { return numSteps; }

private:
  MmaOperand(TileLayout layout, Type element) : layout(std::move(layout)), element(element) {}
  void planSlot(OpBuilder &builder, Operation *op, const SharedLayout &shared, Value slot);

  TileLayout layout; ///< of the tile [K, rows], so that the registers of a step are consecutive
  Type element;      ///< converted
  int64_t numSteps = 0;
  llvm::SmallVector<Value> registers;      ///< of a register operand, in the order of `layout`
  std::optional<MatrixAccess> matrices;    ///< of a slot that ldmatrix can read
  std::vector<std::vector<int64_t>> words; ///< of all steps, for it
  std::optional<SlotAddresses> elements;   ///< of any other slot
};

} // namespace headrace::lowering
