// The head of a kernel: PTX ISA 11.2 (.entry), 11.4 (performance) and 11.7 (clusters).
#include "EntryHeader.h"

#include "FunctionBody.h"
#include "Variables.h"

#include <string>

namespace headrace::sim::ptx {

namespace {

/// Reads `.ptr .global .align 16`, which promises something about what the parameter points to: PTX ISA 5.1.6.
bool parsePointerAttributes(Cursor &cursor) {
  if (!cursor.accept(".ptr"))
    return true;
  if (spaceOf(cursor.peek().text))
    cursor.take();
  int64_t ofPointee = 0;
  return !cursor.accept(".align") || parseAlignment(cursor, ofPointee);
}

/// Reads `.param .align 64 .b8 name[128]` or `.param .u64 .ptr .global .align 16 name`.
bool parseParameter(Cursor &cursor, int64_t &bytesLeft, Parameter &parameter, Token &name) {
  Declaration declaration;
  if (!cursor.expect(".param") || !parseDeclarationType(cursor, declaration) || !parsePointerAttributes(cursor) ||
      !parseDeclarator(cursor, declaration))
    return false;
  name = declaration.name;
  if (declaration.isOpen)
    return cursor.fail(name, "expected a size for parameter " + quoted(name) + ", got '[]'");
  bytesLeft -= declaration.bytes();
  if (bytesLeft < 0)
    return cursor.fail(name, "expected at most " + std::to_string(kMaxParameterBytes) + " bytes of parameters, got " +
                                 std::to_string(kMaxParameterBytes - bytesLeft) + " up to " + quoted(name));
  parameter.name = std::string(name.text);
  parameter.bytes = static_cast<int>(declaration.bytes());
  parameter.align = static_cast<int>(declaration.alignment());
  return true;
}

/// Reads `x`, `x, y` or `x, y, z`; what is not given is 1.
bool parseExtents(Cursor &cursor, std::array<int, 3> &extents) {
  std::array<int, 3> result = {1, 1, 1};
  for (int &extent : result) {
    uint64_t value = 0;
    if (!cursor.integer("an extent", 1, INT32_MAX, value))
      return false;
    extent = static_cast<int>(value);
    if (&extent != &result.back() && !cursor.accept(','))
      break;
  }
  extents = result;
  return true;
}

/// Reads one directive between the parameters and the body. Those that only bound what ptxas may use, or that the
/// sizes say as well, have no effect here.
bool parseTuning(Cursor &cursor, Function &function) {
  uint64_t ignored = 0;
  if (cursor.accept(".reqntid"))
    return parseExtents(cursor, function.requiredThreads);
  if (cursor.accept(".maxntid"))
    return parseExtents(cursor, function.maxThreads);
  if (cursor.accept(".reqnctapercluster"))
    return parseExtents(cursor, function.cluster);
  if (cursor.accept(".explicitcluster") || cursor.accept(".noreturn"))
    return true;
  if (cursor.accept(".pragma"))
    return parsePragma(cursor);
  for (const char *bound : {".minnctapersm", ".maxnctapersm", ".maxnreg", ".maxclusterrank"})
    if (cursor.accept(bound))
      return cursor.integer("a bound", 1, INT32_MAX, ignored);
  return cursor.expected("a directive of a kernel or '{'");
}

} // namespace

bool parseParameters(Cursor &cursor, std::vector<Parameter> &parameters, std::vector<Token> &names) {
  if (!cursor.accept('(') || cursor.accept(')'))
    return true;
  int64_t bytesLeft = kMaxParameterBytes;
  do {
    Token name;
    Parameter parameter;
    if (!parseParameter(cursor, bytesLeft, parameter, name))
      return false;
    parameters.push_back(std::move(parameter));
    names.push_back(name);
  } while (cursor.accept(','));
  return cursor.expect(')');
}

bool parseExternalFunction(Cursor &cursor, ExternalFunction &function, Token &name) {
  std::vector<Token> ignored;
  if (!parseParameters(cursor, function.results, ignored) || !cursor.name("the name of a function", name) ||
      !parseParameters(cursor, function.parameters, ignored))
    return false;
  function.name = std::string(name.text);
  cursor.accept(".noreturn");
  return cursor.expect(';');
}

bool parseEntryHeader(Cursor &cursor, Function &function, Token &name, std::vector<Token> &parameterNames) {
  if (!cursor.name("the name of a kernel", name) || !parseParameters(cursor, function.parameters, parameterNames))
    return false;
  function.name = std::string(name.text);
  function.isEntry = true;
  function.line = name.line;
  while (!cursor.peek().is('{'))
    if (!parseTuning(cursor, function))
      return false;
  return true;
}

} // namespace headrace::sim::ptx
