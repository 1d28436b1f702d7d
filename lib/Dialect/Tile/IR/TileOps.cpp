// Verification of the tile dialect's ops. Labels C1.. are those of the descriptions in TileOps.td.
#include "headrace/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace headrace::tile;

#define GET_OP_CLASSES
#include "headrace/Dialect/Tile/IR/TileOps.cpp.inc"

/// Largest number of elements of a tile: 2^24 keeps byte counts far inside 64 bits.
static constexpr int64_t kLargestTile = int64_t(1) << 24;

/// A tile is ranked, static, of rank 1 or 2, not empty, of whole-byte elements (or i1).
static LogicalResult verifyTile(Operation *op, Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile || tile.getRank() < 1 || tile.getRank() > 2)
    return op->emitOpError("expected a tile of rank 1 or 2, got ") << type;
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
  return success();
}

/// C1 and C2 of load and store.
static LogicalResult verifyAccess(Operation *op, MemRefType array, RankedTensorType tile, size_t offsets) {
  if (failed(verifyTile(op, tile)))
    return failure();
  if (int64_t(offsets) != array.getRank())
    return op->emitOpError("expected one offset for each dimension of the array, got ")
           << offsets << " for " << array.getRank();
  if (tile.getRank() != array.getRank())
    return op->emitOpError("expected a tile of the array's rank ") << array.getRank() << ", got " << tile;
  if (tile.getElementType() != array.getElementType())
    return op->emitOpError("expected elements of type ") << array.getElementType() << ", got " << tile;
  return success();
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
  return verifyAccess(*this, cast<MemRefType>(getArray().getType()), tile, getOffsets().size());
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
    return emitOpError("expected the source's elements with an extent of 1 at axis ") << getAxis() << ", got " << result;
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

LogicalResult ConvertLayoutOp::verify() {
  auto source = dyn_cast<RankedTensorType>(getSource().getType());
  auto result = dyn_cast<RankedTensorType>(getResult().getType());
  if (!source || !result || source.getShape() != result.getShape() ||
      source.getElementType() != result.getElementType())
    return emitOpError("expected one shape and element type, got ")
           << getSource().getType() << " and " << getResult().getType();
  return success();
}
