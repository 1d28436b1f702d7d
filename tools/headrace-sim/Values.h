// Arguments of a launch from the command line: files, new arrays, numbers.
#pragma once

#include "headrace/Sim/Launch/Arguments.h"
#include "headrace/Sim/Launch/Npy.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::sim {

/// Whole arrays, and the views of them that are passed.
struct Values {
  std::vector<NpyArray> arrays;      ///< one for each argument; of a scalar empty
  std::vector<ArgumentValue> passed; ///< the same order

  /// Lets the views point to where the arrays are now.
  void rebase();
};

/// Reads what `--arg` gave for each argument of the record. Without a value `error` says which is wrong and why.
std::optional<Values> readValues(const Record &record, const std::vector<std::pair<std::string, std::string>> &given,
                                 std::string &error);

/// The part of the array that was passed, as an array of its own.
NpyArray viewOf(const NpyArray &array, const ArgumentValue &passed);

} // namespace headrace::sim
