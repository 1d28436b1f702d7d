// Tensor maps: when they exist, and how a tile is cut into boxes.
#include "headrace/Dialect/Pipe/IR/TensorMaps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

namespace {
// Limits of cuTensorMapEncodeTiled and of PTX ISA 5.5 and 9.7.9.27.1.
constexpr int64_t kMaxBox = 256; // elements along each dimension
constexpr int64_t kMinPart =
    32; // ours: more and smaller boxes would cost more than another way to copy
constexpr int64_t kInnerBytes = 16;  // the box's inner extent is a multiple of this
constexpr int64_t kStrideBytes = 16; // so are the array's strides
constexpr int64_t kMaxStride = int64_t(1) << 40;
constexpr int64_t kSharedAlignment = 128;          // of a box in shared memory
constexpr int64_t kMaxTransaction = (1 << 20) - 1; // bytes an mbarrier counts

/// The largest divisor of `extent`, from kMinPart to kMaxBox, whose multiples by `bytes` are
/// multiples of `alignment`; if the whole extent fits it, that: then nothing follows that must be
/// aligned. 0 if none.
int64_t boxExtent(int64_t extent, int64_t bytes, int64_t alignment) {
  if (extent <= kMaxBox)
    return extent;
  for (int64_t part = kMaxBox; part >= kMinPart; --part)
    if (extent % part == 0 && part * bytes % alignment == 0)
      return part;
  return 0;
}

/// True if rows are not cut into panels: dense ones, and rank 1, where panels follow each other
/// without a gap.
bool hasWholeRows(const SharedLayout &layout) {
  return layout.swizzle() == 0 || layout.rank() == 1;
}

struct Box {
  int64_t inner, outer;
};

/// Extents of the boxes of a tile; 0 where none is legal.
Box boxOf(const SharedLayout &layout) {
  int64_t elementBytes = layout.elementBits() / 8;
  int64_t columns = layout.shape()[layout.major()];
  Box box;
  box.inner = hasWholeRows(layout) ? boxExtent(columns, elementBytes, kSharedAlignment)
                                   : layout.panelElements();
  // A part of a dense row cannot be followed by the next row.
  if (hasWholeRows(layout) && layout.rows() > 1 && box.inner != columns)
    box.inner = 0;
  box.outer = boxExtent(layout.rows(), layout.rowBytes(), kSharedAlignment);
  return box;
}

/// The launch record's name of an element type; empty if tensor maps have none.
StringRef dtypeOf(Type element, bool tf32) {
  if (element.isF32())
    return tf32 ? "tf32" : "f32";
  if (element.isF64())
    return "f64";
  if (element.isF16())
    return "f16";
  if (element.isBF16())
    return "bf16";
  if (!element.isIntOrFloat())
    return "";
  bool isInteger = isa<IntegerType>(element);
  switch (element.getIntOrFloatBitWidth()) {
  case 8:
    return "u8";
  case 16:
    return isInteger ? "u16" : "";
  case 32:
    return isInteger ? "i32" : "";
  case 64:
    return isInteger ? "i64" : "";
  default:
    return "";
  }
}

std::string message(const llvm::formatv_object_base &text) { return text.str(); }

/// What is wrong with the array's strides, given the dimension that must be contiguous.
std::string whyNotStrides(MemRefType array, int64_t major) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(array.getStridesAndOffset(strides, offset)))
    return "expected an array with strides";
  if (strides[major] != 1)
    return message(
        llvm::formatv("expected dimension {0} of the array to have the constant stride 1", major));
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    if (int64_t(dim) == major || ShapedType::isDynamic(stride))
      continue;
    int64_t bytes = stride * array.getElementTypeBitWidth() / 8;
    if (bytes <= 0 || bytes % kStrideBytes || bytes >= kMaxStride)
      return message(llvm::formatv(
          "expected the stride of dimension {0} of the array to be a positive multiple of {1} "
          "bytes below 2^40, got {2} bytes",
          dim, kStrideBytes, bytes));
  }
  return "";
}

/// What is wrong with the boxes.
std::string whyNotBoxes(const SharedLayout &layout) {
  Box box = boxOf(layout);
  int64_t elementBytes = layout.elementBits() / 8, columns = layout.shape()[layout.major()];
  if (!box.inner)
    return message(llvm::formatv(
        "expected rows of at most {0} elements, or a swizzle, got {1} elements without one",
        kMaxBox, columns));
  if (!box.outer)
    return message(llvm::formatv(
        "expected at most {0} rows, or a number of rows that splits into equal boxes at "
        "multiples of {1} bytes, got {2} rows of {3} bytes",
        kMaxBox, kSharedAlignment, layout.rows(), layout.rowBytes()));
  if (box.inner * elementBytes % kInnerBytes)
    return message(llvm::formatv("expected rows of a multiple of {0} bytes, got {1} bytes",
                                 kInnerBytes, box.inner * elementBytes));
  if (!hasWholeRows(layout) && layout.panels() > 1 && layout.panelBytes() % kSharedAlignment)
    return message(llvm::formatv(
        "expected panels of a multiple of {0} bytes of shared memory, got {1} rows of {2} "
        "bytes",
        kSharedAlignment, layout.rows(), layout.rowBytes()));
  if (layout.bytes() > kMaxTransaction)
    return message(
        llvm::formatv("expected a tile of less than 2^20 bytes, got {0}", layout.bytes()));
  return "";
}
} // namespace

