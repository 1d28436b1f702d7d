// Verification of the tile dialect's ops. Labels C1.. are those of the descriptions in TileOps.td.
#include "headrace/Dialect/Tile/IR/Tile.h"
#include "headrace/Dialect/Tile/IR/VerifyDims.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace headrace::tile;

#define GET_OP_CLASSES
#include "headrace/Dialect/Tile/IR/TileOps.cpp.inc"

/// Largest number of elements of a tile: 2^24 keeps byte counts far inside 64 bits.
static constexpr int64_t kLargestTile = int64_t(1) << 24;

/// A tile is ranked, static, of rank 1 to 4, not empty, of whole-byte elements (or i1).
static LogicalResult verifyTile(Operation *op, Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile || tile.getRank() < 1 || tile.getRank() > 4)
    return op->emitOpError("expected a tile of rank 1 to 4, got ") << type;
  int64_t elements = 1;
  for (int64_t extent : tile.getShape()) {
    if (extent < 1 || extent > kLargestTile || (elements *= extent) > kLargestTile)
      return op->emitOpError("expected a tile of 1 to ") << kLargestTile << " elements, got " << type;
  }
  if (!tile.getElementType().isIntOrIndexOrFloat())
    return op->emitOpError("expected elements that are numbers, got ") << type;
  return success();
}

LogicalResult GridOp::verify() {
  if (getSizes().empty() || getSizes().size() > 3)
    return emitOpError("expected 1 to 3 sizes, got ") << getSizes().size();
  if (getTrips() && (!getPersistent() || *getTrips() < 1 || *getTrips() > INT32_MAX))
    return emitOpError("expected 1 to 2147483647 trips of a persistent grid, got ") << *getTrips();
  return success();
}

/// C1 and C2 of load and store.
static LogicalResult verifyAccess(Operation *op, MemRefType array, RankedTensorType tile, size_t offsets) {
  if (failed(verifyTile(op, tile)))
    return failure();
  if (int64_t(offsets) != array.getRank())
    return op->emitOpError("expected one offset for each dimension of the array, got ")
           << offsets << " for " << array.getRank();
  if (tile.getRank() > array.getRank())
    return op->emitOpError("expected a tile of at most the array's rank ") << array.getRank() << ", got " << tile;
  if (tile.getElementType() != array.getElementType())
    return op->emitOpError("expected elements of type ") << array.getElementType() << ", got " << tile;
  return success();
}

LogicalResult headrace::tile::verifyValid(Operation *op, RankedTensorType tile,
                                          std::optional<ArrayRef<int64_t>> valid) {
  if (!valid)
    return success();
  bool legal = int64_t(valid->size()) == tile.getRank();
  for (size_t dim = 0; legal && dim < valid->size(); ++dim)
    legal = (*valid)[dim] >= 1 && (*valid)[dim] <= tile.getDimSize(dim);
  if (legal)
    return success();
  return op->emitOpError("expected valid extents of 1 to the tile's, one for each dimension of ") << tile;
}

LogicalResult LoadOp::verify() {
  auto array = cast<MemRefType>(getArray().getType());
  auto tile = dyn_cast<RankedTensorType>(getResult().getType());
  if (!tile || failed(verifyAccess(*this, array, tile, getOffsets().size())))
    return failure();
  // C3: the fill has the element type.
  if (getFill() && getFillAttr().getType() != array.getElementType())
    return emitOpError("expected a fill of type ") << array.getElementType() << ", got " << getFillAttr();
  return success();
}

LogicalResult StoreOp::verify() {
  auto tile = dyn_cast<RankedTensorType>(getTile().getType());
  if (!tile)
    return emitOpError("expected a ranked tile");
  if (failed(verifyAccess(*this, cast<MemRefType>(getArray().getType()), tile, getOffsets().size())))
    return failure();
  return verifyValid(*this, tile, getValid()); // C3
}

