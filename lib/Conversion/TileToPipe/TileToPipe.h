// The state of one kernel's conversion to the pipe dialect, shared by the files of this folder.
#pragma once

#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "headrace/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace headrace {

/// Converts the body of one kernel, op by op in program order. Tiles in shared and tensor memory are values of the tile
/// dialect until their op is reached; from then on `slots` says which buffer of which channel holds them.
class KernelConversion {
public:
  KernelConversion(mlir::func::FuncOp kernel, bool specialize);
  mlir::LogicalResult run();

private:
  /// A tile's place: the buffer for readers, and the channel that it belongs to.
  struct Slot {
    mlir::Value buffer;
    pipe::CreateChannelOp channel;
  };

  mlir::LogicalResult convertBlock(mlir::Block &block);
  mlir::LogicalResult convertOp(mlir::Operation *op);
  void keepOrder(mlir::Operation *op);
  /// Drops what is known of the values of an op that is about to be erased.
  void forget(mlir::Operation *op);

  // Channels.cpp
  pipe::CreateChannelOp createChannel(mlir::Location loc, llvm::StringRef name, pipe::Sync sync,
                                      llvm::ArrayRef<pipe::BufferType> buffers);
  void convertSharedLoads(llvm::ArrayRef<tile::LoadOp> group);
  void convertLoad(tile::LoadOp load);
  void convertStore(tile::StoreOp store);
  void convertLayout(tile::ConvertLayoutOp op);
  void readSlot(tile::ConvertLayoutOp op);
  void writeSlot(tile::ConvertLayoutOp op);
  void readTensorMemory(tile::ConvertLayoutOp op);
  void convertRegisters(tile::ConvertLayoutOp op);
  void convertReshape(tile::ReshapeOp op);
  /// Writes `tile` to a slot of `buffer`, and reads it back from there as `result`, through a view of other extents if need
  /// be.
  mlir::Value passThroughShared(mlir::Value tile, pipe::BufferType buffer, mlir::RankedTensorType result);
  /// The loads that share one channel with `load`: operands of one dot that move alike. `load` comes last among them.
  llvm::SmallVector<tile::LoadOp> getGroup(tile::LoadOp load);
  /// Sync of a channel that `mechanism` fills.
  pipe::Sync chooseSync(tile::Mechanism mechanism, bool crossesRoles, bool asyncRelease);
  /// Inserts consumer_release after the last reader of each slot of a block.
  void releaseSlots(mlir::Block &block);
  std::string nameOf(mlir::Value array, llvm::StringRef fallback);

  // Dots.cpp
  mlir::LogicalResult convertFor(tile::ForOp loop);
  void convertDot(tile::DotOp dot);
  void convertTmemDot(tile::DotOp dot);
  mlir::Value operandOf(mlir::Value tile);

  // ConvertTileToPipe.cpp
  void convertGroupedIndex(tile::GroupedIndexOp op);
  mlir::LogicalResult convertGrid(tile::GridOp op);
  void convertAssume(tile::AssumeOp op);

  mlir::func::FuncOp kernel;
  bool specialize;
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, Slot> slots;
  /// Waited-for slots whose release is still to be placed, by the block of the wait.
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<pipe::ConsumerWaitOp>> waits;
  /// The first accumulating dot of a loop's chain, with the condition under which it adds to what is there.
  llvm::DenseMap<mlir::Value, std::pair<Slot, mlir::Value>> accumulators;
  /// Accesses of global memory before which threads meet.
  llvm::DenseSet<mlir::Operation *> ordered;
  unsigned channelCount = 0;
};

/// The expression that the launch record carries for an index computed from constants, extents and scalar arguments:
/// an integer, or an array such as ["mul", ["ceildiv", ["dim", 0, 0], 128], 2]. Nothing if `value` is computed from
/// anything else; `culprit` is then the op.
mlir::Attribute getHostExpression(mlir::Value value, mlir::Operation *&culprit);

/// Checks what the conversion takes for granted: warps, atoms and mechanisms are chosen, each tile has a layout of its
/// extents, and tiles in shared and tensor memory come from and go to ops that know what to do with them. The passes
/// before leave kernels so; one written by hand may not be. Emits an error at the first op that is not so.
mlir::LogicalResult checkTiles(tile::KernelOp kernel);

} // namespace headrace
