// The launch record from JSON: every field is checked, the first wrong one is named.
#include "headrace/Sim/Launch/Record.h"

#include "headrace/Sim/Launch/Arguments.h"
#include "llvm/Support/JSON.h"

#include <algorithm>

namespace headrace::sim {

namespace {

namespace json = llvm::json;

constexpr int64_t kMaxNumber = INT32_MAX; // of what is not a size of memory
constexpr int64_t kMaxOffset = 1 << 24;   // in shared memory
constexpr uint64_t kMaxCluster = 16; // hardware.md 1.1

/// Reads fields and remembers the first thing that was wrong.
class Reader {
public:
  explicit Reader(std::string &error) : error(error) {}

  bool failed() const { return !error.empty(); }
  void fail(const std::string &message) {
    if (error.empty())
      error = message;
  }

  int64_t integer(const json::Object &object, const char *key, int64_t low = 0, int64_t high = INT64_MAX) {
    std::optional<int64_t> value = object.getInteger(key);
    if (!value || *value < low || *value > high) {
      std::string range = high == INT64_MAX ? " of at least " + std::to_string(low)
                                            : " from " + std::to_string(low) + " to " + std::to_string(high);
      fail(std::string("expected an integer '") + key + "'" + range);
      return low;
    }
    return *value;
  }
  std::string string(const json::Object &object, const char *key) {
    std::optional<llvm::StringRef> value = object.getString(key);
    if (!value)
      fail(std::string("expected a string '") + key + "'");
    return value ? value->str() : std::string();
  }
  const json::Array &array(const json::Object &object, const char *key) {
    static const json::Array none;
    const json::Array *value = object.getArray(key);
    if (!value)
      fail(std::string("expected a list '") + key + "'");
    return value ? *value : none;
  }
  /// Calls `body` with each object in the list `key`.
  template <typename Body> void objects(const json::Object &object, const char *key, Body body) {
    for (const json::Value &value : array(object, key)) {
      if (const json::Object *element = value.getAsObject())
        body(*element);
      else
        fail(std::string("expected objects in '") + key + "'");
    }
  }
  template <typename Number> std::vector<Number> integers(const json::Object &object, const char *key) {
    std::vector<Number> result;
    for (const json::Value &value : array(object, key)) {
      std::optional<int64_t> number = value.getAsInteger();
      if (!number || *number < 0 || *number > kMaxNumber)
        fail(std::string("expected integers in '") + key + "'");
      result.push_back(static_cast<Number>(number.value_or(0)));
    }
    return result;
  }
  /// Integers, or null for what is dynamic.
  std::vector<std::optional<int64_t>> extents(const json::Object &object, const char *key) {
    std::vector<std::optional<int64_t>> result;
    for (const json::Value &value : array(object, key)) {
      result.push_back(value.getAsInteger());
      if (!result.back() && !value.getAsNull())
        fail(std::string("expected integers or null in '") + key + "'");
    }
    return result;
  }
  Expression expression(const json::Value &value, int depth = 0);

private:
  std::string &error;
};

Expression Reader::expression(const json::Value &value, int depth) {
  constexpr int kMaxDepth = 64;
  static const std::pair<const char *, Expression::Kind> operations[] = {
      {"add", Expression::Kind::Add},           {"sub", Expression::Kind::Sub},
      {"mul", Expression::Kind::Mul},           {"ceildiv", Expression::Kind::CeilDiv},
      {"floordiv", Expression::Kind::FloorDiv}, {"mod", Expression::Kind::Mod},
      {"min", Expression::Kind::Min},           {"max", Expression::Kind::Max}};
  Expression result;
  if (std::optional<int64_t> constant = value.getAsInteger()) {
    result.value = *constant;
    return result;
  }
  const json::Array *list = value.getAsArray();
  std::string head = list && !list->empty() ? list->front().getAsString().value_or("").str() : "";
  if (head == "dim" && list->size() == 3) {
    result.kind = Expression::Kind::Dim;
    result.value = (*list)[1].getAsInteger().value_or(-1);
    result.dim = (*list)[2].getAsInteger().value_or(-1);
    return result;
  }
  if (head == "scalar" && list->size() == 2) {
    result.kind = Expression::Kind::Scalar;
    result.value = (*list)[1].getAsInteger().value_or(-1);
    return result;
  }
  for (const auto &[name, kind] : operations) {
    if (head != name || list->size() != 3 || depth == kMaxDepth)
      continue;
    result.kind = kind;
    result.operands = {expression((*list)[1], depth + 1), expression((*list)[2], depth + 1)};
    return result;
  }
  fail("expected an expression in 'grid'");
  return result;
}

RecordArgument readArgument(Reader &read, const json::Object &object) {
  RecordArgument argument;
  argument.name = read.string(object, "name");
  std::string kind = read.string(object, "kind");
  argument.isArray = kind == "array";
  argument.type = read.string(object, object.get("dtype") ? "dtype" : "type");
  if (bytesOfType(argument.type) == 0)
    read.fail("expected a type of argument '" + argument.name + "', got '" + argument.type + "'");
  if (argument.isArray) {
    argument.shape = read.extents(object, "shape");
    argument.strides = read.extents(object, "strides");
    if (argument.shape.size() != argument.strides.size())
      read.fail("expected as many strides as dimensions of '" + argument.name + "'");
  } else if (kind != "scalar") {
    read.fail("expected kind array or scalar of argument '" + argument.name + "', got '" + kind + "'");
  }
  return argument;
}

RecordParameter readParameter(Reader &read, const json::Object &object) {
  static const std::pair<const char *, RecordParameter::Kind> kinds[] = {
      {"pointer", RecordParameter::Kind::Pointer},
      {"dim", RecordParameter::Kind::Dim},
      {"stride", RecordParameter::Kind::Stride},
      {"scalar", RecordParameter::Kind::Scalar},
      {"tensor_map", RecordParameter::Kind::TensorMap}};
  RecordParameter parameter;
  std::string kind = read.string(object, "kind");
  bool known = false;
  for (const auto &[name, value] : kinds) {
    if (kind == name) {
      parameter.kind = value;
      known = true;
    }
  }
  if (!known)
    read.fail("expected a kind of parameter, got '" + kind + "'");
  bool isMap = parameter.kind == RecordParameter::Kind::TensorMap;
  parameter.index = static_cast<size_t>(read.integer(object, isMap ? "map" : "arg"));
  if (parameter.kind == RecordParameter::Kind::Dim || parameter.kind == RecordParameter::Kind::Stride)
    parameter.dim = static_cast<size_t>(read.integer(object, "dim"));
  if (!isMap && parameter.kind != RecordParameter::Kind::Pointer)
    parameter.type = read.string(object, "type");
  return parameter;
}

RecordTensorMap readTensorMap(Reader &read, const json::Object &object) {
  RecordTensorMap map;
  map.argument = static_cast<size_t>(read.integer(object, "arg"));
  map.type = read.string(object, "dtype");
  map.dims = read.integers<size_t>(object, "dims");
  map.box = read.integers<uint32_t>(object, "box");
  map.swizzle = static_cast<int>(read.integer(object, "swizzle", 0, 128));
  if (map.dims.size() != map.box.size())
    read.fail("expected as many extents in 'box' as in 'dims'");
  return map;
}

RecordRule readRule(Reader &read, const json::Object &object) {
  RecordRule rule;
  std::string what = read.string(object, "what");
  rule.argument = static_cast<size_t>(read.integer(object, "arg"));
  rule.because = read.string(object, "because");
  if (what == "pointer_multiple") {
    rule.kind = RecordRule::Kind::Pointer;
  } else if (what == "stride_multiple") {
    rule.kind = RecordRule::Kind::Stride;
  } else if (what == "dim_multiple") {
    rule.kind = RecordRule::Kind::Dim;
  } else if (what == "scalar_multiple") {
    rule.kind = RecordRule::Kind::Scalar;
  } else {
    read.fail("expected a rule in 'contract', got '" + what + "'");
  }
  bool inBytes = rule.kind == RecordRule::Kind::Pointer || rule.kind == RecordRule::Kind::Stride;
  rule.multiple = read.integer(object, inBytes ? "bytes" : "of", 1);
  if (rule.kind == RecordRule::Kind::Stride || rule.kind == RecordRule::Kind::Dim)
    rule.dim = static_cast<size_t>(read.integer(object, "dim"));
  return rule;
}

/// Whether all references between the parts of a record hold.
void checkReferences(Reader &read, const Record &record) {
  auto isArray = [&](size_t argument, size_t dim) {
    return argument < record.arguments.size() && record.arguments[argument].isArray &&
           dim < std::max<size_t>(record.arguments[argument].shape.size(), 1);
  };
  for (const RecordParameter &parameter : record.parameters) {
    bool holds = parameter.kind == RecordParameter::Kind::TensorMap ? parameter.index < record.tensorMaps.size()
                 : parameter.kind == RecordParameter::Kind::Scalar
                     ? parameter.index < record.arguments.size() && !record.arguments[parameter.index].isArray
                     : isArray(parameter.index, parameter.dim);
    if (!holds)
      read.fail("a parameter refers to an argument that does not exist");
  }
  for (const RecordTensorMap &map : record.tensorMaps)
    for (size_t dim : map.dims)
      if (!isArray(map.argument, dim))
        read.fail("a tensor map refers to an array that does not exist");
  for (const RecordRule &rule : record.contract)
    if (rule.kind == RecordRule::Kind::Scalar ? rule.argument >= record.arguments.size()
                                              : !isArray(rule.argument, rule.dim))
      read.fail("a rule of 'contract' refers to an argument that does not exist");
}

void readNames(Reader &read, const json::Object &object, Record &record) {
  if (object.get("memory"))
    read.objects(object, "memory", [&](const json::Object &range) {
      record.names.push_back({read.string(range, "name"), read.integer(range, "offset", 0, kMaxOffset),
                              read.integer(range, "bytes", 0, kMaxOffset)});
    });
  if (object.get("roles"))
    read.objects(object, "roles", [&](const json::Object &role) {
      record.roles.push_back(
          {static_cast<int>(read.integer(role, "first_warp", 0, kMaxNumber)), read.string(role, "name")});
    });
}

void readAsserts(Reader &read, const json::Object &object, Record &record) {
  if (object.get("asserts"))
    read.objects(object, "asserts", [&](const json::Object &entry) {
      record.asserts.push_back({read.string(entry, "message"), read.string(entry, "file"),
                                static_cast<int>(read.integer(entry, "line", 0, kMaxNumber)),
                                static_cast<int>(read.integer(entry, "column", 0, kMaxNumber))});
    });
}

} // namespace

std::optional<Record> Record::parse(std::string_view text, std::string &error) {
  error.clear();
  llvm::Expected<json::Value> value = json::parse(llvm::StringRef(text.data(), text.size()));
  const json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object) {
    error = value ? "expected an object" : llvm::toString(value.takeError());
    return std::nullopt;
  }
  Reader read(error);
  Record record;
  if (int64_t version = read.integer(*object, "version"); version != 1)
    read.fail("expected version 1, got " + std::to_string(version));
  record.kernel = read.string(*object, "kernel");
  record.target = read.string(*object, "target");
  record.ptx = object->getString("ptx").value_or("").str();
  record.threads = static_cast<uint32_t>(read.integer(*object, "threads", 1, 1024));
  record.sharedBytes = read.integer(*object, "shared_bytes", 0, 1 << 20);
  std::vector<uint32_t> cluster = read.integers<uint32_t>(*object, "cluster");
  if (cluster.size() != 3 || !cluster[0] || !cluster[1] || !cluster[2])
    read.fail("expected three positive integers in 'cluster'");
  else if (*std::max_element(cluster.begin(), cluster.end()) > kMaxCluster ||
           uint64_t(cluster[0]) * cluster[1] * cluster[2] > kMaxCluster)
    read.fail("expected at most " + std::to_string(kMaxCluster) + " programs in a 'cluster'");
  else
    record.cluster = {cluster[0], cluster[1], cluster[2]};
  if (const json::Object *grid = object->getObject("grid")) {
    const char *const axes[] = {"x", "y", "z"};
    for (int i = 0; i < 3; ++i)
      if (const json::Value *axis = grid->get(axes[i]))
        record.grid[i] = read.expression(*axis);
      else
        read.fail(std::string("expected '") + axes[i] + "' in 'grid'");
    record.isPersistent = grid->getBoolean("persistent").value_or(false);
    record.trips = grid->getInteger("trips").value_or(record.trips);
    if (record.trips < 1)
      read.fail("expected 'trips' of a grid to be a positive integer");
  } else {
    read.fail("expected an object 'grid'");
  }
  read.objects(*object, "args", [&](const json::Object &o) { record.arguments.push_back(readArgument(read, o)); });
  read.objects(*object, "params", [&](const json::Object &o) { record.parameters.push_back(readParameter(read, o)); });
  read.objects(*object, "tensor_maps",
               [&](const json::Object &o) { record.tensorMaps.push_back(readTensorMap(read, o)); });
  read.objects(*object, "contract", [&](const json::Object &o) { record.contract.push_back(readRule(read, o)); });
  readNames(read, *object, record);
  readAsserts(read, *object, record);
  checkReferences(read, record);
  if (read.failed())
    return std::nullopt;
  return record;
}

} // namespace headrace::sim
