// Text to ptx::Module.
#ifndef HEADRACE_SIM_PTX_PARSER_H
#define HEADRACE_SIM_PTX_PARSER_H

#include "headrace/Sim/Ptx/Module.h"

#include <optional>
#include <string>
#include <string_view>

namespace headrace::sim::ptx {

/// What is wrong with a text, and where. One error: the first.
struct ParseError {
  int line = 0;
  int column = 0;
  std::string message;
};

/// Reads `text`. `file` names it in messages.
/// Ensures: without a value, `error` says what was expected and what was found. Never throws and never recurses deeper
/// than a constant, whatever the text.
std::optional<Module> parse(std::string_view text, const std::string &file, ParseError &error);

} // namespace headrace::sim::ptx

#endif
