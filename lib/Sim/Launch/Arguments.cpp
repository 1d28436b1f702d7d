// Binding: from arrays and scalars to parameter bytes, tensor maps and a grid.
#include "headrace/Sim/Launch/Arguments.h"

#include <algorithm>
#include <cstring>

namespace headrace::sim {

namespace {

constexpr int64_t kMaxPrograms = INT32_MAX; // programs are numbered by ints

bool isEmpty(const ArgumentValue &array) {
  return std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end();
}
/// Whether no element's address depends on a stride.
bool isFreeStride(const ArgumentValue &array, size_t dim) { return array.shape[dim] <= 1 || isEmpty(array); }

/// Collects the parts of a launch, or the first error.
class Binder {
public:
  Binder(const Record &record, const Program &program, const std::vector<ArgumentValue> &values, GlobalMemory &memory,
         std::string &error)
      : record(record), program(program), values(values), memory(memory), error(error) {}

  std::optional<Launch> bind(int64_t processors);

private:
  bool fail(std::string message) {
    error = std::move(message);
    return false;
  }
  const std::string &nameOf(size_t argument) const { return record.arguments[argument].name; }
  int64_t elementBytes(size_t argument) const { return bytesOfType(record.arguments[argument].type); }

  bool checkShape(size_t argument);
  bool checkRule(const RecordRule &rule);
  bool mapArrays();
  bool evaluate(const Expression &expression, int64_t &value);
  bool makeGrid(int64_t processors);
  bool makeParameters();
  bool makeTensorMap(const RecordTensorMap &described, TensorMap &map);
  void put(size_t parameter, const void *value, size_t bytes);

