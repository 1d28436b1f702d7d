// Global memory element by element: tile.gather and tile.scatter, atomic tile.reduce_store, and single scalars. Each access is
// predicated by its bounds, so a place outside the array, negative ones included, forms an address and no access.
#include "TileRegisters.h"
#include "Transfer.h"

#include "headrace/Dialect/Tile/IR/Tile.h"

#include <map>

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

namespace {

/// Addresses and bounds of the elements that positions name in an array.
class IndexedTile {
public:
  /// `tile` null: a single element, at indices.
  static FailureOr<IndexedTile> create(OpBuilder &builder, Operation *op, RankedTensorType tileType,
                                       MemRefType arrayType, ValueRange array, ValueRange positions,
                                       ArrayRef<ValueRange> converted);

  struct Access {
    Value address;  ///< pointer
    int64_t offset; ///< bytes from there, for an immediate
    Value inside;   ///< i1
  };
  /// Of the element in register `reg`; of the vector that starts there, if its dimension is divisible by the vector.
  Access at(int64_t reg);
  /// i1: the element is none of those from the extents `valid` on. Null if none is.
  Value isValid(int64_t reg, ArrayRef<int64_t> valid);

  const TileLayout *getLayout() const { return layout ? &*layout : nullptr; }

private:
  IndexedTile(OpBuilder &builder, Location loc, ArrayView view) : builder(builder), loc(loc), view(view) {}

  /// What one dimension contributes to an access: bytes (i64) and constant bytes of the address, and a bound.
  struct Part {
    Value bytes;
    int64_t offset = 0;
    Value inside;
  };
  /// One dimension of the array.
  struct Dim {
    unsigned number;
    Value start;                    ///< i32: an index, with the thread's part of the coordinate
    Value startBytes;               ///< bytesTo(start), once a register needs them
    SmallVector<Value> places;      ///< or a place for each of these registers
    std::vector<int64_t> placeOf;   ///< register of the tile -> number of its place
    std::optional<int64_t> tileDim; ///< dimension of the tile that an index runs along
    std::map<int64_t, Part> known;  ///< by constant, or by number of the place
  };
  Part resolve(Dim &dim, int64_t reg);
  /// Whether the place (i32 or i64) is in the array.
  Value isInside(const Dim &dim, Value place);
  /// Bytes (i64) to the place.
  Value bytesTo(const Dim &dim, Value place);

  OpBuilder &builder;
  Location loc;
  ArrayView view;
  std::optional<TileLayout> layout;
  SmallVector<Value> thread; ///< the thread's part of the coordinate, along the tile's dimensions
  SmallVector<Dim> dims;
  std::map<std::pair<int64_t, int64_t>, Value> knownValid; ///< by dimension and constant
};

FailureOr<IndexedTile> IndexedTile::create(OpBuilder &builder, Operation *op, RankedTensorType tileType,
                                           MemRefType arrayType, ValueRange array, ValueRange positions,
                                           ArrayRef<ValueRange> converted) {
  Location loc = op->getLoc();
  IndexedTile tile(builder, loc, ArrayView(arrayType, array));
  SmallVector<Value> &thread = tile.thread;
  if (tileType) {
    FailureOr<TileLayout> layout = layoutOf(op, tileType);
    if (failed(layout))
      return failure();
    tile.layout = *layout;
    thread = threadCoordinate(builder, loc, *layout, getThread(builder, op));
  }
  int64_t lead = arrayType.getRank() - int64_t(thread.size());
  for (auto [number, position] : llvm::enumerate(positions)) {
    Dim dim;
    dim.number = number;
    int64_t tileDim = int64_t(number) - lead;
    auto type = dyn_cast<RankedTensorType>(position.getType());
    if (!type) {
      dim.start = toI32(builder, loc, converted[number].front());
      if (tileDim >= 0) {
        dim.tileDim = tileDim;
        dim.start = arith::AddIOp::create(builder, loc, dim.start, thread[tileDim]);
      }
    } else {
      FailureOr<TileLayout> from = layoutOf(op, type);
      if (failed(from))
        return failure();
      bool ofSlices = type.getRank() != tileType.getRank();
      auto source = registersAt(*from, *tile.layout, [&](std::vector<int64_t> at) {
        return ofSlices ? std::vector<int64_t>{at[tileDim]} : at;
      });
      if (!source)
        return op->emitOpError("expected each thread to hold the places of its elements, got ")
               << from->toString() << " for " << tile.layout->toString();
      dim.places.append(converted[number].begin(), converted[number].end());
      dim.placeOf = std::move(*source);
    }
    tile.dims.push_back(std::move(dim));
  }
  return std::move(tile);
}

Value IndexedTile::isInside(const Dim &dim, Value place) {
  // Compared without sign, a negative place is past every end.
  Value size = view.size(builder, loc, dim.number);
  if (place.getType().isInteger(64))
    size = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), size);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place, size);
}

