// The rows, columns and chunks of a copy by threads.
#include "ChunkedCopy.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

/// Chunks of a thread that are written out; of more, groups of kChunksPerTrip in a loop. A plain copy keeps the data and
/// the address of each chunk in registers, which the loop around it has better use for.
static constexpr int64_t kMaxAsyncChunks = 64, kMaxPlainChunks = 16;
static constexpr int64_t kChunksPerTrip = 16;

/// The grid with the fewest steps; of those the one that fits the columns, and then the widest, for
/// the sake of coalescing.
static ThreadGrid chooseGrid(int64_t rows, int64_t cols, int64_t threads) {
  auto cost = [](const ThreadGrid &grid) {
    return std::make_tuple(grid.rowSteps() * grid.colSteps(), grid.cols % grid.threadCols != 0, -grid.threadCols);
  };
  ThreadGrid best{rows, cols, threads, 1};
  for (int64_t threadCols = 2; threadCols <= threads; ++threadCols) {
    ThreadGrid next{rows, cols, threads / threadCols, threadCols};
    if (threads % threadCols == 0 && cost(next) < cost(best))
      best = next;
  }
  return best;
}

Value ChunkedCopy::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value ChunkedCopy::add(Value a, int64_t b) { return b ? add(a, constI32(builder, loc, b)) : a; }
Value ChunkedCopy::multiply64(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
Value ChunkedCopy::isBelow(Value a, Value bound) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, a, bound);
}
Value ChunkedCopy::select(Value condition, Value a, Value b) {
  return condition ? arith::SelectOp::create(builder, loc, condition, a, b).getResult() : a;
}
Value ChunkedCopy::both(Value a, Value b) {
  return a && b ? arith::AndIOp::create(builder, loc, a, b).getResult() : (a ? a : b);
}

ChunkedCopy::ChunkedCopy(OpBuilder &builder, const Copy &copy, int64_t vector)
    : builder(builder), copy(copy), loc(copy.op->getLoc()), vector(vector), perChunk(vector / copy.elementBytes()) {
  const std::vector<int64_t> &shape = copy.layout.shape();
  grid = chooseGrid(copy.slow < 0 ? 1 : shape[copy.slow], shape[copy.fast] / perChunk, copy.threads);
}

//===- rows and columns
//---------------------------------------------------------------------------===//

/// The stride of a dimension in bytes, i64.
Value ChunkedCopy::strideBytes(int64_t dim) {
  auto [strides, offset] = copy.array.getType().getStridesAndOffset();
  if (!ShapedType::isDynamic(strides[dim]))
    return constI64(builder, loc, strides[dim] * copy.elementBytes());
  return multiply64(copy.array.stride(builder, loc, dim), constI64(builder, loc, copy.elementBytes()));
}

/// Whether step i stays within the tile; null if that is known.
Value ChunkedCopy::liveLine(const Range &range, int64_t i) {
  int64_t distance = i * range.step;
  if (range.covers || (!range.looped && distance + range.step <= range.extent))
    return Value();
  return isBelow(range.first, constI32(builder, loc, range.extent - distance));
}

SmallVector<ChunkedCopy::Line> ChunkedCopy::rowLines(const Range &range) {
  SmallVector<Line> lines(range.steps);
  Type i64 = builder.getI64Type();
  Value base = LLVM::PtrToIntOp::create(builder, loc, i64, copy.array.base());
  for (int64_t i = 0; i < range.steps; ++i) {
    lines[i].place = base;
    lines[i].live = liveLine(range, i);
  }
  if (copy.slow < 0)
    return lines;
  Value row = add(toI32(builder, loc, copy.offsets[copy.slow]), range.first);
  Value size = copy.array.size(builder, loc, copy.slow);
  Value stride = strideBytes(copy.slow);
  Value step = multiply64(stride, constI64(builder, loc, range.step));
  Value byte = multiply64(arith::ExtSIOp::create(builder, loc, i64, row), stride);
  for (int64_t i = 0; i < range.steps; ++i) {
    if (i)
      byte = add(byte, step);
    lines[i].inside = isBelow(add(row, i * range.step), size);
    // cp.async forms the address even where it copies nothing.
    Value valid = copy.isAsync() ? select(lines[i].inside, byte, constI64(builder, loc, 0)) : byte;
    lines[i].place = add(base, valid);
  }
  return lines;
}

