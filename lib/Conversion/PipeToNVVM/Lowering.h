// What the lowerings of pipe ops share: types, the parts of an array, shared-memory addresses, threads, inline PTX.
#pragma once

#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "headrace/Layout/Access.h"
#include "headrace/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace headrace::lowering {

using mlir::Location;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

/// Symbol of the kernel module's dynamic shared memory.
inline constexpr llvm::StringLiteral kSharedSymbol = "headrace_shared";

/// One-to-many conversion. A register tile becomes one scalar for each of its registers, in the order of its
/// TileLayout; `!pipe.inflight` the same; `!pipe.buffer` an i32 address (bytes of shared memory, or a tensor memory
/// address); `!pipe.channel` nothing; a memref its address (`!llvm.ptr<1>`), then its dynamic extents (index), then its
/// dynamic strides (i64, elements). Index stays index: a later pass makes it i32.
struct TypeConverter : mlir::TypeConverter {
  TypeConverter();
};

/// The type that a register of a tile (or a scalar) has after conversion: its element type, but i8 for the 8-bit floats,
/// which LLVM does not know.
Type registerType(Type element);

/// The target of the module around `op`. Requires: the pass has checked `tile.target`.
TargetInfo targetOf(Operation *op);

/// A global array as the values it was converted to.
class ArrayView {
public:
  ArrayView(mlir::MemRefType type, ValueRange parts) : type(type), parts(parts.begin(), parts.end()) {}
  Value base() const { return parts.front(); }
  /// Extent of a dimension as i32.
  Value size(OpBuilder &builder, Location loc, unsigned dim) const;
  /// Stride of a dimension in elements as i64.
  Value stride(OpBuilder &builder, Location loc, unsigned dim) const;
  /// The part of the array at one place along its first dimensions: an array of the others, empty (in its first extent,
  /// which is then dynamic) if that place is outside. Takes the places from the front of `offsets`, one value each.
  ArrayView dropDims(OpBuilder &builder, Location loc, int64_t count, llvm::ArrayRef<Value> offsets) const;
  mlir::MemRefType getType() const { return type; }
  int64_t elementBytes() const { return type.getElementTypeBitWidth() / 8; }

private:
  mlir::MemRefType type;
  llvm::SmallVector<Value> parts;
};

/// The thread that executes, counted within the role of `op` (within the kernel outside roles). All i32.
struct Thread {
  Value id;   ///< 0 .. 32 * warps - 1
  Value lane; ///< 0 .. 31
  Value warp; ///< 0 .. warps - 1, uniform over the warp
};
/// The special registers are read once, at the start of the kernel; any number of calls is cheap.
Thread getThread(OpBuilder &builder, Operation *op);

/// Removes the marks by which getThread and tmemBase find their values.
void eraseMarks(Operation *kernel);

/// i1, true in thread 0 of the role: the one that issues TMA, tcgen05 and barrier updates.
Value isLeader(OpBuilder &builder, Operation *op);

/// Which of `groups` equal groups of the role's warps this thread is in (i32), and whether it is its group's first (i1).
Value groupOf(OpBuilder &builder, Operation *op, int64_t groups);
Value isGroupLeader(OpBuilder &builder, Operation *op, std::optional<int64_t> groups);

Value constI32(OpBuilder &builder, Location loc, int64_t value);
Value constI64(OpBuilder &builder, Location loc, int64_t value);
Value toI32(OpBuilder &builder, Location loc, Value index); ///< index (or integer) to i32

Value multiply(OpBuilder &builder, Location loc, Value value, int64_t constant); ///< i32, by shift where possible

/// Address of dynamic shared memory plus `offset` bytes, as i32 in the shared window.
Value sharedAddress(OpBuilder &builder, Location loc, int64_t offset);

/// Byte address (shared) of slot `index` of a channel's tile number `buffer`; `index` null means slot 0. A tile in tensor
/// memory: its tensor memory address.
Value slotAddress(OpBuilder &builder, Location loc, pipe::CreateChannelOp channel, Value index, unsigned buffer);
/// Address of the full (empty) mbarrier of slot `index`.
Value fullBarrier(OpBuilder &builder, Location loc, pipe::CreateChannelOp channel, Value index);
Value emptyBarrier(OpBuilder &builder, Location loc, pipe::CreateChannelOp channel, Value index);

/// Memory of a thread for the arguments of a tile.print, an `!llvm.ptr` to kPrintBytes bytes: one for the whole kernel.
Value printBuffer(OpBuilder &builder, Operation *op);
/// Three program indices and four coordinates of 4 bytes, eight values of 8.
inline constexpr int64_t kPrintBytes = 96;

/// Waits until the phase of `barrier` (an address) with parity `parity` is complete. A null predicate is true.
void waitBarrier(OpBuilder &builder, Location loc, Value barrier, Value parity, Value predicate = {});

/// Parameter number `map` of the kernel's tensor maps, an `!llvm.ptr`.
Value tensorMap(OpBuilder &builder, Operation *op, int64_t map);