/// C2 of dot: the pairs that tensor cores, or fused multiply-adds, can multiply.
static bool isLegalTriple(Type a, Type b, Type acc) {
  auto isF8 = [](Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); };
  if (a.isInteger(8) && b.isInteger(8))
    return acc.isInteger(32);
  if (isF8(a) && isF8(b))
    return acc.isF32();
  if (a != b)
    return false;
  if (a.isF64())
    return acc.isF64();
  return (a.isF16() || a.isBF16() || a.isF32()) && acc.isF32();
}

LogicalResult DotOp::verify() {
  for (Value value : {getA(), getB(), getAcc()})
    if (failed(verifyTile(*this, value.getType())))
      return failure();
  RankedTensorType a = getAType(), b = getBType(), acc = getAccType();
  if (a.getRank() != 2 || b.getRank() != 2 || acc.getRank() != 2)
    return emitOpError("expected operands of rank 2, got ") << a << ", " << b << " and " << acc;
  // C1: extents agree.
  int64_t aM = a.getDimSize(getTransposeA() ? 1 : 0), aK = a.getDimSize(getTransposeA() ? 0 : 1);
  int64_t bK = b.getDimSize(getTransposeB() ? 1 : 0), bN = b.getDimSize(getTransposeB() ? 0 : 1);
  if (aK != bK)
    return emitOpError("expected operands of one K, got ") << aK << " in a and " << bK << " in b";
  if (acc.getDimSize(0) != aM || acc.getDimSize(1) != bN)
    return emitOpError("expected an accumulator of ") << aM << " x " << bN << " from a and b, got " << acc;
  // C2: a legal triple of types.
  if (!isLegalTriple(a.getElementType(), b.getElementType(), acc.getElementType()))
    return emitOpError("no product of ") << a.getElementType() << " and " << b.getElementType() << " into "
                                         << acc.getElementType()
                                         << "; legal: f16, bf16 and f32 pairs into f32, fp8 pairs into f32, i8 into "
                                            "i32, f64 into f64";
  // C3: precision is a choice for float32 only.
  if (getPrecision() && !a.getElementType().isF32())
    return emitOpError("precision is for f32 operands, got ") << a.getElementType();
  return success();
}

/// The number of K of an operand of tile.dot_scaled; nullopt if its type is none of an operand.
static std::optional<int64_t> numbersOfRow(RankedTensorType type) {
  if (type.getElementType().isInteger(8))
    return 2 * type.getDimSize(1);
  return isa<Float8E4M3FNType, Float8E5M2Type>(type.getElementType()) ? std::optional(type.getDimSize(1))
                                                                      : std::nullopt;
}

LogicalResult DotScaledOp::verify() {
  SmallVector<RankedTensorType> types;
  for (Value value : getOperands()) {
    if (failed(verifyTile(*this, value.getType())))
      return failure();
    types.push_back(cast<RankedTensorType>(value.getType()));
    if (types.back().getRank() != 2)
      return emitOpError("expected operands of rank 2, got ") << types.back();
  }
  RankedTensorType a = types[0], aScale = types[1], b = types[2], bScale = types[3], acc = types[4];
  // C2: the types of the numbers.
  std::optional<int64_t> aK = numbersOfRow(a), bK = numbersOfRow(b);
  if (!aK || !bK)
    return emitOpError("expected numbers of f8E4M3FN or f8E5M2, or pairs of 4 bits in i8, got ")
           << (aK ? b : a).getElementType();
  // C3: the types of the scales.
  Type scale = aScale.getElementType();
  bool isExponent = scale.isInteger(8);
  if (scale != bScale.getElementType() || (!isExponent && !isa<Float8E4M3FNType>(scale)))
    return emitOpError("expected scales of i8 (powers of two) or of f8E4M3FN for both operands, got ")
           << scale << " and " << bScale.getElementType();
  if (!isExponent && !(a.getElementType().isInteger(8) && b.getElementType().isInteger(8)))
    return emitOpError("expected scales of i8 for numbers of 8 bits, got ") << scale;
  // C1: extents agree.
  if (*aK != *bK)
    return emitOpError("expected operands of one K, got ") << *aK << " numbers in a and " << *bK << " in b";
  if (!acc.getElementType().isF32() || acc.getDimSize(0) != a.getDimSize(0) || acc.getDimSize(1) != b.getDimSize(0))
    return emitOpError("expected an accumulator of ")
           << a.getDimSize(0) << " x " << b.getDimSize(0) << " of f32 from a and b, got " << acc;
  // C4: whole blocks.
  int64_t block = blockOf(scale);
  if (*aK % block)
    return emitOpError("expected K to be a multiple of ") << block << ", the numbers of a scale, got " << *aK;
  for (auto [operand, scales] : {std::pair(a, aScale), std::pair(b, bScale)})
    if (scales.getDimSize(0) != operand.getDimSize(0) || scales.getDimSize(1) != *aK / block)
      return emitOpError("expected scales of ")
             << operand.getDimSize(0) << " x " << *aK / block << ", one for " << block << " numbers, got " << scales;
  return success();
}

