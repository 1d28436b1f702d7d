// Parameters of a source file.
#include "headrace/Pipelines/SourceParameters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace llvm;

namespace {
struct Substitution {
  StringRef target;
  std::map<std::string, std::string> values;
  std::string &message;

  /// `NAME = VALUE, TARGET: VALUE, ...`
  bool declare(StringRef declaration);
  /// One line with its uses replaced.
  std::optional<std::string> replace(StringRef line);
};
} // namespace

static bool isName(StringRef name) {
  return !name.empty() && !isDigit(name.front()) && all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
}

bool Substitution::declare(StringRef declaration) {
  auto [name, alternatives] = declaration.split('=');
  name = name.trim();
  SmallVector<StringRef> parts;
  alternatives.split(parts, ',');
  std::string value = parts.front().trim().str();
  if (!isName(name) || value.empty()) {
    message = "expected '// param NAME = VALUE, TARGET: VALUE, ...'";
    return false;
  }
  for (StringRef part : drop_begin(parts)) {
    auto [key, own] = part.split(':');
    if (key.trim().empty() || own.trim().empty()) {
      message = "expected 'TARGET: VALUE' after the first value of parameter '" + name.str() + "'";
      return false;
    }
    if (key.trim() == target)
      value = own.trim().str();
  }
  values.try_emplace(name.str(), value); // a setting of the command line is there already
  return true;
}

std::optional<std::string> Substitution::replace(StringRef line) {
  std::string result;
  while (true) {
    size_t begin = line.find("${");
    result += line.substr(0, begin);
    if (begin == StringRef::npos)
      return result;
    size_t end = line.find('}', begin);
    StringRef name = line.substr(begin + 2, end == StringRef::npos ? end : end - begin - 2);
    auto value = values.find(name.str());
    if (end == StringRef::npos || value == values.end()) {
      message = "parameter '" + name.take_until([](char c) { return isSpace(c); }).str() + "' is not declared";
      return std::nullopt;
    }
    result += value->second;
    line = line.substr(end + 1);
  }
}

std::optional<std::string>
headrace::substituteParameters(StringRef text, StringRef target,
                               const std::vector<std::pair<std::string, std::string>> &settings, std::string &message,
                               unsigned &line) {
  Substitution substitution{target, {}, message};
  std::vector<std::string> declared;
  for (const auto &[name, value] : settings)
    substitution.values[name] = value;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  line = 0;
  for (StringRef each : lines) {
    ++line;
    StringRef declaration = each.trim();
    if (!declaration.consume_front("//") || !(declaration = declaration.ltrim()).consume_front("param "))
      continue;
    if (!substitution.declare(declaration))
      return std::nullopt;
    declared.push_back(declaration.split('=').first.trim().str());
  }
  for (const auto &[name, value] : settings)
    if (!is_contained(declared, name)) {
      line = 0;
      message = "the source declares no parameter '" + name + "'";
      message += declared.empty() ? "" : "; it has " + join(declared, ", ");
      return std::nullopt;
    }
  std::string result;
  line = 0;
  for (StringRef each : lines) {
    ++line;
    std::optional<std::string> replaced =
        each.trim().starts_with("//") ? std::optional(each.str()) : substitution.replace(each);
    if (!replaced)
      return std::nullopt;
    result += *replaced + "\n";
  }
  result.pop_back();
  return result;
}