SmallVector<ChunkedCopy::Line> ChunkedCopy::colLines(const Range &range) {
  SmallVector<Line> lines(range.steps);
  Value col = add(toI32(builder, loc, copy.offsets[copy.fast]), multiply(builder, loc, range.first, perChunk));
  Value size = copy.array.size(builder, loc, copy.fast);
  Value stride = strideBytes(copy.fast);
  int64_t extent = copy.array.getType().getDimSize(copy.fast);
  // A chunk is all in or all out: it starts at a multiple of its size, as its alignment asks.
  bool isWhole = perChunk == 1 || (!ShapedType::isDynamic(extent) && extent % perChunk == 0);
  for (int64_t j = 0; j < range.steps; ++j) {
    Line &line = lines[j];
    line.live = liveLine(range, j);
    Value at = add(col, j * range.step * perChunk);
    line.inside = isBelow(at, size);
    line.place = multiply64(arith::ExtSIOp::create(builder, loc, builder.getI64Type(), at), stride);
    if (!copy.isAsync())
      continue;
    line.place = select(line.inside, line.place, constI64(builder, loc, 0));
    Value bytes = constI32(builder, loc, vector);
    if (!isWhole) {
      Value left = arith::SubIOp::create(builder, loc, size, at);
      left = arith::MinSIOp::create(builder, loc, left, constI32(builder, loc, perChunk));
      bytes = multiply(builder, loc, left, copy.elementBytes());
    }
    line.bytes = select(line.inside, bytes, constI32(builder, loc, 0));
  }
  return lines;
}

//===- chunks
//-------------------------------------------------------------------------------------===//

/// cp.async: PTX ISA 9.7.9.25.3. What lies outside of the array arrives as zeros, by the size of
/// the source.
void ChunkedCopy::emitAsync(const Line &row, const Line &col, SlotAddresses::Address to) {
  std::optional<tile::Cache> cache = copy.op.getCache();
  SmallVector<Value> operands{to.base, add(row.place, col.place),
                              select(row.inside, col.bytes, constI32(builder, loc, 0))};
  bool viaL1 = vector < kMaxVectorBytes || cache == tile::Cache::All;
  std::string text = viaL1 ? "cp.async.ca.shared.global" : "cp.async.cg.shared.global";
  bool hasPolicy = cache == tile::Cache::EvictFirst || cache == tile::Cache::EvictLast;
  if (hasPolicy)
    text += ".L2::cache_hint";
  // The rest of the line belongs to the thread's neighbours, or to the next tile.
  if (vector == kMaxVectorBytes)
    text += ".L2::128B";
  text += llvm::formatv(" {0}, [$1], {1}, $2", addressOperand(0, to.offset), vector);
  if (hasPolicy) {
    text += ", $3";
    // createpolicy: PTX ISA 9.7.9.21.
    operands.push_back(ptx1(builder, loc,
                            llvm::formatv("createpolicy.fractional.L2::{0}.b64 $0, 0f3F800000;",
                                          cache == tile::Cache::EvictFirst ? "evict_first" : "evict_last")
                                .str(),
                            builder.getI64Type(), {}));
  }
  if (Value predicate = both(both(row.live, col.live), copy.predicate)) {
    text = llvm::formatv("@${0} {1}", operands.size(), text);
    operands.push_back(predicate);
  }
  ptx(builder, loc, text + ";", {}, operands);
}

/// What follows ld.global for a cache hint (PTX ISA 9.7.9.1, 9.7.9.2).
static StringRef loadSuffix(std::optional<tile::Cache> cache, const TargetInfo &target) {
  if (!cache)
    return "";
  if (*cache == tile::Cache::All)
    return ".ca";
  if (*cache == tile::Cache::Global)
    return ".cg";
  if (!target.has(Feature::CacheEviction) || target.ptxVersion < featurePtxVersion(Feature::CacheEviction))
    return "";
  return *cache == tile::Cache::EvictFirst ? ".L1::evict_first" : ".L1::evict_last";
}

/// ld.global of one chunk; zeros where it lies outside of the array.
SmallVector<Value> ChunkedCopy::emitLoad(const Line &row, const Line &col) {
  Transfer transfer(vector, registerType(copy.array.getType().getElementType()));
  SmallVector<Value> operands;
  SmallVector<int> tied;
  for (auto [i, type] : llvm::enumerate(transfer.types)) {
    operands.push_back(arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, 0)));
    tied.push_back(i);
  }
  size_t count = operands.size();
  operands.push_back(add(row.place, col.place));
  Value predicate = both(both(row.live, col.live), copy.predicate);
  operands.push_back(both(predicate, both(row.inside, col.inside)));
  std::string text =
      llvm::formatv("@${0} ld.global{1}{2} {3}, [${4}];", 2 * count + 1, loadSuffix(copy.op.getCache(), copy.target),
                    transfer.suffix, transfer.list(0), 2 * count);
  return ptx(builder, loc, text, transfer.types, operands, tied);
}

void ChunkedCopy::emitStore(const Line &row, const Line &col, SlotAddresses::Address to, ValueRange registers) {
  Transfer transfer(vector, registerType(copy.array.getType().getElementType()));
  SmallVector<Value> operands{to.base};
  llvm::append_range(operands, registers);
  std::string text =
      llvm::formatv("st.shared{0} {1}, {2};", transfer.suffix, addressOperand(0, to.offset), transfer.list(1));
  if (Value predicate = both(both(row.live, col.live), copy.predicate)) {
    text = llvm::formatv("@${0} {1}", operands.size(), text);
    operands.push_back(predicate);
  }
  ptx(builder, loc, text, {}, operands);
}