/// Address (lane << 16 | column) of the kernel's tensor memory, as i32. Requires: an earlier pipe.tmem_alloc, whose
/// lowering sets it.
Value tmemBase(OpBuilder &builder, Operation *op);
void setTmemBase(Value base);

/// Thread-dependent part of a layout's coordinate as i32 values, one for each dimension:
/// layout.threadOffset(lane, warp) computed at run time with shifts and masks.
llvm::SmallVector<Value> threadCoordinate(OpBuilder &builder, Location loc, const TileLayout &layout, Thread thread);
/// The same for a given (run-time) lane and warp.
llvm::SmallVector<Value> coordinateOf(OpBuilder &builder, Location loc, const TileLayout &layout, Value lane,
                                      Value warp);

/// Byte offset in `layout` of run-time coordinates (i32) plus constant ones. Requires: each constant part is a
/// registerOffset of a layout whose thread part is `coordinate`, so that the two do not carry into each other's bits
/// within the swizzle pattern (the swizzle is evaluated at run time on the sum).
Value sharedOffset(OpBuilder &builder, Location loc, const SharedLayout &layout, ValueRange coordinate);

/// One inline PTX instruction (or a braced block of them).
///   text      uses $0, $1, ...: results first, then operands, as LLVM numbers them ("$$" is a dollar sign)
///   operands  i1 -> "b", i8 (zero-extended)/i16/f16/bf16 -> "h", i32, index and 32-bit vectors -> "r",
///             i64 and pointers -> "l", f32 -> "f", f64 -> "d"; results the same
///   tied      operand i is tied to result tied[i] (-1: not tied)
/// No operand of a block shares a register with a result, unless it is tied to it. The result struct is unpacked.
/// Always volatile; marked convergent after translation.
llvm::SmallVector<Value> ptx(OpBuilder &builder, Location loc, llvm::StringRef text, mlir::TypeRange results,
                             ValueRange operands, llvm::ArrayRef<int> tied = {});
inline Value ptx1(OpBuilder &builder, Location loc, llvm::StringRef text, Type result, ValueRange operands) {
  return ptx(builder, loc, text, result, operands).front();
}

/// Packs registers (scalars of 8 to 64 bits) into i32 words, low first, and back. 32-bit scalars are bitcast; a last
/// word that is not full is padded with zeros.
llvm::SmallVector<Value> packWords(OpBuilder &builder, Location loc, ValueRange scalars);
llvm::SmallVector<Value> unpackWords(OpBuilder &builder, Location loc, ValueRange words, Type element, int64_t count);

/// Patterns by concern; each is in the file of the same name.
void populateElementwise(TypeConverter &, mlir::RewritePatternSet &); // arith and math on register tiles, broadcast...
void populateReductions(TypeConverter &, mlir::RewritePatternSet &);  // tile.reduce, tile.scan
void populateIndexedMemory(TypeConverter &, mlir::RewritePatternSet &);  // tile.gather, scatter, reduce_store, scalars
void populateMessages(TypeConverter &, mlir::RewritePatternSet &);       // tile.assert, tile.print
void populateGlobalMemory(TypeConverter &, mlir::RewritePatternSet &);   // pipe.load, pipe.store
void populateSharedMemory(TypeConverter &, mlir::RewritePatternSet &);   // pipe.read, pipe.write
void populateRearrangements(TypeConverter &, mlir::RewritePatternSet &); // convert_layout, tile.reshape, split, join
void populateCopies(TypeConverter &, mlir::RewritePatternSet &, const TargetInfo &); // pipe.copy plain and cp_async
void populateTmaCopies(TypeConverter &,
                       mlir::RewritePatternSet &); // pipe.copy tma, pipe.async_store; by populateCopies
void populateChannels(TypeConverter &, mlir::RewritePatternSet &, const TargetInfo &); // protocol ops, fences, barriers
void populateMmaSync(TypeConverter &, mlir::RewritePatternSet &, const TargetInfo &);  // pipe.mma
void populateFma(TypeConverter &, mlir::RewritePatternSet &);                          // pipe.mma of family fma
void populateWgmma(TypeConverter &, mlir::RewritePatternSet &);                        // mma_async, mma_wait
void populateTcgen05(TypeConverter &, mlir::RewritePatternSet &); // mma_tmem, tmem alloc and free, read of tmem
void populateKernel(TypeConverter &, mlir::RewritePatternSet &,
                    const TargetInfo &); // func, roles, grid indices, memref.dim

/// Checks what all lowerings take for granted: channels are placed, the target has what they need, cursors, roles and
/// tensor maps fit. Emits a diagnostic on failure.
mlir::LogicalResult checkKernel(mlir::func::FuncOp kernel, const TargetInfo &target);

/// After the conversion, when nobody asks for roles or for the kernel's attributes any more: pipe.roles becomes branches
/// on the warp, the function a kernel of NVVM.
void lowerRoles(pipe::RolesOp roles, const TargetInfo &target);
void lowerKernel(mlir::func::FuncOp kernel);
/// On a function whose parameters have been converted.
inline constexpr llvm::StringLiteral kConvertedAttr = "pipe.converted";

} // namespace headrace::lowering
