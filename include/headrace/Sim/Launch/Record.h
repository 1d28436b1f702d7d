// The launch record (docs/launch-record.md), version 1, as the simulator reads it.
#ifndef HEADRACE_SIM_LAUNCH_RECORD_H
#define HEADRACE_SIM_LAUNCH_RECORD_H

#include "headrace/Sim/Machine/Program.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::sim {

/// An integer expression over extents and scalars of the arguments.
struct Expression {
  enum class Kind { Constant, Dim, Scalar, Add, Sub, Mul, CeilDiv, FloorDiv, Mod, Min, Max };
  Kind kind = Kind::Constant;
  int64_t value = 0; // constant, or the argument
  int64_t dim = 0;
  std::vector<Expression> operands;
};

struct RecordArgument {
  std::string name;
  bool isArray = false;
  std::string type;                                   // "bf16"; of a scalar "i32"
  std::vector<std::optional<int64_t>> shape, strides; // of an array; empty: dynamic
};

struct RecordParameter {
  enum class Kind { Pointer, Dim, Stride, Scalar, TensorMap };
  Kind kind = Kind::Pointer;
  size_t index = 0; // argument, or tensor map
  size_t dim = 0;
  std::string type; // of dim, stride and scalar
};

struct RecordTensorMap {
  size_t argument = 0;
  std::string type;
  std::vector<size_t> dims; // innermost first
  std::vector<uint32_t> box;
  int swizzle = 0;
};

struct RecordRule {
  enum class Kind { Pointer, Stride, Dim, Scalar };
  Kind kind = Kind::Pointer;
  size_t argument = 0;
  size_t dim = 0;
  int64_t multiple = 1; // of bytes, or of elements
  std::string because;
};

struct Record {
  std::string kernel;
  std::string target;
  std::string ptx; // file name, or ""
  uint32_t threads = 0;
  std::array<uint32_t, 3> cluster = {1, 1, 1};
  int64_t sharedBytes = 0;
  std::array<Expression, 3> grid;
  bool isPersistent = false;
  int64_t trips = std::numeric_limits<int64_t>::max(); // at most, of a program of a persistent kernel
  std::vector<RecordArgument> arguments;
  std::vector<RecordParameter> parameters;
  std::vector<RecordTensorMap> tensorMaps;
  std::vector<RecordRule> contract;
  std::vector<NamedRange> names;                  // "memory"
  std::vector<std::pair<int, std::string>> roles; // "roles"
  std::vector<NamedAssert> asserts;               // "asserts"

  /// Without a value `error` names the field that is wrong.
  static std::optional<Record> parse(std::string_view json, std::string &error);
};

} // namespace headrace::sim

#endif