LogicalResult ExpandDimsOp::verify() {
  auto source = dyn_cast<RankedTensorType>(getSource().getType());
  auto result = dyn_cast<RankedTensorType>(getResult().getType());
  if (!source || !result || failed(verifyTile(*this, source)) || failed(verifyTile(*this, result)))
    return failure();
  if (int64_t(getAxis()) > source.getRank() || result.getRank() != source.getRank() + 1)
    return emitOpError("expected axis 0 to ") << source.getRank() << " and a result of rank " << source.getRank() + 1;
  SmallVector<int64_t> shape(source.getShape());
  shape.insert(shape.begin() + getAxis(), 1);
  if (result.getShape() != ArrayRef(shape) || result.getElementType() != source.getElementType())
    return emitOpError("expected the source's elements with an extent of 1 at axis ")
           << getAxis() << ", got " << result;
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto source = dyn_cast<RankedTensorType>(getSource().getType());
  auto result = dyn_cast<RankedTensorType>(getResult().getType());
  if (!source || !result || failed(verifyTile(*this, source)) || failed(verifyTile(*this, result)))
    return failure();
  if (source.getRank() != result.getRank() || source.getElementType() != result.getElementType())
    return emitOpError("expected one rank and element type, got ") << source << " and " << result;
  for (auto [from, to] : llvm::zip(source.getShape(), result.getShape()))
    if (from != to && from != 1)
      return emitOpError("expected each extent to stay or to grow from 1, got ") << source << " to " << result;
  return success();
}

//===- shape --------------------------------------------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  auto result = dyn_cast<RankedTensorType>(getResult().getType());
  if (!result || failed(verifyTile(*this, result)))
    return failure();
  if (int64_t(getAxis()) >= result.getRank())
    return emitOpError("expected an axis below the rank ") << result.getRank() << ", got " << getAxis();
  if (!isa<IntegerType>(result.getElementType()))
    return emitOpError("expected elements that are sized integers, got ") << result;
  unsigned bits = result.getElementTypeBitWidth();
  if (bits < 32 && result.getDimSize(getAxis()) > int64_t(1) << (bits - 1))
    return emitOpError("expected elements that hold ") << result.getDimSize(getAxis()) - 1 << ", got " << result;
  return success();
}

LogicalResult TransposeOp::verify() {
  auto source = dyn_cast<RankedTensorType>(getSource().getType());
  auto result = dyn_cast<RankedTensorType>(getResult().getType());
  if (!source || !result || failed(verifyTile(*this, source)) || failed(verifyTile(*this, result)))
    return failure();
  ArrayRef<int64_t> permutation = getPermutation();
  SmallVector<bool> seen(source.getRank());
  bool legal = int64_t(permutation.size()) == source.getRank();
  for (int64_t dim : permutation)
    if (legal &= dim >= 0 &&dim < source.getRank() && !seen[dim]; legal)
      seen[dim] = true;
  if (!legal)
    return emitOpError("expected a permutation of the source's ") << source.getRank() << " dimensions";
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(source.getDimSize(dim));
  if (result.getShape() != ArrayRef(shape) || result.getElementType() != source.getElementType())
    return emitOpError("expected the source's elements with its extents permuted, got ") << result;
  return success();
}

