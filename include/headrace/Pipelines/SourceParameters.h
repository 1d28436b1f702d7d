// Parameters of a source file: tile sizes and types that --set changes and that may differ from target to target.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace {

/// Replaces each `${NAME}` of `text` by the value of its parameter, declared on a comment line of its own:
///
///   // param BN = 128, sm_90a: 256, sm_100a: 256
///
/// The value is the one in `settings`, else the one for `target`, else the first. Lines keep their numbers.
/// Returns nothing, with a message and the 1-based line it belongs to (0: the command line), if a declaration is
/// malformed, a name is used without one, or a setting names no parameter.
std::optional<std::string> substituteParameters(llvm::StringRef text, llvm::StringRef target,
                                                const std::vector<std::pair<std::string, std::string>> &settings,
                                                std::string &message, unsigned &line);

} // namespace headrace
