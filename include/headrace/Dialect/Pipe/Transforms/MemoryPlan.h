// Where channels lie in shared and tensor memory: one computation for the choice of depths and for the allocation.
#pragma once

#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "headrace/Target/TargetInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace headrace::pipe {

/// Placement of one channel. Offsets are bytes of dynamic shared memory, or columns of tensor memory.
struct ChannelPlacement {
  CreateChannelOp channel;
  int64_t offset = 0, size = 0;
  int64_t barrierOffset = -1; ///< -1: no mbarriers
};

struct MemoryPlan {
  llvm::SmallVector<ChannelPlacement> channels;
  int64_t sharedBytes = 0;
  int64_t tmemColumns = 0;       ///< as used
  int64_t tmemAllocated = 0;     ///< as allocated: a power of two, at least 32; 0 if none is used
  int64_t tmemAddressOffset = 0; ///< shared-memory word that holds the address; only if tensor memory is used
};

/// Places every channel of a kernel at its present depth.
MemoryPlan planMemory(mlir::func::FuncOp kernel);

/// Bytes that one program of the kernel may use: the target's limit for a block, or its share of a multiprocessor under
/// the kernel's `pipe.occupancy`.
int64_t getSharedLimit(mlir::func::FuncOp kernel, const TargetInfo &target);

/// One note for each user of shared (tensor) memory.
void noteSharedUsers(mlir::InFlightDiagnostic &diagnostic, const MemoryPlan &plan);
void noteTmemUsers(mlir::InFlightDiagnostic &diagnostic, const MemoryPlan &plan);

} // namespace headrace::pipe
