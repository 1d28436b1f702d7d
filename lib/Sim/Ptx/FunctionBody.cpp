// The statements of a kernel: PTX ISA 4.3. Scopes are counted, not recursed into.
#include "FunctionBody.h"

#include "Variables.h"

#include <string>
#include <utility>

namespace headrace::sim::ptx {

bool FunctionBody::parse() {
  state.lines.startFunction();
  if (!cursor.peek().is('{'))
    return cursor.expected("'{'");
  if (!openScope())
    return false;
  while (scopes.depth() > base)
    if (!parseStatement())
      return false;
  return true;
}

bool FunctionBody::parseStatement() {
  const Token &token = cursor.peek();
  if (token.is('{'))
    return openScope();
  if (cursor.accept('}'))
    return scopes.close(cursor, base, function.instructions);
  if (token.is('@'))
    return parseGuarded();
  if (token.kind == Token::Kind::Identifier)
    return parseLabelOrInstruction();
  if (token.kind == Token::Kind::Directive)
    return parseDirective();
  return cursor.expected("a statement");
}

bool FunctionBody::openScope() {
  if (scopes.depth() - base >= kMaxDepth)
    return cursor.expected("at most " + std::to_string(kMaxDepth) + " scopes in one another");
  cursor.take();
  scopes.open();
  return true;
}

bool FunctionBody::parseDirective() {
  if (cursor.accept(".reg"))
    return parseRegisters();
  if (cursor.accept(".loc"))
    return state.lines.parseLoc(cursor);
  if (cursor.accept(".pragma"))
    return parsePragma(cursor);
  if (cursor.accept(".param")) // of a call: PTX ISA 7.1
    return parseLocalVariables(Space::Param);
  if (std::optional<Space> space = spaceOf(cursor.peek().text)) {
    cursor.take();
    return parseLocalVariables(*space);
  }
  return cursor.expected("a statement");
}

bool FunctionBody::parseLocalVariables(Space space) {
  std::vector<DeclaredVariable> declared;
  if (!parseVariables(cursor, space, false, state.budget, declared))
    return false;
  for (DeclaredVariable &entry : declared) {
    if (!scopes.declare(cursor, entry.name, {Entity::Kind::FunctionVariable, function.variables.size(), 0}))
      return false;
    entry.variable.name = state.symbolNames.ofFunction(entry.variable.name);
    function.variables.push_back(std::move(entry.variable));
  }
  return true;
}

bool FunctionBody::parseLabelOrInstruction() {
  Token name = cursor.take();
  return cursor.accept(':') ? parseLabel(name) : parseInstruction(name, {});
}

/// Takes a label, or a list of branch targets, which looks like one.
bool FunctionBody::parseLabel(const Token &name) {
  if (cursor.accept(".branchtargets"))
    return operands.parseBranchTargets(name);
  return scopes.declare(cursor, name, {Entity::Kind::Label, function.instructions.size(), 0});
}

bool FunctionBody::parseGuarded() {
  cursor.take();
  Instruction instruction;
  instruction.guarded = true;
  Token opcode;
  return operands.parsePredicate(instruction.guard, instruction.guardNegated) &&
         cursor.name("an instruction", opcode) && parseInstruction(opcode, std::move(instruction));
}

bool FunctionBody::parseInstruction(const Token &opcode, Instruction instruction) {
  if (opcode.text.front() < 'a' || opcode.text.front() > 'z')
    return cursor.fail(opcode, "expected an instruction or a label, got " + quoted(opcode));
  instruction.line = opcode.line;
  instruction.opcode.emplace_back(opcode.text);
  while (cursor.peek().kind == Token::Kind::Directive)
    instruction.opcode.emplace_back(cursor.take().text.substr(1));
  if (!operands.parseOperands(instruction))
    return false;
  state.lines.mark(instruction);
  function.instructions.push_back(std::move(instruction));
  return true;
}

bool parsePragma(Cursor &cursor) {
  std::string ignored;
  return cursor.string("a string", ignored) && cursor.expect(';');
}

} // namespace headrace::sim::ptx
