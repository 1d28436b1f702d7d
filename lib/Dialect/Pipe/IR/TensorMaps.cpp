// Tensor maps: when they exist, what is in them, and the attribute that keeps them.
#include "headrace/Dialect/Pipe/IR/TensorMaps.h"

#include "headrace/Dialect/Tile/IR/TmaStrides.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

namespace {
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

/// Dimensions of a tensor map (PTX ISA 5.5.2).
constexpr int64_t kMostMapDims = 5;

std::string message(const llvm::formatv_object_base &text) { return text.str(); }

} // namespace

std::string pipe::whyNotTma(MemRefType array, BufferType buffer) {
  if (!buffer.isShared())
    return "expected a tile in shared memory";
  int64_t rank = buffer.getShape().size();
  if (rank > array.getRank() || rank > 2 || array.getRank() > kMostMapDims)
    return message(llvm::formatv("expected a tile of rank 1 or 2 of an array of at most {0} dimensions, "
                                 "got {1} of {2}",
                                 kMostMapDims, rank, array.getRank()));
  if (array.getElementType() != buffer.getElementType())
    return "expected the tile to have the array's element type";
  if (dtypeOf(array.getElementType(), false).empty()) {
    std::string text;
    llvm::raw_string_ostream(text) << "expected an element type that tensor maps have, got " << array.getElementType();
    return text;
  }
  SharedLayout layout = buffer.getSharedLayout();
  std::string why = tile::whyNotTmaStrides(array, layout.major() + array.getRank() - rank);
  if (why.empty())
    cutIntoTmaBoxes(layout, why);
  return why;
}

TmaBoxes pipe::tensorBoxes(BufferType buffer) {
  std::string why;
  std::optional<TmaBoxes> boxes = cutIntoTmaBoxes(buffer.getSharedLayout(), why);
  assert(boxes && "TMA can move the tile");
  return std::move(*boxes);
}

TensorMapInfo pipe::tensorMapFor(int64_t arg, MemRefType array, BufferType buffer, bool tf32) {
  int64_t major = buffer.getSharedLayout().major();
  TmaBoxes boxes = tensorBoxes(buffer);
  TensorMapInfo info;
  info.arg = arg;
  int64_t rank = buffer.getShape().size(), lead = array.getRank() - rank;
  info.dims.push_back(lead + major);
  if (rank == 2)
    info.dims.push_back(lead + 1 - major);
  info.box.assign(boxes.extents.begin(), boxes.extents.end());
  // Dimensions that the tile has not: one place of each.
  for (int64_t dim = lead; dim-- > 0;) {
    info.dims.push_back(dim);
    info.box.push_back(1);
  }
  info.swizzle = boxes.swizzle;
  info.dtype = dtypeOf(array.getElementType(), tf32).str();
  return info;
}

//===- the attribute
//------------------------------------------------------------------------------------------------===//

bool TensorMapInfo::operator==(const TensorMapInfo &other) const {
  return arg == other.arg && dims == other.dims && box == other.box && swizzle == other.swizzle && dtype == other.dtype;
}

DictionaryAttr TensorMapInfo::toAttr(MLIRContext *context) const {
  Builder b(context);
  return b.getDictionaryAttr(
      {b.getNamedAttr("arg", b.getI64IntegerAttr(arg)), b.getNamedAttr("dims", b.getDenseI64ArrayAttr(dims)),
       b.getNamedAttr("box", b.getDenseI64ArrayAttr(box)), b.getNamedAttr("swizzle", b.getI64IntegerAttr(swizzle)),
       b.getNamedAttr("dtype", b.getStringAttr(dtype))});
}

std::optional<TensorMapInfo> TensorMapInfo::fromAttr(Attribute attribute) {
  auto dictionary = dyn_cast_or_null<DictionaryAttr>(attribute);
  if (!dictionary)
    return std::nullopt;
  auto arg = dictionary.getAs<IntegerAttr>("arg"), swizzle = dictionary.getAs<IntegerAttr>("swizzle");
  auto dims = dictionary.getAs<DenseI64ArrayAttr>("dims"), box = dictionary.getAs<DenseI64ArrayAttr>("box");
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
