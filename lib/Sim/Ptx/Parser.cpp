// Text to ptx::Module: the directives of a module, PTX ISA chapter 11.
#include "headrace/Sim/Ptx/Parser.h"

#include "EntryHeader.h"
#include "FunctionBody.h"
#include "Variables.h"

#include <utility>

namespace headrace::sim::ptx {

namespace {

class ModuleParser {
public:
  ModuleParser(std::string_view text, const std::string &file, ParseError &error)
      : state{Cursor(text, error), {}, {}, {}, {}, {}}, cursor(state.cursor) {
    state.module.file = file;
  }

  bool parse();
  Module take() { return std::move(state.module); }

private:
  bool parseVersion();
  bool parseTarget();
  bool parseAddressSize();
  bool parseDeclaration();
  bool parseLinked();
  bool parseModuleVariables(Space space, bool isExternal);
  bool parseEntry();
  bool parseExternal();
  bool declareParameters(Function &function, const std::vector<Token> &names);
  bool refuseFunction();
  bool skipDebugSection();

  ModuleState state;
  Cursor &cursor;
};

bool ModuleParser::parse() {
  if (!parseVersion() || !parseTarget() || !parseAddressSize())
    return false;
  while (cursor.peek().kind != Token::Kind::End)
    if (!parseDeclaration())
      return false;
  return state.lines.resolve(cursor, state.module);
}

/// Reads `.version 9.0`. The number is no float but two integers.
bool ModuleParser::parseVersion() {
  if (!cursor.expect(".version"))
    return false;
  const Token &number = cursor.peek();
  size_t dot = number.text.find('.');
  bool isVersion = number.kind == Token::Kind::Float && dot + 1 < number.text.size() &&
                   number.text.find_first_not_of("0123456789.") == std::string_view::npos;
  if (!isVersion)
    return cursor.expected("a version like 9.0");
  state.module.version = std::string(cursor.take().text);
  return true;
}

/// Reads `.target sm_90a, debug`. The options of textures and debug information change no result.
bool ModuleParser::parseTarget() {
  Token target;
  if (!cursor.expect(".target") || !cursor.name("a target like sm_90a", target))
    return false;
  std::string_view chip = target.text;
  bool hasSuffix = chip.back() == 'a' || chip.back() == 'f';
  std::string_view number = chip.substr(0, 3) == "sm_" ? chip.substr(3, chip.size() - 3 - hasSuffix) : "";
  if (number.empty() || number.size() > 4 || number.find_first_not_of("0123456789") != std::string_view::npos)
    return cursor.fail(target, "expected a target like sm_90a, got " + quoted(target));
  state.module.target = std::string(chip);
  while (cursor.accept(','))
    if (!cursor.accept("debug") && !cursor.accept("texmode_unified") && !cursor.accept("texmode_independent"))
      return cursor.expected("'debug' or a mode of textures");
  return true;
}

/// Reads `.address_size 64`. Without it addresses have 32 bits (PTX ISA 11.1.3), which nothing here is made for.
bool ModuleParser::parseAddressSize() {
  if (!cursor.expect(".address_size"))
    return false;
  if (cursor.peek().text != "64")
    return cursor.expected("an address size of 64");
  cursor.take();
  return true;
}

bool ModuleParser::parseDeclaration() {
  if (cursor.accept(".file"))
    return state.lines.parseFile(cursor);
  if (cursor.accept(".pragma"))
    return parsePragma(cursor);
  if (cursor.accept(".section"))
    return skipDebugSection();
  return parseLinked();
}

/// Reads a variable or a function. Within one module `.visible` and `.weak` make no difference.
bool ModuleParser::parseLinked() {
  bool isExternal = cursor.accept(".extern");
  if (!isExternal && !cursor.accept(".visible"))
    cursor.accept(".weak");
  if (cursor.accept(".func"))
    return isExternal ? parseExternal() : refuseFunction();
  if (!isExternal && cursor.accept(".entry"))
    return parseEntry();
  std::optional<Space> space = spaceOf(cursor.peek().text);
  if (!space || *space == Space::Local)
    return cursor.expected("a variable or a kernel");
  cursor.take();
  return parseModuleVariables(*space, isExternal);
}

bool ModuleParser::parseModuleVariables(Space space, bool isExternal) {
  std::vector<DeclaredVariable> declared;
  if (!parseVariables(cursor, space, isExternal, state.budget, declared))
    return false;
  for (DeclaredVariable &entry : declared) {
    Entity entity{Entity::Kind::ModuleVariable, state.module.variables.size(), 0};
    if (!state.scopes.declare(cursor, entry.name, entity))
      return false;
    if (!state.symbolNames.ofModule(entry.variable.name))
      return cursor.fail(entry.name, "expected a name that no kernel above declares inside, got " + quoted(entry.name));
    state.module.variables.push_back(std::move(entry.variable));
  }
  return true;
}

bool ModuleParser::parseEntry() {
  Function function;
  Token name;
  std::vector<Token> parameterNames;
  if (!parseEntryHeader(cursor, function, name, parameterNames) ||
      !state.scopes.declare(cursor, name, {Entity::Kind::Function, state.module.functions.size(), 0}))
    return false;
  state.scopes.open();
  if (!declareParameters(function, parameterNames) || !FunctionBody(state, function).parse() ||
      !state.scopes.close(cursor, 1, function.instructions))
    return false;
  state.module.functions.push_back(std::move(function));
  return true;
}

bool ModuleParser::parseExternal() {
  ExternalFunction function;
  Token name;
  if (!parseExternalFunction(cursor, function, name) ||
      !state.scopes.declare(cursor, name, {Entity::Kind::External, state.module.externals.size(), 0}))
    return false;
  state.module.externals.push_back(std::move(function));
  return true;
}

bool ModuleParser::declareParameters(Function &function, const std::vector<Token> &names) {
  state.symbolNames.startFunction();
  for (size_t i = 0; i < names.size(); ++i) {
    if (!state.scopes.declare(cursor, names[i], {Entity::Kind::Parameter, i, 0}))
      return false;
    function.parameters[i].name = state.symbolNames.ofFunction(names[i].text);
  }
  return true;
}

/// Reads as far as the function's name, for the message.
bool ModuleParser::refuseFunction() {
  if (cursor.accept('('))
    while (!cursor.accept(')')) {
      if (cursor.peek().kind == Token::Kind::End || cursor.peek().kind == Token::Kind::Bad)
        return cursor.expected("')'");
      cursor.take();
    }
  Token name;
  return cursor.name("the name of a function", name) &&
         cursor.fail(name, "definitions of functions other than kernels are not supported, got " + quoted(name));
}

/// Reads `.debug_str { ... }` behind `.section`. What DWARF says about a program has no effect on it.
bool ModuleParser::skipDebugSection() {
  if (cursor.peek().kind != Token::Kind::Directive || cursor.peek().text.substr(0, 7) != ".debug_")
    return cursor.expected("the name of a debug section");
  cursor.take();
  if (!cursor.expect('{'))
    return false;
  while (!cursor.accept('}')) {
    if (cursor.peek().kind == Token::Kind::End || cursor.peek().kind == Token::Kind::Bad)
      return cursor.expected("'}'");
    cursor.take();
  }
  return true;
}

} // namespace

std::optional<Module> parse(std::string_view text, const std::string &file, ParseError &error) {
  error = {};
  if (text.size() > kMaxTextBytes) {
    error = {1, 1,
             "expected at most " + std::to_string(kMaxTextBytes) + " bytes of text, got " +
                 std::to_string(text.size())};
    return std::nullopt;
  }
  ModuleParser parser(text, file, error);
  if (!parser.parse())
    return std::nullopt;
  return parser.take();
}

} // namespace headrace::sim::ptx
