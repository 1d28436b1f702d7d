// How a tile may move between global and shared memory: the rules of TMA, cp.async and plain copies.
#pragma once

#include "headrace/Dialect/Tile/IR/Tile.h"
#include "headrace/Target/TargetInfo.h"

namespace headrace::tile {

/// A mechanism, and for each faster one why it is not taken ("tma: ...").
struct CopyChoice {
  Mechanism mechanism;
  std::string whyNotFaster; ///< empty if nothing is faster
};

/// Bytes by which the address and every stride but the contiguous one are promised to be divisible: `tile.align` of the
/// argument `array`, at least the element size; constant strides count by their value.
int64_t getAlignment(mlir::Value array);

/// Bytes (1 to 16) of the widest access along the contiguous dimension that is aligned at these offsets for every
/// element of a tile of this shape; `wholeExtent`: and that lies whole inside or whole outside of the array.
int64_t getVectorBytes(mlir::Value array, mlir::ValueRange offsets, llvm::ArrayRef<int64_t> shape, bool wholeExtent);

/// Whether elements outside of the array are other than zero, which is all that copies into shared memory fill with.
bool hasFill(LoadOp load);

/// The fastest way into shared memory. `allowCpAsync` is false where completion must be an mbarrier.
CopyChoice chooseLoad(LoadOp load, const TargetInfo &target, bool allowCpAsync);

/// TMA out of shared memory, or plain stores from registers.
CopyChoice chooseStore(StoreOp store, const TargetInfo &target);

/// The shared layout that TMA, ldmatrix, wgmma and tcgen05 like best for a tile whose dimension `major` is contiguous.
SharedAttr chooseSharedLayout(mlir::RankedTensorType tile, int64_t major);

/// The layout of a tile that no matmul reads: the same, or dense rows where that saves TMA many boxes.
SharedAttr chooseCopyLayout(mlir::RankedTensorType tile, int64_t major);

} // namespace headrace::tile