std::string pipe::whyNotTma(MemRefType array, BufferType buffer) {
  if (!buffer.isShared())
    return "expected a tile in shared memory";
  if (array.getRank() != int64_t(buffer.getShape().size()) || array.getRank() > 2)
    return message(
        llvm::formatv("expected an array of the tile's rank, 1 or 2, got {0}", array.getRank()));
  if (array.getElementType() != buffer.getElementType())
    return "expected the tile to have the array's element type";
  if (dtypeOf(array.getElementType(), false).empty()) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "expected an element type that tensor maps have, got " << array.getElementType();
    return text;
  }
  SharedLayout layout = buffer.getSharedLayout();
  std::string why = whyNotStrides(array, layout.major());
  return why.empty() ? whyNotBoxes(layout) : why;
}

TensorMapInfo pipe::tensorMapFor(int64_t arg, MemRefType array, BufferType buffer, bool tf32) {
  SharedLayout layout = buffer.getSharedLayout();
  Box box = boxOf(layout);
  TensorMapInfo info;
  info.arg = arg;
  info.dims.push_back(layout.major());
  info.box.push_back(box.inner);
  if (layout.rank() == 2) {
    info.dims.push_back(1 - layout.major());
    info.box.push_back(box.outer);
  }
  info.swizzle = layout.swizzle() > 16 && layout.rank() > 1 ? layout.swizzle() : 0;
  info.dtype = dtypeOf(array.getElementType(), tf32).str();
  return info;
}

SmallVector<TensorBox> pipe::tensorBoxes(MemRefType array, BufferType buffer) {
  SharedLayout layout = buffer.getSharedLayout();
  Box box = boxOf(layout);
  SmallVector<TensorBox> boxes;
  for (int64_t column = 0; column < layout.shape()[layout.major()]; column += box.inner)
    for (int64_t row = 0; row < layout.rows(); row += box.outer) {
      std::vector<int64_t> coordinate(layout.rank());
      coordinate[layout.major()] = column;
      TensorBox &next = boxes.emplace_back();
      next.start.push_back(column);
      if (layout.rank() == 2) {
        coordinate[1 - layout.major()] = row;
        next.start.push_back(row);
      }
      // The first element of a panel's row may be swizzled away from the row's start, where the box
      // is to go.
      next.sharedOffset = column / layout.panelElements() * layout.panelBytes() +
                          row * layout.rowBytes() +
                          column % layout.panelElements() * layout.elementBits() / 8;
    }
  return boxes;
}

//===- the attribute
//------------------------------------------------------------------------------------------------===//

bool TensorMapInfo::operator==(const TensorMapInfo &other) const {
  return arg == other.arg && dims == other.dims && box == other.box && swizzle == other.swizzle &&
         dtype == other.dtype;
}

DictionaryAttr TensorMapInfo::toAttr(MLIRContext *context) const {
  Builder b(context);
  return b.getDictionaryAttr({b.getNamedAttr("arg", b.getI64IntegerAttr(arg)),
                              b.getNamedAttr("dims", b.getDenseI64ArrayAttr(dims)),
                              b.getNamedAttr("box", b.getDenseI64ArrayAttr(box)),
                              b.getNamedAttr("swizzle", b.getI64IntegerAttr(swizzle)),
                              b.getNamedAttr("dtype", b.getStringAttr(dtype))});
}

std::optional<TensorMapInfo> TensorMapInfo::fromAttr(Attribute attribute) {
  auto dictionary = dyn_cast_or_null<DictionaryAttr>(attribute);
  if (!dictionary)
    return std::nullopt;
  auto arg = dictionary.getAs<IntegerAttr>("arg"),
       swizzle = dictionary.getAs<IntegerAttr>("swizzle");
  auto dims = dictionary.getAs<DenseI64ArrayAttr>("dims"),
       box = dictionary.getAs<DenseI64ArrayAttr>("box");
  auto dtype = dictionary.getAs<StringAttr>("dtype");
  if (!arg || !swizzle || !dims || !box || !dtype || dims.size() != box.size())
    return std::nullopt;
  TensorMapInfo info;
  info.arg = arg.getInt();
  info.dims.assign(dims.asArrayRef().begin(), dims.asArrayRef().end());
  info.box.assign(box.asArrayRef().begin(), box.asArrayRef().end());
  info.swizzle = swizzle.getInt();
  info.dtype = dtype.str();
  return info;
}

unsigned pipe::addTensorMap(func::FuncOp kernel, const TensorMapInfo &info) {
  SmallVector<Attribute> maps;
  if (auto list = kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr))
    llvm::append_range(maps, list);
  Attribute entry = info.toAttr(kernel.getContext());
  unsigned number = llvm::find(maps, entry) - maps.begin();
  if (number == maps.size()) {
    maps.push_back(entry);
    kernel->setAttr(kTensorMapsAttr, ArrayAttr::get(kernel.getContext(), maps));
  }
  return number;
}