Value IndexedTile::bytesTo(const Dim &dim, Value place) {
  if (!place.getType().isInteger(64))
    place = arith::ExtSIOp::create(builder, loc, builder.getI64Type(), place);
  Value stride = arith::MulIOp::create(builder, loc, view.stride(builder, loc, dim.number),
                                       constI64(builder, loc, view.elementBytes()));
  return arith::MulIOp::create(builder, loc, place, stride);
}

IndexedTile::Part IndexedTile::resolve(Dim &dim, int64_t reg) {
  int64_t key = 0;
  if (!dim.placeOf.empty())
    key = dim.placeOf[reg];
  else if (dim.tileDim)
    key = layout->registerOffset(reg)[*dim.tileDim];
  auto [found, isNew] = dim.known.try_emplace(key);
  Part &part = found->second;
  if (!isNew)
    return part;
  if (!dim.placeOf.empty()) {
    part.inside = isInside(dim, dim.places[key]);
    part.bytes = bytesTo(dim, dim.places[key]);
    return part;
  }
  // `key` elements after the start, which all registers share.
  Value place =
      key ? arith::AddIOp::create(builder, loc, dim.start, constI32(builder, loc, key)).getResult() : dim.start;
  part.inside = isInside(dim, place);
  auto [strides, unused] = view.getType().getStridesAndOffset();
  if (ShapedType::isDynamic(strides[dim.number])) {
    part.bytes = bytesTo(dim, place);
    return part;
  }
  if (!dim.startBytes)
    dim.startBytes = bytesTo(dim, dim.start);
  part.bytes = dim.startBytes;
  part.offset = key * strides[dim.number] * view.elementBytes();
  return part;
}

IndexedTile::Access IndexedTile::at(int64_t reg) {
  Part sum;
  for (Dim &dim : dims) {
    Part part = resolve(dim, reg);
    sum.bytes = sum.bytes ? arith::AddIOp::create(builder, loc, sum.bytes, part.bytes).getResult() : part.bytes;
    sum.inside = sum.inside ? arith::AndIOp::create(builder, loc, sum.inside, part.inside).getResult() : part.inside;
    sum.offset += part.offset;
  }
  if (int64_t high = beyondImmediate(sum.offset)) {
    sum.bytes = arith::AddIOp::create(builder, loc, sum.bytes, constI64(builder, loc, high));
    sum.offset -= high;
  }
  Value address = LLVM::GEPOp::create(builder, loc, view.base().getType(), builder.getI8Type(), view.base(),
                                      ArrayRef<LLVM::GEPArg>{sum.bytes});
  return {address, sum.offset, sum.inside};
}

Value IndexedTile::isValid(int64_t reg, ArrayRef<int64_t> valid) {
  Value result;
  for (auto [dim, extent] : llvm::enumerate(valid)) {
    if (extent == layout->shape()[dim])
      continue;
    int64_t constant = layout->registerOffset(reg)[dim];
    Value &here = knownValid[{dim, constant}];
    if (!here) // thread < extent - constant, which is negative where no thread's element is valid
      here = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, thread[dim],
                                   constI32(builder, loc, extent - constant));
    result = result ? arith::AndIOp::create(builder, loc, result, here).getResult() : here;
  }
  return result;
}

/// Predicated ld of `transfer`; `otherwise` where the access is outside.
SmallVector<Value> load(OpBuilder &builder, Location loc, const Transfer &transfer, IndexedTile::Access access,
                        ValueRange otherwise) {
  int64_t count = transfer.types.size();
  SmallVector<Value> operands = {access.address, access.inside};
  llvm::append_range(operands, otherwise);
  SmallVector<int> tied = {-1, -1};
  llvm::append_range(tied, llvm::seq<int>(0, count));
  return ptx(builder, loc,
             "@$" + std::to_string(count + 1) + " ld.global" + transfer.suffix + " " + transfer.list(0) + ", " +
                 addressOperand(count, access.offset) + ";",
             transfer.types, operands, tied);
}

