// Where PTX came from.
#include "SourceLines.h"

#include "Limits.h"

namespace headrace::sim::ptx {

bool SourceLines::parseFile(Cursor &cursor) {
  Token at = cursor.peek();
  uint64_t number = 0, ignored = 0;
  std::string name;
  if (!cursor.integer("the number of a file", 0, kMaxTextBytes, number) || !cursor.string("the name of a file", name))
    return false;
  if (!files.emplace(number, std::move(name)).second)
    return cursor.fail(at, "expected a new number of a file, got " + quoted(at));
  for (const char *what : {"a time", "a size"})
    if (cursor.accept(',') && !cursor.integer(what, 0, ~uint64_t(0), ignored))
      return false;
  return true;
}

bool SourceLines::parseLoc(Cursor &cursor) {
  Location location;
  if (!parseLocation(cursor, location))
    return false;
  current = location;
  return !cursor.accept(',') || parseInlining(cursor);
}

bool SourceLines::parseLocation(Cursor &cursor, Location &location) {
  Token at = cursor.peek();
  uint64_t line = 0, column = 0;
  if (!cursor.integer("the number of a file", 0, kMaxTextBytes, location.file) ||
      !cursor.integer("a line", 0, kMaxTextBytes, line) || !cursor.integer("a column", 0, kMaxTextBytes, column))
    return false;
  firstUses.emplace(location.file, at);
  location.line = static_cast<int>(line);
  location.column = static_cast<int>(column);
  return true;
}

/// Reads `function_name label + 4, inlined_at 1 3 7`. The label lies in a debug section, which is not read.
bool SourceLines::parseInlining(Cursor &cursor) {
  Token label;
  uint64_t offset = 0;
  Location caller;
  if (!cursor.expect("function_name") || !cursor.name("a label", label))
    return false;
  if (cursor.accept('+') && !cursor.integer("an offset", 0, ~uint64_t(0), offset))
    return false;
  return cursor.expect(',') && cursor.expect("inlined_at") && parseLocation(cursor, caller);
}

void SourceLines::mark(Instruction &instruction) {
  marked.emplace_back();
  if (!current)
    return;
  marked.back() = current->file;
  instruction.source.line = current->line;
  instruction.source.column = current->column;
}

bool SourceLines::resolve(Cursor &cursor, Module &module) const {
  for (const auto &[number, use] : firstUses)
    if (!files.count(number))
      return cursor.fail(use, "expected the number of a file, got " + quoted(use) + ", for which there is no .file");
  size_t index = 0;
  for (Function &function : module.functions)
    for (Instruction &instruction : function.instructions)
      if (std::optional<uint64_t> file = marked[index++])
        instruction.source.file = files.at(*file);
  return true;
}

} // namespace headrace::sim::ptx