LogicalResult ReshapeOp::verify() {
  auto source = dyn_cast<RankedTensorType>(getSource().getType());
  auto result = dyn_cast<RankedTensorType>(getResult().getType());
  if (!source || !result || failed(verifyTile(*this, source)) || failed(verifyTile(*this, result)))
    return failure();
  if (source.getNumElements() != result.getNumElements() || source.getElementType() != result.getElementType())
    return emitOpError("expected as many elements of one type, got ") << source << " and " << result;
  return success();
}

/// `pairs` are the elements of `halves`, of which one half lies beside the other.
static LogicalResult verifyPairs(Operation *op, Type pairs, Type half) {
  auto whole = dyn_cast<RankedTensorType>(pairs);
  auto part = dyn_cast<RankedTensorType>(half);
  if (!whole || !part || failed(verifyTile(op, whole)) || failed(verifyTile(op, part)))
    return failure();
  if (whole.getElementType() == part.getElementType() && whole.getRank() == part.getRank() + 1 &&
      whole.getShape().back() == 2 && whole.getShape().drop_back() == part.getShape())
    return success();
  return op->emitOpError("expected a last dimension of 2, which the halves lack, and one type of elements, got ")
         << whole << " and halves " << part;
}

LogicalResult SplitOp::verify() { return verifyPairs(*this, getSource().getType(), getFirst().getType()); }

LogicalResult JoinOp::verify() { return verifyPairs(*this, getResult().getType(), getFirst().getType()); }

//===- reductions ---------------------------------------------------------------------------------------------------===//

/// The sources are tiles of one shape with the axis, and as many results.
static LogicalResult verifySources(Operation *op, ValueRange sources, int64_t axis) {
  if (sources.empty() || op->getNumResults() != sources.size())
    return op->emitOpError("expected sources, and as many results");
  for (Value source : sources) {
    auto type = dyn_cast<RankedTensorType>(source.getType());
    if (failed(verifyTile(op, source.getType())))
      return failure();
    if (type.getShape() != cast<RankedTensorType>(sources[0].getType()).getShape())
      return op->emitOpError("expected sources of one shape, got ") << sources[0].getType() << " and " << type;
    if (axis >= type.getRank())
      return op->emitOpError("expected an axis below the rank ") << type.getRank() << ", got " << axis;
  }
  return success();
}

/// The combining region: two scalars of each source's type in, one out, nothing but arithmetic between.
static LogicalResult verifyCombine(Operation *op, Region &region, ValueRange sources) {
  SmallVector<Type> scalars;
  for (Value source : sources)
    scalars.push_back(getElementTypeOrSelf(source));
  SmallVector<Type> pairs(scalars);
  pairs.append(scalars);
  Block &body = region.front();
  if (!llvm::equal(body.getArgumentTypes(), pairs))
    return op->emitOpError(
        "expected a region with two scalars of each source's elements as arguments: the first partial "
        "results, then the second");
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (!yield || !llvm::equal(yield.getValues().getTypes(), scalars))
    return op->emitOpError("expected a region that ends in tile.yield of one scalar of each source's elements");
  for (Operation &inner : body)
    if (!isMemoryEffectFree(&inner) || inner.getNumRegions())
      return inner.emitOpError("expected nothing but arithmetic in a combining region");
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifySources(*this, getSources(), getAxis())))
    return failure();
  for (auto [source, result] : llvm::zip(getSources(), getResultTypes())) {
    auto type = cast<RankedTensorType>(source.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (getParts())
      shape[getAxis()] = *getParts();
    else
      shape.erase(shape.begin() + getAxis());
    auto tile = dyn_cast<RankedTensorType>(result);
    bool fits = shape.empty()
                    ? result == type.getElementType()
                    : tile && tile.getShape() == ArrayRef(shape) && tile.getElementType() == type.getElementType();
    if (!fits)
      return emitOpError("expected a result ") << (getParts() ? "of the parts along" : "without") << " dimension "
                                               << getAxis() << " of " << type << ", got " << result;
  }
  return success();
}

