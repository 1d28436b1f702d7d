// Declarations of variables.
#include "Variables.h"

namespace headrace::sim::ptx {

namespace {

/// Reads one `[4]` or `[]`.
bool parseDimension(Cursor &cursor, Declaration &declaration) {
  Token bracket = cursor.take();
  ++declaration.dimensions;
  if (declaration.dimensions == 1 && cursor.accept(']')) {
    declaration.isOpen = true;
    declaration.elements = 0;
    return !cursor.peek().is('[') || cursor.expected("one dimension for an array without a size");
  }
  uint64_t size = 0;
  if (!cursor.integer("a size", 1, kMaxVariableBytes, size))
    return false;
  if (size > kMaxVariableBytes / static_cast<uint64_t>(declaration.bytes()))
    return cursor.fail(bracket, "expected at most " + std::to_string(kMaxVariableBytes) + " bytes for " +
                                    quoted(declaration.name) + ", got more");
  declaration.elements *= static_cast<int64_t>(size);
  return cursor.expect(']');
}

bool mayBeOpen(const Declaration &declaration, Space space, bool isExternal) {
  return !declaration.isOpen || declaration.elements > 0 || (isExternal && space == Space::Shared);
}

bool parseVariable(Cursor &cursor, Space space, bool isExternal, Budget &budget, Declaration declaration,
                   DeclaredVariable &result) {
  if (!parseDeclarator(cursor, declaration))
    return false;
  Token equals = cursor.peek();
  if (cursor.accept('=')) {
    // PTX ISA 5.4.4: initial values are for global and constant variables.
    if (isExternal || (space != Space::Global && space != Space::Const))
      return cursor.fail(equals, "expected no initial value for " + quoted(declaration.name) + ", got '='");
    if (!parseInitialValue(cursor, declaration, budget, result.variable.initial))
      return false;
  }
  if (!mayBeOpen(declaration, space, isExternal))
    return cursor.fail(declaration.name, "expected a size for " + quoted(declaration.name) + ", got '[]'");
  result.name = declaration.name;
  result.variable.name = std::string(declaration.name.text);
  result.variable.space = space;
  result.variable.bytes = declaration.bytes();
  result.variable.align = declaration.alignment();
  result.variable.isExternal = isExternal;
  return true;
}

} // namespace

bool parseAlignment(Cursor &cursor, int64_t &align) {
  Token at = cursor.peek();
  uint64_t value = 0;
  if (!cursor.integer("an alignment", 1, kMaxAlignment, value))
    return false;
  align = static_cast<int64_t>(value);
  return (value & (value - 1)) == 0 || cursor.fail(at, "expected a power of two as alignment, got " + quoted(at));
}

bool parseDeclarationType(Cursor &cursor, Declaration &declaration) {
  if (cursor.accept(".align") && !parseAlignment(cursor, declaration.align))
    return false;
  if (cursor.accept(".v2"))
    declaration.lanes = 2;
  else if (cursor.accept(".v4"))
    declaration.lanes = 4;
  std::optional<ElementType> type = elementTypeOf(cursor.peek().text);
  if (!type || type->bits < 8)
    return cursor.expected("a type of whole bytes");
  declaration.type = *type;
  cursor.take();
  return true;
}

bool parseDeclarator(Cursor &cursor, Declaration &declaration) {
  if (!cursor.name("a name", declaration.name))
    return false;
  while (cursor.peek().is('['))
    if (!parseDimension(cursor, declaration))
      return false;
  return true;
}

std::optional<Space> spaceOf(std::string_view directive) {
  if (directive == ".global")
    return Space::Global;
  if (directive == ".const")
    return Space::Const;
  if (directive == ".shared")
    return Space::Shared;
  if (directive == ".local")
    return Space::Local;
  return std::nullopt;
}

bool parseVariables(Cursor &cursor, Space space, bool isExternal, Budget &budget,
                    std::vector<DeclaredVariable> &result) {
  Declaration shared;
  if (!parseDeclarationType(cursor, shared))
    return false;
  do {
    DeclaredVariable variable;
    if (!parseVariable(cursor, space, isExternal, budget, shared, variable))
      return false;
    result.push_back(std::move(variable));
  } while (cursor.accept(','));
  return cursor.expect(';');
}

} // namespace headrace::sim::ptx
