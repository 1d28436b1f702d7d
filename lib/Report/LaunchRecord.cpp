// The launch record of a kernel, read off its function at the pipe level.
#include "headrace/Report/LaunchRecord.h"
#include "MemoryNames.h"
#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "headrace/Dialect/Pipe/IR/TensorMaps.h"
#include "headrace/Dialect/Tile/IR/SourcePlace.h"

using namespace mlir;
using namespace headrace;
namespace json = llvm::json;

/// Element types as the record names them; empty if it has no name.
static StringRef dtypeName(Type type) {
  if (type.isBF16())
    return "bf16";
  if (type.isF16())
    return "f16";
  if (type.isF32())
    return "f32";
  if (type.isF64())
    return "f64";
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  if (type.isInteger(1))
    return "i1";
  if (type.isInteger(8))
    return "i8";
  if (type.isInteger(16))
    return "i16";
  if (type.isInteger(32) || type.isIndex())
    return "i32"; // indices are 32 bits wide
  if (type.isInteger(64))
    return "i64";
  return "";
}

/// Attributes of the pipe level (integers, strings, arrays, dictionaries) as JSON.
static json::Value toJson(Attribute attr) {
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return integer.getInt();
  if (auto string = dyn_cast<StringAttr>(attr))
    return string.getValue();
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attr))
    return json::Array(numbers.asArrayRef());
  if (auto array = dyn_cast<ArrayAttr>(attr)) {
    json::Array result;
    for (Attribute element : array)
      result.push_back(toJson(element));
    return result;
  }
  json::Object result;
  if (auto dictionary = dyn_cast<DictionaryAttr>(attr))
    for (NamedAttribute entry : dictionary)
      result[entry.getName().getValue()] = toJson(entry.getValue());
  return result;
}

/// Extents or strides: null where dynamic.
static json::Array sizes(ArrayRef<int64_t> values) {
  json::Array result;
  for (int64_t value : values)
    result.push_back(ShapedType::isDynamic(value) ? json::Value(nullptr) : json::Value(value));
  return result;
}

namespace {
struct RecordWriter {
  func::FuncOp kernel;
  json::Array args = {}, params = {}, contract = {};

  LogicalResult addArgument(unsigned index);
  void addArray(unsigned index, MemRefType array, StringRef name);
  json::Array tensorMaps();
  json::Array asserts();
};
} // namespace

void RecordWriter::addArray(unsigned index, MemRefType array, StringRef name) {
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)array.getStridesAndOffset(strides, offset);
  args.push_back(json::Object{{"name", name.str()}, // owned: json keeps a StringRef by reference
                              {"kind", "array"},
                              {"dtype", dtypeName(array.getElementType())},
                              {"shape", sizes(array.getShape())},
                              {"strides", sizes(strides)}});
  params.push_back(json::Object{{"kind", "pointer"}, {"arg", index}});
  for (auto [dim, size] : llvm::enumerate(array.getShape()))
    if (ShapedType::isDynamic(size))
      params.push_back(json::Object{{"kind", "dim"}, {"arg", index}, {"dim", int64_t(dim)}, {"type", "i32"}});
  for (auto [dim, stride] : llvm::enumerate(strides))
    if (ShapedType::isDynamic(stride))
      params.push_back(json::Object{{"kind", "stride"}, {"arg", index}, {"dim", int64_t(dim)}, {"type", "i64"}});

  auto align = kernel.getArgAttrOfType<IntegerAttr>(index, tile::kAlignAttr);
  if (!align || align.getInt() <= array.getElementTypeBitWidth() / 8)
    return;
  contract.push_back(
      json::Object{{"what", "pointer_multiple"}, {"arg", index}, {"bytes", align.getInt()}, {"because", "tile.align"}});
  for (auto [dim, stride] : llvm::enumerate(strides))
    if (ShapedType::isDynamic(stride))
      contract.push_back(json::Object{{"what", "stride_multiple"},
                                      {"arg", index},
                                      {"dim", int64_t(dim)},
                                      {"bytes", align.getInt()},
                                      {"because", "tile.align"}});
}