void store(OpBuilder &builder, Location loc, const Transfer &transfer, IndexedTile::Access access,
           ValueRange elements) {
  SmallVector<Value> operands = {access.address, access.inside};
  llvm::append_range(operands, transfer.pack(builder, loc, elements));
  ptx(builder, loc,
      "@$1 st.global" + transfer.suffix + " " + addressOperand(0, access.offset) + ", " + transfer.list(2) + ";", {},
      operands);
}

/// A constant of the bits of an element.
Value bitsConstant(OpBuilder &builder, Location loc, Type type, std::optional<TypedAttr> attr) {
  APInt bits = APInt::getZero(type.getIntOrFloatBitWidth());
  if (attr && *attr) {
    if (auto number = dyn_cast<FloatAttr>(*attr))
      bits = number.getValue().bitcastToAPInt();
    else if (auto number = dyn_cast<IntegerAttr>(*attr))
      bits = number.getValue();
  }
  if (auto floating = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(builder, loc,
                                     FloatAttr::get(floating, APFloat(floating.getFloatSemantics(), bits)));
  return arith::ConstantOp::create(builder, loc, IntegerAttr::get(type, bits));
}

struct GatherPattern : OpConversionPattern<tile::GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::GatherOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getResult().getType());
    auto array = cast<MemRefType>(op.getArray().getType());
    FailureOr<IndexedTile> tile =
        IndexedTile::create(rewriter, op, type, array, adaptor.getArray(), op.getPositions(), adaptor.getPositions());
    if (failed(tile))
      return failure();
    Type element = registerType(type.getElementType());
    int64_t bytes = element.getIntOrFloatBitWidth() / 8, dim = tile::contiguousDim(array);
    int64_t vector = 1;
    if (op.getVector() && dim >= 0)
      vector = std::min<int64_t>(*op.getVector() / bytes, tile->getLayout()->contiguous(dim));
    Transfer transfer(vector * bytes, element);
    SmallVector<Value> fill(vector, bitsConstant(rewriter, loc, element, op.getFill()));
    SmallVector<Value> registers;
    for (int64_t reg = 0; reg < tile->getLayout()->numRegisters(); reg += vector)
      llvm::append_range(
          registers, transfer.unpack(rewriter, loc,
                                     load(rewriter, loc, transfer, tile->at(reg), transfer.pack(rewriter, loc, fill))));
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

//===- atomic updates -----------------------------------------------------------------------------------------------===//

/// "red.global.add.f32", if PTX has such a reduction (PTX ISA 9.7.13.6); else empty.
std::string reduction(tile::Combine combine, Type type, const TargetInfo &target) {
  bool add = combine == tile::Combine::Add;
  std::string name = "red.global." + tile::stringifyCombine(combine).str();
  if (type.isInteger())
    return name + (add ? ".u" : ".s") + std::to_string(type.getIntOrFloatBitWidth());
  if (!add)
    return "";
  if (type.isF32() || type.isF64())
    return name + ".f" + std::to_string(type.getIntOrFloatBitWidth());
  if (type.isF16())
    return name + ".noftz.f16";
  return type.isBF16() && target.has(Feature::Tma) ? name + ".noftz.bf16" : "";
}

/// A loop of compare and swap for what PTX has no reduction for: floats up to 32 bits are combined in f32.
std::string swapLoop(tile::Combine combine, Type type, StringRef address) {
  std::string op = tile::stringifyCombine(combine).str();
  unsigned bits = type.getIntOrFloatBitWidth();
  std::string word = ".b" + std::to_string(bits), number = bits == 64 ? ".f64" : ".f32";
  auto widen = [&](StringRef to, StringRef from) -> std::string {
    if (bits != 16)
      return ("mov" + word + " " + to + ", " + from + ";\n").str();
    if (type.isF16())
      return ("cvt.f32.f16 " + to + ", " + from + ";\n").str();
    return ("mov.b32 " + to + ", {zero, " + from + "};\n").str();
  };
  std::string narrow = bits != 16     ? "mov" + word + " new, x;\n"
                       : type.isF16() ? "cvt.rn.f16.f32 new, x;\n"
                                      : "cvt.rn.bf16.f32 new, x;\n";
  return "{\n.reg .pred p;\n.reg " + word + " old, new, seen;\n.reg .b16 zero;\n.reg " + number +
         " x, y;\n@!$1 bra D;\nmov.b16 zero, 0;\n" + widen("y", "$2") + "ld.relaxed.gpu.global" + word + " old, " +
         address.str() + ";\nL:\n" + widen("x", "old") + op + number + " x, x, y;\n" + narrow + "atom.global.cas" +
         word + " seen, " + address.str() + ", old, new;\nsetp.eq" + word + " p, seen, old;\nmov" + word +
         " old, seen;\n@!p bra L;\nD:\n}";
}

