// One copy of a tile from an array to a slot by the threads of a role, in chunks of a given size.
//
// A tile is rows of chunks. The threads form a grid over it that moves in constant steps, so that
// what depends on the thread is computed once: a chunk then costs the addition of a row's pointer,
// and an immediate in the slot. Rows and columns are kept apart down to the last addition, so that
// whichever part does not change in a loop can leave it. Bounds are checked by unsigned
// comparisons, which also turn away negative offsets.
#pragma once

#include "SlotAddresses.h"

#include "llvm/Support/MathExtras.h"

namespace headrace::lowering {

/// How threads share a tile of rows x cols chunks: thread t starts at (t / threadCols, t %
/// threadCols) and moves in steps of the whole grid of threads.
struct ThreadGrid {
  int64_t rows, cols;
  int64_t threadRows, threadCols;
  int64_t rowSteps() const { return llvm::divideCeil(rows, threadRows); }
  int64_t colSteps() const { return llvm::divideCeil(cols, threadCols); }
};

/// A copy op and the parts of its lowering that do not depend on the size of chunks.
struct Copy {
  mutable pipe::CopyOp op; ///< getters of ops are not const
  const TargetInfo &target;
  ArrayView array;
  SharedLayout layout;
  Value slot;
  Value predicate = {}; ///< null: true
  llvm::SmallVector<Value> offsets = {};
  int64_t threads = 0;
  int64_t fast = 0, slow = -1; ///< dimensions of columns and of rows; slow is -1 in rank 1
  int64_t elementBytes() const { return layout.elementBits() / 8; }
  bool isAsync() const { return op.getMechanism() == tile::Mechanism::CpAsync; }
};

/// Emits one copy in chunks of a given size.
class ChunkedCopy {
public:
  ChunkedCopy(OpBuilder &builder, const Copy &copy, int64_t vector);
  void emit();

private:
  /// One step of a thread along rows or columns.
  struct Line {
    Value place;  ///< rows: pointer to the row's start; columns: bytes from there; i64
    Value inside; ///< i1, within the array; null: true
    Value live;   ///< i1, within the tile; null: true
    Value bytes;  ///< columns of cp.async: bytes of the chunk that are within the array; i32
  };
  /// Where a thread starts along one dimension of the grid, and in how many steps it moves on.
  struct Range {
    Value first;
    int64_t steps, step, extent;
    bool covers;         ///< all threads stay within the extent
    bool looped = false; ///< `first` depends on a loop
  };
  void emitSteps(const Range &rows, const Range &cols, int64_t placeBits);
  void emitLoop(Range rows, Range cols);
  llvm::SmallVector<Line> rowLines(const Range &range);
  llvm::SmallVector<Line> colLines(const Range &range);
  Value liveLine(const Range &range, int64_t i);
  void emitAsync(const Line &row, const Line &col, SlotAddresses::Address to);
  llvm::SmallVector<Value> emitLoad(const Line &row, const Line &col);
  void emitStore(const Line &row, const Line &col, SlotAddresses::Address to, ValueRange registers);
  std::vector<int64_t> place(int64_t row, int64_t col) const;
  int64_t placeBits(int64_t rows, int64_t cols) const;
  Value strideBytes(int64_t dim);

  // Arithmetic in few words.
  Value add(Value a, Value b);
  Value add(Value a, int64_t b);
  Value multiply64(Value a, Value b);
  Value isBelow(Value a, Value bound);             ///< unsigned
  Value select(Value condition, Value a, Value b); ///< a null condition is true
  Value both(Value a, Value b);                    ///< the conjunction; null is true

  OpBuilder &builder;
  const Copy &copy;
  Location loc;
  int64_t vector, perChunk; ///< bytes and elements of a chunk
  ThreadGrid grid;
};

} // namespace headrace::lowering