LogicalResult RecordWriter::addArgument(unsigned index) {
  Type type = kernel.getArgumentTypes()[index];
  auto given = kernel.getArgAttrOfType<StringAttr>(index, "tile.name");
  std::string name = given ? given.str() : "arg" + std::to_string(index);
  auto array = dyn_cast<MemRefType>(type);
  StringRef dtype = dtypeName(array ? array.getElementType() : type);
  if (dtype.empty())
    return kernel.emitError("argument ") << index << ": a launcher cannot pass " << type;
  if (array) {
    addArray(index, array, name);
    return success();
  }
  args.push_back(json::Object{{"name", name}, {"kind", "scalar"}, {"dtype", dtype}});
  params.push_back(json::Object{{"kind", "scalar"}, {"arg", index}, {"type", dtype}});
  return success();
}

/// Bytes that L2 fetches for a box: whole pairs of lines for narrow boxes, whose neighbours other boxes take. A box of 256
/// bytes and more asks for them itself, and streams faster if no more is fetched for it (row kernels, measured: 1.5 %).
static int64_t chooseL2Promotion(func::FuncOp kernel, DictionaryAttr map) {
  auto array = cast<MemRefType>(kernel.getArgumentTypes()[map.getAs<IntegerAttr>("arg").getInt()]);
  int64_t bytes = map.getAs<DenseI64ArrayAttr>("box")[0] * array.getElementTypeBitWidth() / 8;
  return bytes < 256 ? 256 : 128;
}

json::Array RecordWriter::tensorMaps() {
  json::Array maps;
  auto attr = kernel->getAttrOfType<ArrayAttr>(pipe::kTensorMapsAttr);
  if (!attr)
    return maps;
  for (auto [i, entry] : llvm::enumerate(attr)) {
    json::Value map = toJson(entry);
    (*map.getAsObject())["l2_promotion"] = chooseL2Promotion(kernel, cast<DictionaryAttr>(entry));
    maps.push_back(std::move(map));
    params.push_back(json::Object{{"kind", "tensor_map"}, {"map", int64_t(i)}});
  }
  return maps;
}

/// What may fail at run time, in program order; copies of one assert (of roles, of peeled trips) count once.
json::Array RecordWriter::asserts() {
  json::Array list;
  kernel.walk([&](tile::AssertOp op) {
    tile::SourcePlace place = tile::findPlace(op.getLoc());
    json::Value entry = json::Object{{"message", json::fixUTF8(op.getMessage())},
                                     {"file", place.file.str()},
                                     {"line", int64_t(place.line)},
                                     {"column", int64_t(place.column)}};
    if (!llvm::is_contained(list, entry))
      list.push_back(std::move(entry));
  });
  return list;
}

FailureOr<json::Object> headrace::makeLaunchRecord(func::FuncOp kernel, const TargetInfo &target) {
  RecordWriter writer{kernel};
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (failed(writer.addArgument(i)))
      return failure();
  json::Array maps = writer.tensorMaps();
  if (auto contract = kernel->getAttrOfType<ArrayAttr>("pipe.contract"))
    for (Attribute entry : contract)
      writer.contract.push_back(toJson(entry));

  auto number = [&](StringRef name, int64_t fallback) {
    auto attr = kernel->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : fallback;
  };
  json::Object grid{{"x", 1}, {"y", 1}, {"z", 1}, {"persistent", kernel->hasAttr("pipe.persistent")}};
  if (int64_t trips = number("pipe.trips", 0))
    grid["trips"] = trips;
  if (auto sizes = kernel->getAttrOfType<ArrayAttr>("pipe.grid"))
    for (auto [axis, size] : llvm::zip(ArrayRef<StringRef>{"x", "y", "z"}, sizes))
      grid[axis] = toJson(size);
  json::Object record{{"version", 1},
                      {"kernel", kernel.getSymName()},
                      {"target", target.name},
                      {"threads", 32 * number(pipe::kWarpsAttr, 1)},
                      {"cluster", json::Array{1, 1, 1}},
                      {"shared_bytes", number(pipe::kSharedBytesAttr, 0)},
                      {"min_ctas_per_sm", number("pipe.occupancy", 1)},
                      {"grid", std::move(grid)},
                      {"args", std::move(writer.args)},
                      {"params", std::move(writer.params)},
                      {"tensor_maps", std::move(maps)},
                      {"memory", memoryNames(kernel)},
                      {"roles", roleNames(kernel)},
                      {"contract", std::move(writer.contract)}};
  if (json::Array asserts = writer.asserts(); !asserts.empty())
    record["asserts"] = std::move(asserts);
  return record;
}
