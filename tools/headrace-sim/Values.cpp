// Arguments of a launch from the command line.
#include "Values.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cstring>

using namespace headrace::sim;
using llvm::StringRef;

void Values::rebase() {
  for (size_t i = 0; i < passed.size(); ++i)
    passed[i].base = arrays[i].data.data();
}

/// NumPy's type for an array of a record's type.
static std::string numpyType(const std::string &type) {
  static const std::pair<const char *, const char *> types[] = {
      {"bf16", "<u2"}, {"f16", "<f2"}, {"f32", "<f4"}, {"f64", "<f8"}, {"e4m3", "|u1"}, {"e5m2", "|u1"},
      {"i8", "|i1"},   {"i16", "<i2"}, {"i32", "<i4"}, {"i64", "<i8"}, {"i1", "|b1"}};
  for (const auto &[name, numpy] : types)
    if (type == name)
      return numpy;
  return "";
}

/// `new:128x64`
static bool makeNew(StringRef text, const std::string &type, NpyArray &array) {
  llvm::SmallVector<StringRef> extents;
  text.split(extents, 'x');
  int64_t bytes = bytesOfType(type);
  constexpr int64_t kMaxBytes = int64_t(1) << 36;
  for (StringRef extent : extents) {
    int64_t value = 0;
    if (extent.getAsInteger(10, value) || value < 0 || (value > 0 && bytes > kMaxBytes / value))
      return false;
    array.shape.push_back(value);
    bytes *= value;
  }
  array.type = numpyType(type);
  array.data.assign(static_cast<size_t>(bytes), 0xFF);
  return true;
}

/// `2:9,:5`, `0:9:2`: the part of each dimension that is passed. The strides of `value` are those of the whole array.
static bool applySlices(StringRef text, int64_t elementBytes, ArgumentValue &value) {
  llvm::SmallVector<StringRef> slices;
  text.split(slices, ',');
  if (slices.size() > value.shape.size())
    return false;
  for (size_t dim = 0; dim < slices.size(); ++dim) {
    auto [low, rest] = slices[dim].split(':');
    auto [high, every] = rest.split(':');
    int64_t first = 0, last = value.shape[dim], step = 1;
    if ((!low.empty() && low.getAsInteger(10, first)) || (!high.empty() && high.getAsInteger(10, last)) ||
        (!every.empty() && every.getAsInteger(10, step)) || first < 0 || first > last || last > value.shape[dim] ||
        step < 1 || step > std::max<int64_t>(value.shape[dim], 1) || !slices[dim].contains(':'))
      return false;
    value.offset += first * value.strides[dim] * elementBytes;
    value.shape[dim] = (last - first + step - 1) / step;
    value.strides[dim] *= step;
  }
  return true;
}

static bool readArray(const RecordArgument &argument, StringRef text, NpyArray &array, ArgumentValue &value,
                      std::string &error) {
  StringRef slices;
  if (text.consume_front("new:")) {
    if (!makeNew(text, argument.type, array)) {
      error = "expected a shape like 128x64, got '" + text.str() + "'";
      return false;
    }
  } else {
    if (text.ends_with("]"))
      std::tie(text, slices) = text.drop_back().split('[');
    auto file = llvm::MemoryBuffer::getFile(text);
    if (!file) {
      error = "cannot read '" + text.str() + "': " + file.getError().message();
      return false;
    }
    StringRef content = (*file)->getBuffer();
    std::optional<NpyArray> read = readNpy({content.data(), content.size()}, error);
    if (!read) {
      error = "'" + text.str() + "' " + error;
      return false;
    }
    array = std::move(*read);
  }
  std::string expected = numpyType(argument.type);
  // Of integers either sign will do, and an 8-bit float may come as either.
  bool sameBytes = array.type.substr(2) == expected.substr(2);
  bool isFloat = expected[1] == 'f';
  if (!sameBytes || (isFloat && array.type[1] != 'f') || (!isFloat && array.type[1] == 'f')) {
    error = "expected elements of type " + argument.type + " ('" + expected + "'), got '" + array.type + "'";
    return false;
  }
  value.shape = array.shape;
  value.strides.resize(array.shape.size());
  int64_t stride = 1;
  for (size_t i = array.shape.size(); i-- > 0; stride *= array.shape[i])
    value.strides[i] = stride;
  value.bytes = static_cast<int64_t>(array.data.size());
  if (!slices.empty() && !applySlices(slices, bytesOfType(argument.type), value)) {
    error = "expected slices within its shape, got '[" + slices.str() + "]'";
    return false;
  }
  return true;
}

static bool readScalar(StringRef text, ArgumentValue &value, std::string &error) {
  if (!text.getAsInteger(0, value.integer)) {
    value.real = static_cast<double>(value.integer);
    return true;
  }
  if (!text.getAsDouble(value.real)) {
    value.integer = static_cast<int64_t>(value.real);
    return true;
  }
  error = "expected a number, got '" + text.str() + "'";
  return false;
}

std::optional<Values> headrace::sim::readValues(const Record &record,
                                                const std::vector<std::pair<std::string, std::string>> &given,
                                                std::string &error) {
  Values values;
  values.arrays.resize(record.arguments.size());
  values.passed.resize(record.arguments.size());
  std::vector<bool> isGiven(record.arguments.size());
  for (const auto &[name, text] : given) {
    auto argument = std::find_if(record.arguments.begin(), record.arguments.end(),
                                 [&, n = &name](const RecordArgument &a) { return a.name == *n; });
    if (argument == record.arguments.end()) {
      error = "'" + name + "' is not an argument of kernel '" + record.kernel + "'";
      return std::nullopt;
    }
    size_t i = static_cast<size_t>(argument - record.arguments.begin());
    isGiven[i] = true;
    bool read = argument->isArray ? readArray(*argument, text, values.arrays[i], values.passed[i], error)
                                  : readScalar(text, values.passed[i], error);
    if (!read) {
      error = "'" + name + "': " + error;
      return std::nullopt;
    }
  }
  for (size_t i = 0; i < isGiven.size(); ++i) {
    if (!isGiven[i]) {
      error = "argument '" + record.arguments[i].name + "' is missing: give --arg " + record.arguments[i].name + "=...";
      return std::nullopt;
    }
  }
  values.rebase();
  return values;
}

NpyArray headrace::sim::viewOf(const NpyArray &array, const ArgumentValue &passed) {
  NpyArray result;
  result.type = array.type;
  result.shape = passed.shape;
  int64_t elementBytes = std::atoi(array.type.c_str() + 2);
  int64_t count = 1;
  for (int64_t extent : passed.shape)
    count *= extent;
  result.data.resize(static_cast<size_t>(count * elementBytes));
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at = 0;
    for (size_t dim = passed.shape.size(); dim-- > 0; rest /= passed.shape[dim])
      at += rest % passed.shape[dim] * passed.strides[dim];
    std::memcpy(result.data.data() + i * elementBytes, array.data.data() + passed.offset + at * elementBytes,
                static_cast<size_t>(elementBytes));
  }
  return result;
}