  const Record &record;
  const Program &program;
  const std::vector<ArgumentValue> &values;
  GlobalMemory &memory;
  std::string &error;
  std::vector<uint64_t> addresses; // of element [0, ...] of each array
  Launch launch;
};

bool Binder::checkShape(size_t argument) {
  const RecordArgument &expected = record.arguments[argument];
  const ArgumentValue &value = values[argument];
  if (value.shape.size() != expected.shape.size())
    return fail("'" + expected.name + "': expected " + std::to_string(expected.shape.size()) + " dimensions, got " +
                std::to_string(value.shape.size()));
  for (size_t dim = 0; dim < expected.shape.size(); ++dim) {
    if (expected.shape[dim] && *expected.shape[dim] != value.shape[dim])
      return fail("'" + expected.name + "': expected " + std::to_string(*expected.shape[dim]) +
                  " elements along dimension " + std::to_string(dim) + ", got " + std::to_string(value.shape[dim]));
    if (expected.strides[dim] && !isFreeStride(value, dim) && *expected.strides[dim] != value.strides[dim])
      return fail("'" + expected.name + "': expected stride " + std::to_string(*expected.strides[dim]) +
                  " along dimension " + std::to_string(dim) + ", got " + std::to_string(value.strides[dim]));
  }
  return true;
}

bool Binder::checkRule(const RecordRule &rule) {
  const ArgumentValue &value = values[rule.argument];
  const char *what = "address";
  uint64_t number = isEmpty(value) ? 0 : addresses[rule.argument];
  if (rule.kind == RecordRule::Kind::Stride) {
    if (isFreeStride(value, rule.dim))
      return true;
    what = "stride";
    number = static_cast<uint64_t>(value.strides[rule.dim] * elementBytes(rule.argument));
  } else if (rule.kind == RecordRule::Kind::Dim) {
    what = "extent";
    number = static_cast<uint64_t>(value.shape[rule.dim]);
  } else if (rule.kind == RecordRule::Kind::Scalar) {
    what = "value";
    number = static_cast<uint64_t>(value.integer);
  }
  if (number % static_cast<uint64_t>(rule.multiple) == 0)
    return true;
  return fail("'" + nameOf(rule.argument) + "': expected its " + what + " to be a multiple of " +
              std::to_string(rule.multiple) + ", got " + std::to_string(number) + ", because of " + rule.because);
}

bool Binder::mapArrays() {
  for (size_t i = 0; i < values.size(); ++i) {
    addresses.push_back(0);
    if (!record.arguments[i].isArray)
      continue;
    if (!checkShape(i))
      return false;
    addresses.back() = memory.map(nameOf(i), values[i].base, values[i].bytes, values[i].alignment) +
                       static_cast<uint64_t>(values[i].offset);
  }
  return true;
}

bool Binder::evaluate(const Expression &expression, int64_t &value) {
  using Kind = Expression::Kind;
  if (expression.kind == Kind::Constant) {
    value = expression.value;
    return true;
  }
  if (expression.kind == Kind::Dim || expression.kind == Kind::Scalar) {
    size_t argument = static_cast<size_t>(expression.value), dim = static_cast<size_t>(expression.dim);
    bool wantsArray = expression.kind == Kind::Dim;
    if (argument >= values.size() || record.arguments[argument].isArray != wantsArray ||
        (wantsArray && dim >= values[argument].shape.size()))
      return fail("the grid refers to an argument that does not exist");
    value = wantsArray ? values[argument].shape[dim] : values[argument].integer;
    return true;
  }
  int64_t a = 0, b = 0;
  if (!evaluate(expression.operands[0], a) || !evaluate(expression.operands[1], b))
    return false;
  bool divides = expression.kind == Kind::CeilDiv || expression.kind == Kind::FloorDiv || expression.kind == Kind::Mod;
  if (divides && b <= 0)
    return fail("the grid divides by " + std::to_string(b));
  int64_t floor = divides ? a / b - (a % b < 0) : 0;
  bool overflow = false;
  switch (expression.kind) {
  case Kind::Add:
    overflow = __builtin_add_overflow(a, b, &value);
    break;
  case Kind::Sub:
    overflow = __builtin_sub_overflow(a, b, &value);
    break;
  case Kind::Mul:
    overflow = __builtin_mul_overflow(a, b, &value);
    break;
  case Kind::CeilDiv:
    value = floor + (floor * b != a);
    break;
  case Kind::FloorDiv:
    value = floor;
    break;
  case Kind::Mod:
    value = a - floor * b;
    break;
  case Kind::Min:
    value = std::min(a, b);
    break;
  default:
    value = std::max(a, b);
  }
  return !overflow || fail("the grid is too large");
}

bool Binder::makeGrid(int64_t processors) {
  for (int axis = 0; axis < 3; ++axis) {
    int64_t count = 0;
    if (!evaluate(record.grid[axis], count))
      return false;
    if (count < 0 || count > kMaxPrograms)
      return fail("expected 0 to " + std::to_string(kMaxPrograms) + " programs along axis " + std::to_string(axis) +
                  ", got " + std::to_string(count));
    if (axis == 0 && record.isPersistent && count > 0)
      count = persistentPrograms(count, std::min(processors, kMaxPrograms), record.cluster[0], record.trips);
    launch.grid[axis] = static_cast<uint32_t>(count);
  }
  error = invalidGrid(launch.grid, record.cluster);
  return error.empty();
}

void Binder::put(size_t parameter, const void *value, size_t bytes) {
  std::memcpy(launch.parameters.data() + program.parameterOffsets[parameter], value,
              std::min<size_t>(bytes, static_cast<size_t>(program.function->parameters[parameter].bytes)));
}

bool Binder::makeParameters() {
  if (record.parameters.size() != program.function->parameters.size())
    return fail("the record has " + std::to_string(record.parameters.size()) + " parameters, the kernel " +
                std::to_string(program.function->parameters.size()));
  launch.parameters.resize(static_cast<size_t>(program.parameterBytes));
  for (size_t i = 0; i < record.parameters.size(); ++i) {
    const RecordParameter &parameter = record.parameters[i];
    switch (parameter.kind) {
    case RecordParameter::Kind::Pointer:
      put(i, &addresses[parameter.index], 8);
      break;
    case RecordParameter::Kind::Dim:
      put(i, &values[parameter.index].shape[parameter.dim], 8);
      break;
    case RecordParameter::Kind::Stride:
      put(i, &values[parameter.index].strides[parameter.dim], 8);
      break;
    case RecordParameter::Kind::Scalar:
      if (parameter.type == "f32") {
        float single = static_cast<float>(values[parameter.index].real);
        put(i, &single, 4);
      } else if (parameter.type == "f64") {
        put(i, &values[parameter.index].real, 8);
      } else {
        put(i, &values[parameter.index].integer, 8);
      }
      break;
    case RecordParameter::Kind::TensorMap:
      if (!makeTensorMap(record.tensorMaps[parameter.index], launch.tensorMaps[program.parameterOffsets[i]]))
        return false;
    }
  }
  return true;
}

bool Binder::makeTensorMap(const RecordTensorMap &described, TensorMap &map) {
  static const std::pair<const char *, ElementType> types[] = {
      {"u8", ElementType::U8},   {"u16", ElementType::U16},   {"u32", ElementType::U32},  {"i32", ElementType::I32},
      {"u64", ElementType::U64}, {"i64", ElementType::I64},   {"f16", ElementType::F16},  {"f32", ElementType::F32},
      {"f64", ElementType::F64}, {"bf16", ElementType::BF16}, {"tf32", ElementType::TF32}};
  const ArgumentValue &value = values[described.argument];
  map.name = nameOf(described.argument);
  auto type =
      std::find_if(std::begin(types), std::end(types), [&](auto &entry) { return described.type == entry.first; });
  if (type == std::end(types))
    return fail("tensor map of '" + map.name + "': expected an element type, got '" + described.type + "'");
  map.type = type->second;
  map.address = addresses[described.argument];
  map.box = described.box;
  map.elementStrides.assign(described.box.size(), 1);
  map.swizzle = described.swizzle;
  for (size_t i = 0; i < described.dims.size(); ++i) {
    size_t dim = described.dims[i];
    map.sizes.push_back(static_cast<uint64_t>(value.shape[dim]));
    // The stride of a dimension of one element is free; the map wants a legal one.
    int64_t stride = isFreeStride(value, dim) ? 0 : value.strides[dim] * map.elementBytes();
    if (i > 0)
      map.strides.push_back(stride ? static_cast<uint64_t>(stride) : 16);
  }
  // An array without elements has no tensor map; a kernel that touches it finds out.
  std::string invalid = isEmpty(value) ? "" : map.invalid();
  return invalid.empty() || fail("tensor map of '" + map.name + "': " + invalid);
}

std::optional<Launch> Binder::bind(int64_t processors) {
  if (!mapArrays())
    return std::nullopt;
  for (const RecordRule &rule : record.contract)
    if (!checkRule(rule))
      return std::nullopt;
  if (!makeGrid(processors) || !makeParameters())
    return std::nullopt;
  launch.block = {record.threads, 1, 1};
  launch.cluster = record.cluster;
  launch.sharedBytes = record.sharedBytes;
  launch.memory = &memory;
  launch.roles = record.roles;
  launch.asserts = record.asserts;
  for (const auto &[variable, address] : program.globals) {
    std::vector<uint8_t> contents = variable->initial;
    contents.resize(static_cast<size_t>(variable->bytes));
    memory.mapVariable(variable->name, address, std::move(contents));
  }
  for (NamedRange range : record.names) {
    range.offset += program.staticSharedBytes; // the record counts from the start of dynamic shared memory
    launch.names.push_back(std::move(range));
  }
  return std::move(launch);
}

} // namespace

int64_t bytesOfType(const std::string &type) {
  static const std::pair<const char *, int64_t> sizes[] = {{"bf16", 2}, {"f16", 2},  {"f32", 4}, {"f64", 8},
                                                           {"e4m3", 1}, {"e5m2", 1}, {"i1", 1},  {"i8", 1},
                                                           {"i16", 2},  {"i32", 4},  {"i64", 8}, {"index", 8}};
  for (const auto &[name, bytes] : sizes)
    if (type == name)
      return bytes;
  return 0;
}

int64_t persistentPrograms(int64_t tiles, int64_t resident, int64_t width, int64_t trips) {
  int64_t limit = std::max<int64_t>(resident / width, 1);
  int64_t rounds = std::min((tiles + limit * width - 1) / (limit * width), trips);
  return (tiles + rounds * width - 1) / (rounds * width) * width;
}

std::string invalidGrid(const std::array<uint32_t, 3> &grid, const std::array<uint32_t, 3> &cluster) {
  int64_t all = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    if (grid[axis] % cluster[axis])
      return "expected a multiple of " + std::to_string(cluster[axis]) + " programs along axis " +
             std::to_string(axis) + ", got " + std::to_string(grid[axis]);
    all = std::min(all * grid[axis], kMaxPrograms + 1);
  }
  return all <= kMaxPrograms ? "" : "expected at most " + std::to_string(kMaxPrograms) + " programs in all";
}

std::optional<Launch> makeLaunch(const Record &record, const Program &program, const std::vector<ArgumentValue> &values,
                                 int64_t processors, GlobalMemory &memory, std::string &error) {
  return Binder(record, program, values, memory, error).bind(processors);
}

} // namespace headrace::sim