//===- the whole copy
//-----------------------------------------------------------------------------===//

/// Coordinate in the tile of a chunk.
std::vector<int64_t> ChunkedCopy::place(int64_t row, int64_t col) const {
  std::vector<int64_t> coordinate(copy.layout.rank());
  coordinate[copy.fast] = col * perChunk;
  if (copy.slow >= 0)
    coordinate[copy.slow] = row;
  return coordinate;
}

/// The bits of the slot's offset that the first rows x cols chunks use, as SlotAddresses wants
/// them.
int64_t ChunkedCopy::placeBits(int64_t rows, int64_t cols) const {
  int64_t bits = 0;
  for (int64_t row = 0; row < std::min(rows, grid.rows); ++row)
    for (int64_t col = 0; col < std::min(cols, grid.cols); ++col)
      bits |= denseOffset(copy.layout, place(row, col));
  return bits;
}

/// All chunks of a thread that starts at the ranges' first ones.
void ChunkedCopy::emitSteps(const Range &rows, const Range &cols, int64_t placeBits) {
  SmallVector<Value> coordinate(copy.layout.rank());
  coordinate[copy.fast] = multiply(builder, loc, cols.first, perChunk);
  if (copy.slow >= 0)
    coordinate[copy.slow] = rows.first;
  SlotAddresses addresses(builder, loc, copy.layout, copy.slot, coordinate, placeBits);
  SmallVector<Line> rowSteps = rowLines(rows), colSteps = colLines(cols);

  // Loads are started in groups before the first of them is waited for.
  struct Loaded {
    int64_t i, j;
    SmallVector<Value> registers;
  };
  SmallVector<Loaded> group;
  auto addressAt = [&](int64_t i, int64_t j) {
    return addresses.at(builder, loc, place(i * rows.step, j * cols.step));
  };
  auto flush = [&] {
    for (Loaded &chunk : group)
      emitStore(rowSteps[chunk.i], colSteps[chunk.j], addressAt(chunk.i, chunk.j), chunk.registers);
    group.clear();
  };
  for (int64_t i = 0; i < rows.steps; ++i)
    for (int64_t j = 0; j < cols.steps; ++j) {
      if (copy.isAsync()) {
        emitAsync(rowSteps[i], colSteps[j], addressAt(i, j));
        continue;
      }
      group.push_back({i, j, emitLoad(rowSteps[i], colSteps[j])});
      if (group.size() == kChunksPerTrip)
        flush();
    }
  flush();
}

/// The same when there are many: a loop along the dimension that has more steps.
void ChunkedCopy::emitLoop(Range rows, Range cols) {
  bool alongRows = rows.steps >= cols.steps;
  Range &along = alongRows ? rows : cols;
  int64_t others = alongRows ? cols.steps : rows.steps;
  int64_t perTrip = std::max<int64_t>(1, kChunksPerTrip / others);
  int64_t trips = llvm::divideCeil(along.steps, perTrip);
  along.covers = trips * perTrip * along.step <= along.extent;
  along.steps = perTrip;
  along.looped = true;

  auto loop = scf::ForOp::create(builder, loc, constI32(builder, loc, 0), constI32(builder, loc, trips),
                                 constI32(builder, loc, 1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  along.first = add(along.first, multiply(builder, loc, loop.getInductionVar(), perTrip * along.step));
  emitSteps(rows, cols, alongRows ? placeBits(grid.rows, grid.threadCols) : placeBits(grid.threadRows, grid.cols));
}

void ChunkedCopy::emit() {
  Value thread = getThread(builder, copy.op).id;
  Value row, col;
  if (llvm::isPowerOf2_64(grid.threadCols)) {
    row = arith::ShRUIOp::create(builder, loc, thread, constI32(builder, loc, llvm::Log2_64(grid.threadCols)));
    col = arith::AndIOp::create(builder, loc, thread, constI32(builder, loc, grid.threadCols - 1));
  } else {
    Value width = constI32(builder, loc, grid.threadCols);
    row = arith::DivUIOp::create(builder, loc, thread, width);
    col = arith::RemUIOp::create(builder, loc, thread, width);
  }
  Range rows{row, grid.rowSteps(), grid.threadRows, grid.rows, grid.rows % grid.threadRows == 0};
  Range cols{col, grid.colSteps(), grid.threadCols, grid.cols, grid.cols % grid.threadCols == 0};
  if (rows.steps * cols.steps <= (copy.isAsync() ? kMaxAsyncChunks : kMaxPlainChunks))
    emitSteps(rows, cols, placeBits(grid.threadRows, grid.threadCols));
  else
    emitLoop(rows, cols);
}