void update(OpBuilder &builder, Operation *op, tile::Combine combine, IndexedTile::Access access, Value value,
            Type type) {
  std::string text = reduction(combine, type, targetOf(op));
  std::string address = addressOperand(0, access.offset);
  text = text.empty() ? swapLoop(combine, type, address) : "@$1 " + text + " " + address + ", $2;";
  ptx(builder, op->getLoc(), text, {}, {access.address, access.inside, value});
}

/// Stores or combines every element that this thread is the writer of.
LogicalResult writeElements(ConversionPatternRewriter &rewriter, Operation *op, Value tileValue, ValueRange registers,
                            Value arrayValue, ValueRange array, ValueRange positions, ArrayRef<ValueRange> converted,
                            std::optional<tile::Combine> combine, std::optional<ArrayRef<int64_t>> valid) {
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(tileValue.getType());
  FailureOr<IndexedTile> tile =
      IndexedTile::create(rewriter, op, type, cast<MemRefType>(arrayValue.getType()), array, positions, converted);
  if (failed(tile))
    return failure();
  Value writer = isWriter(rewriter, loc, *tile->getLayout(), getThread(rewriter, op));
  Type element = registerType(type.getElementType());
  Transfer transfer(element.getIntOrFloatBitWidth() / 8, element);
  for (auto [reg, value] : llvm::enumerate(registers)) {
    IndexedTile::Access access = tile->at(reg);
    for (Value condition : {writer, valid ? tile->isValid(reg, *valid) : Value()})
      if (condition)
        access.inside = arith::AndIOp::create(rewriter, loc, access.inside, condition);
    if (combine)
      update(rewriter, op, *combine, access, value, type.getElementType());
    else
      store(rewriter, loc, transfer, access, value);
  }
  rewriter.eraseOp(op);
  return success();
}

struct ScatterPattern : OpConversionPattern<tile::ScatterOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::ScatterOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return writeElements(rewriter, op, op.getTile(), adaptor.getTile(), op.getArray(), adaptor.getArray(),
                         op.getPositions(), adaptor.getPositions(), op.getCombine(), op.getValid());
  }
};

struct ReduceStorePattern : OpConversionPattern<tile::ReduceStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::ReduceStoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return writeElements(rewriter, op, op.getTile(), adaptor.getTile(), op.getArray(), adaptor.getArray(),
                         op.getOffsets(), adaptor.getOffsets(), op.getCombine(), op.getValid());
  }
};

//===- scalars ------------------------------------------------------------------------------------------------------===//

/// Where one element of an array is.
template <typename Op, typename Adaptor>
FailureOr<IndexedTile::Access> elementOf(OpBuilder &builder, Op op, Adaptor adaptor) {
  FailureOr<IndexedTile> element = IndexedTile::create(builder, op, {}, cast<MemRefType>(op.getArray().getType()),
                                                       adaptor.getArray(), op.getOffsets(), adaptor.getOffsets());
  if (failed(element))
    return failure();
  return element->at(0);
}

struct LoadScalarPattern : OpConversionPattern<tile::LoadScalarOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::LoadScalarOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = registerType(op.getResult().getType());
    Transfer transfer(type.getIntOrFloatBitWidth() / 8, type);
    Value zero = bitsConstant(rewriter, loc, type, std::nullopt);
    FailureOr<IndexedTile::Access> access = elementOf(rewriter, op, adaptor);
    if (failed(access))
      return failure();
    SmallVector<Value> loaded = load(rewriter, loc, transfer, *access, transfer.pack(rewriter, loc, zero));
    rewriter.replaceOpWithMultiple(op, {transfer.unpack(rewriter, loc, loaded)});
    return success();
  }
};

struct StoreScalarPattern : OpConversionPattern<tile::StoreScalarOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::StoreScalarOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FailureOr<IndexedTile::Access> access = elementOf(rewriter, op, adaptor);
    if (failed(access))
      return failure();
    access->inside = arith::AndIOp::create(rewriter, loc, access->inside, isLeader(rewriter, op));
    Value value = adaptor.getValue().front();
    store(rewriter, loc, Transfer(value.getType().getIntOrFloatBitWidth() / 8, value.getType()), *access, value);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void lowering::populateIndexedMemory(lowering::TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<GatherPattern, ScatterPattern, ReduceStorePattern, LoadScalarPattern, StoreScalarPattern>(
      types, patterns.getContext());
}