LogicalResult ReduceOp::verifyRegions() { return verifyCombine(*this, getCombine(), getSources()); }

LogicalResult ScanOp::verify() {
  if (failed(verifySources(*this, getSources(), getAxis())))
    return failure();
  for (auto [source, result] : llvm::zip(getSources(), getResultTypes())) {
    auto from = cast<RankedTensorType>(source.getType()), to = dyn_cast<RankedTensorType>(result);
    if (!to || from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
      return emitOpError("expected results of the sources' types, got ") << from << " and " << result;
  }
  return success();
}

LogicalResult ScanOp::verifyRegions() { return verifyCombine(*this, getCombine(), getSources()); }

//===- single elements and elements by index ------------------------------------------------------------------------===//

static LogicalResult verifyScalarAccess(Operation *op, MemRefType array, Type scalar, size_t offsets) {
  if (int64_t(offsets) != array.getRank())
    return op->emitOpError("expected one offset for each dimension of the array, got ")
           << offsets << " for " << array.getRank();
  if (scalar != array.getElementType())
    return op->emitOpError("expected a scalar of type ") << array.getElementType() << ", got " << scalar;
  return success();
}

LogicalResult LoadScalarOp::verify() {
  return verifyScalarAccess(*this, cast<MemRefType>(getArray().getType()), getResult().getType(), getOffsets().size());
}

LogicalResult StoreScalarOp::verify() {
  return verifyScalarAccess(*this, cast<MemRefType>(getArray().getType()), getValue().getType(), getOffsets().size());
}

/// An index, a row of places with the tile's extent along its dimension, or a place for each element.
static LogicalResult verifyPositions(Operation *op, MemRefType array, RankedTensorType tile, ValueRange positions) {
  if (failed(verifyAccess(op, array, tile, positions.size())))
    return failure();
  int64_t lead = array.getRank() - tile.getRank();
  for (auto [number, position] : llvm::enumerate(positions)) {
    auto type = dyn_cast<RankedTensorType>(position.getType());
    if (!type)
      continue;
    int64_t dim = int64_t(number) - lead;
    if (dim < 0)
      return op->emitOpError("expected position ") << number << " to be an index: the tile has no such dimension";
    bool places = type.getElementType().isSignlessInteger(32) || type.getElementType().isSignlessInteger(64);
    bool ofSlices = type.getRank() == 1 && type.getDimSize(0) == tile.getDimSize(dim);
    if (!places || (!ofSlices && type.getShape() != tile.getShape()))
      return op->emitOpError("expected position ")
             << number << " to be an index, or i32 or i64 places of " << tile.getDimSize(dim)
             << " slices or of all elements, got " << type;
  }
  return success();
}

LogicalResult GatherOp::verify() {
  auto tile = dyn_cast<RankedTensorType>(getResult().getType());
  if (!tile || failed(verifyPositions(*this, cast<MemRefType>(getArray().getType()), tile, getPositions())))
    return failure();
  if (getFill() && getFillAttr().getType() != tile.getElementType())
    return emitOpError("expected a fill of type ") << tile.getElementType() << ", got " << getFillAttr();
  return success();
}

/// The types that PTX combines atomically, by itself or by a loop of compare and swap.
static LogicalResult verifyAtomic(Operation *op, Type element) {
  if (element.isF16() || element.isBF16() || element.isF32() || element.isF64() || element.isSignlessInteger(32) ||
      element.isSignlessInteger(64))
    return success();
  return op->emitOpError("expected elements of i32, i64, f16, bf16, f32 or f64 to combine atomically, got ") << element;
}

LogicalResult ScatterOp::verify() {
  auto tile = dyn_cast<RankedTensorType>(getTile().getType());
  if (!tile)
    return emitOpError("expected a ranked tile");
  if (failed(verifyPositions(*this, cast<MemRefType>(getArray().getType()), tile, getPositions())))
    return failure();
  if (failed(verifyValid(*this, tile, getValid())))
    return failure();
  return getCombine() ? verifyAtomic(*this, tile.getElementType()) : success();
}

LogicalResult ReduceStoreOp::verify() {
  auto tile = dyn_cast<RankedTensorType>(getTile().getType());
  if (!tile)
    return emitOpError("expected a ranked tile");
  if (failed(verifyAccess(*this, cast<MemRefType>(getArray().getType()), tile, getOffsets().size())))
    return failure();
  if (failed(verifyValid(*this, tile, getValid())))
    return failure();
  return verifyAtomic(*this, tile.getElementType());
}

//===- checks and messages ----------------------------------------------------------------------------------------===//

/// C2 of assert, C1 of print: the text travels to the GPU as a string that ends with a zero, and fills one line.
static LogicalResult verifyText(Operation *op, StringRef what, StringRef text) {
  constexpr size_t kLongestText = 1000;
  if (text.empty() || text.size() > kLongestText)
    return op->emitOpError("expected a ") << what << " of 1 to " << kLongestText << " bytes, got " << text.size();
  auto isControl = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  const char *found = llvm::find_if(text, isControl);
  if (found == text.end())
    return success();
  return op->emitOpError("expected a ") << what << " of one line, without control characters, got character "
                                        << int(*found) << " at byte " << found - text.begin();
}

LogicalResult AssertOp::verify() {
  // C1: an i1 or a tile of i1.
  if (!getElementTypeOrSelf(getCondition()).isInteger(1))
    return emitOpError("expected a condition of i1, or a tile of them, got ") << getCondition().getType();
  if (auto tile = dyn_cast<RankedTensorType>(getCondition().getType())) {
    if (failed(verifyTile(*this, tile)) || failed(verifyValid(*this, tile, getValid())))
      return failure();
  } else if (isa<TensorType>(getCondition().getType()) || getValid()) {
    return emitOpError("expected a ranked tile, got ") << getCondition().getType();
  }
  return verifyText(*this, "message", getMessage()); // C2
}

/// What always holds goes.
LogicalResult AssertOp::canonicalize(AssertOp op, PatternRewriter &rewriter) {
  DenseElementsAttr elements;
  bool holds = matchPattern(op.getCondition(), m_One()) || (matchPattern(op.getCondition(), m_Constant(&elements)) &&
                                                            elements.isSplat() && elements.getSplatValue<bool>());
  if (holds)
    rewriter.eraseOp(op);
  return success(holds);
}

Value PrintOp::getTile() {
  for (Value value : getValues())
    if (isa<TensorType>(value.getType()))
      return value;
  return {};
}

LogicalResult PrintOp::verify() {
  if (failed(verifyText(*this, "text", getText()))) // C1
    return failure();
  constexpr size_t kMostValues = 8;
  if (getValues().size() > kMostValues)
    return emitOpError("expected at most ") << kMostValues << " values, got " << getValues().size();
  RankedTensorType first;
  for (Type type : getValues().getTypes()) {
    Type element = isa<TensorType>(type) ? getElementTypeOrSelf(type) : type;
    if (!element.isIntOrIndexOrFloat())
      return emitOpError("expected values that are numbers or tiles of them, got ") << type;
    if (!isa<TensorType>(type))
      continue;
    if (failed(verifyTile(*this, type)))
      return failure();
    auto tile = cast<RankedTensorType>(type);
    first = first ? first : tile;
    if (tile.getShape() != first.getShape())
      return emitOpError("expected tiles of one shape, got ") << first << " and " << tile;
  }
  if (getValid() && !first)
    return emitOpError("expected a tile beside valid extents");
  return first ? verifyValid(*this, first, getValid()) : success();
}

LogicalResult ConvertLayoutOp::verify() {
  auto source = dyn_cast<RankedTensorType>(getSource().getType());
  auto result = dyn_cast<RankedTensorType>(getResult().getType());
  if (!source || !result || source.getShape() != result.getShape() ||
      source.getElementType() != result.getElementType())
    return emitOpError("expected one shape and element type, got ")
           << getSource().getType() << " and " << getResult().getType();
  return success();
}
