// Arrays and scalars given for a launch, and their binding to a kernel's parameters.
#ifndef HEADRACE_SIM_LAUNCH_ARGUMENTS_H
#define HEADRACE_SIM_LAUNCH_ARGUMENTS_H

#include "headrace/Sim/Launch/Record.h"
#include "headrace/Sim/Machine/GlobalMemory.h"
#include "headrace/Sim/Machine/Program.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::sim {

/// A view of host memory, or a scalar. The memory around the view, if `base` and `bytes` reach further, belongs to the
/// array too: rows may be padded.
struct ArgumentValue {
  // An array:
  uint8_t *base = nullptr;      // first byte of the memory
  int64_t bytes = 0;            // of the memory
  int64_t offset = 0;           // of element [0, ...] from base, in bytes
  std::vector<int64_t> shape;   // elements
  std::vector<int64_t> strides; // elements
  uint64_t alignment = 256;     // of the device address of `base`: not more
  // A scalar:
  int64_t integer = 0;
  double real = 0;
};

/// Bytes of an element of a record's type ("bf16"), or 0 for an unknown one.
int64_t bytesOfType(const std::string &type);

/// How many programs a persistent kernel of `tiles` tiles is launched with when `resident` fit at once and none is to
/// have more than `trips` tiles, in whole clusters of `width`.
int64_t persistentPrograms(int64_t tiles, int64_t resident, int64_t width, int64_t trips);

/// Why a grid cannot be launched with these clusters, or "".
std::string invalidGrid(const std::array<uint32_t, 3> &grid, const std::array<uint32_t, 3> &cluster);

/// Makes the launch of `record` with `values`, one for each argument: checks types, shapes and the contract, maps the
/// arrays into `memory`, and fills in parameters, tensor maps and grid. `processors` bounds a persistent grid.
/// Without a value `error` says which argument breaks which rule.
std::optional<Launch> makeLaunch(const Record &record, const Program &program, const std::vector<ArgumentValue> &values,
                                 int64_t processors, GlobalMemory &memory, std::string &error);

} // namespace headrace::sim

#endif
