// Operands of instructions.
#include "Operands.h"

#include "SpecialRegisters.h"

#include <limits>

namespace headrace::sim::ptx {

bool OperandParser::parseOperands(Instruction &instruction) {
  const std::string &family = instruction.opcode.front();
  if (family == "call")
    return parseCall(instruction);
  if (cursor.accept(';'))
    return true;
  do {
    size_t index = instruction.operands.size();
    Operand operand;
    bool good = family == "bra"                 ? parseLabel(index, operand)
                : family == "brx" && index == 1 ? parseLabelList(index, operand)
                                                : parseOperand(operand);
    if (!good)
      return false;
    instruction.operands.push_back(std::move(operand));
  } while (cursor.accept(','));
  return cursor.accept(';') || cursor.expected("',' or ';'");
}

/// Reads `(result), name, (argument, ...);`, of which the name alone must be there: a vector, a function, a vector.
bool OperandParser::parseCall(Instruction &instruction) {
  Operand results, function, arguments;
  results.kind = arguments.kind = Operand::Kind::Vector;
  if (cursor.peek().is('(') && !(parseArguments(results) && cursor.expect(',')))
    return false;
  Token name;
  if (!cursor.name("the name of a function", name))
    return false;
  const Entity *entity = scopes.find(name.text);
  if (!entity || entity->kind != Entity::Kind::External)
    return cursor.fail(name, "expected a function that '.extern .func' declares, got " + quoted(name));
  function.kind = Operand::Kind::Function;
  function.name = std::string(name.text);
  if (cursor.accept(',') && !parseArguments(arguments))
    return false;
  instruction.operands = {std::move(results), std::move(function), std::move(arguments)};
  return cursor.accept(';') || cursor.expected("',' or ';'");
}

/// Reads `(a, b)`.
bool OperandParser::parseArguments(Operand &operand) {
  if (!cursor.expect('('))
    return false;
  return cursor.accept(')') || parseElements(operand, ')');
}

/// Reads scalars up to `close`.
bool OperandParser::parseElements(Operand &operand, char close) {
  do {
    Operand element;
    if (!parseScalar(element))
      return false;
    operand.elements.push_back(std::move(element));
  } while (cursor.accept(','));
  return cursor.accept(close) || cursor.expected(std::string("',' or '") + close + "'");
}

bool OperandParser::parsePredicate(RegId &reg, bool &negated) {
  negated = cursor.accept('!');
  Token name = cursor.peek();
  const Entity *entity = name.kind == Token::Kind::Identifier ? scopes.find(name.text) : nullptr;
  if (!entity || entity->kind != Entity::Kind::Register || function.registers[entity->index].bits != 1)
    return cursor.expected("a predicate register");
  reg = static_cast<RegId>(entity->index);
  cursor.take();
  return true;
}

bool OperandParser::parseOperand(Operand &operand) {
  Token first = cursor.peek();
  if (cursor.peek().is('{'))
    return parseVector(operand);
  if (cursor.peek().is('['))
    return parseAddress(operand);
  if (!parseScalar(operand))
    return false;
  return !cursor.peek().is('|') || parsePair(first, operand);
}

/// Reads what can stand inside brackets: a scalar or a vector.
bool OperandParser::parseElement(Operand &operand) {
  return cursor.peek().is('{') ? parseVector(operand) : parseScalar(operand);
}

bool OperandParser::parseScalar(Operand &operand) {
  const Token &token = cursor.peek();
  if (token.is('!')) {
    operand.kind = Operand::Kind::Predicate;
    return parsePredicate(operand.reg, operand.negated);
  }
  if (token.is('-') || token.kind == Token::Kind::Integer || token.kind == Token::Kind::Float)
    return parseNumber(operand);
  if (token.kind == Token::Kind::Identifier)
    return parseNamed(operand) && (operand.kind != Operand::Kind::Symbol || parseOffset(operand.offset));
  return cursor.expected("an operand");
}

bool OperandParser::parseVector(Operand &operand) {
  cursor.take();
  operand.kind = Operand::Kind::Vector;
  return parseElements(operand, '}');
}

bool OperandParser::parseAddress(Operand &operand) {
  cursor.take();
  operand.kind = Operand::Kind::Address;
  const Token start = cursor.peek();
  Operand base;
  bool isNumber = start.kind == Token::Kind::Integer;
  if (!isNumber && start.kind != Token::Kind::Identifier)
    return cursor.expected("an address");
  if (!(isNumber ? parseNumber(base) : parseNamed(base)))
    return false;
  if (!isNumber && base.kind != Operand::Kind::Register && base.kind != Operand::Kind::Symbol)
    return cursor.fail(start, "expected an address, got " + quoted(start));
  operand.elements.push_back(std::move(base));
  if (!parseOffset(operand.offset))
    return false;
  while (cursor.accept(',')) {
    Operand element;
    if (!parseElement(element))
      return false;
    operand.elements.push_back(std::move(element));
  }
  return cursor.accept(']') || cursor.expected("'+', ',' or ']'");
}

/// Reads `|%q` behind the first element, which is in `operand` and begins with `first`.
bool OperandParser::parsePair(const Token &first, Operand &operand) {
  auto isResult = [](const Operand &o) { return o.kind == Operand::Kind::Register || o.kind == Operand::Kind::Sink; };
  cursor.take();
  if (!isResult(operand))
    return cursor.fail(first, "expected a register in front of '|', got " + quoted(first));
  Token second = cursor.peek();
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.elements.push_back(std::move(operand));
  pair.elements.emplace_back();
  if (!parseScalar(pair.elements.back()))
    return false;
  if (!isResult(pair.elements.back()))
    return cursor.fail(second, "expected a register behind '|', got " + quoted(second));
  operand = std::move(pair);
  return true;
}

bool OperandParser::parseNumber(Operand &operand) {
  bool negative = cursor.accept('-');
  const Token &token = cursor.peek();
  if (token.kind == Token::Kind::Float) {
    operand.kind = Operand::Kind::Float;
    operand.width = token.width;
    operand.bits = token.bits ^ (negative ? uint64_t(1) << (token.width - 1) : 0);
  } else if (token.kind == Token::Kind::Integer) {
    if (negative && token.bits > uint64_t(1) << 63)
      return cursor.expected("at most 9223372036854775808 behind '-'");
    operand.kind = Operand::Kind::Integer;
    operand.bits = negative ? 0 - token.bits : token.bits;
  } else {
    return cursor.expected("a number");
  }
  cursor.take();
  return true;
}

bool OperandParser::parseNamed(Operand &operand) {
  Token name = cursor.take();
  if (name.text == "_") {
    operand.kind = Operand::Kind::Sink;
    return true;
  }
  if (const Entity *entity = scopes.find(name.text))
    return setEntity(*entity, operand) ||
           cursor.fail(name, "expected an operand, got " + quoted(name) + ", a " + nameOf(entity->kind) + " of line " +
                                 std::to_string(entity->line));
  if (name.text == "WARP_SZ") { // PTX ISA 4.4: the one predefined constant
    operand.kind = Operand::Kind::Integer;
    operand.bits = 32;
    return true;
  }
  if (!isSpecialRegister(name.text))
    return cursor.fail(name, "expected an operand, got " + quoted(name) + ", which nothing declares");
  operand.kind = Operand::Kind::Special;
  operand.name = std::string(name.text);
  return true;
}

bool OperandParser::setEntity(const Entity &entity, Operand &operand) const {
  operand.kind = Operand::Kind::Symbol;
  switch (entity.kind) {
  case Entity::Kind::Register:
    operand.kind = Operand::Kind::Register;
    operand.reg = static_cast<RegId>(entity.index);
    return true;
  case Entity::Kind::Parameter:
    operand.name = function.parameters[entity.index].name;
    return true;
  case Entity::Kind::FunctionVariable:
    operand.name = function.variables[entity.index].name;
    return true;
  case Entity::Kind::ModuleVariable:
    operand.name = module.variables[entity.index].name;
    return true;
  case Entity::Kind::Function:
  case Entity::Kind::External:
  case Entity::Kind::Label:
  case Entity::Kind::BranchTargets:
    return false;
  }
  return false;
}

/// Reads `+16`, `+-16`, `-16` or nothing; ptxas also takes several.
bool OperandParser::parseOffset(int64_t &offset) {
  while (cursor.peek().is('+') || cursor.peek().is('-')) {
    bool negative = cursor.take().is('-');
    if (cursor.accept('-'))
      negative = !negative;
    uint64_t magnitude = 0;
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    Token at = cursor.peek();
    if (!cursor.integer("an offset", 0, kMost, magnitude))
      return false;
    int64_t step = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
    if (__builtin_add_overflow(offset, step, &offset))
      return cursor.fail(at, "expected offsets of less than 64 bits in total");
  }
  return true;
}

bool OperandParser::parseLabel(size_t index, Operand &operand) {
  LabelUse use;
  if (!cursor.name("a label", use.name))
    return false;
  operand.kind = Operand::Kind::Label;
  use.instruction = function.instructions.size();
  use.operand = index;
  scopes.useLabel(std::move(use));
  return true;
}

bool OperandParser::parseBranchTargets(const Token &name) {
  std::vector<Token> labels;
  do {
    labels.emplace_back();
    if (!cursor.name("a label", labels.back()))
      return false;
  } while (cursor.accept(','));
  branchTargets.push_back(std::move(labels));
  Entity entity{Entity::Kind::BranchTargets, branchTargets.size() - 1, 0};
  return scopes.declare(cursor, name, entity) && (cursor.accept(';') || cursor.expected("',' or ';'"));
}

/// Reads the name of a list of branch targets. The operand is a vector of its labels, which are looked for from here.
bool OperandParser::parseLabelList(size_t index, Operand &operand) {
  Token name;
  if (!cursor.name("a list of branch targets", name))
    return false;
  const Entity *entity = scopes.find(name.text);
  if (!entity || entity->kind != Entity::Kind::BranchTargets)
    return cursor.fail(name, "expected a list of branch targets, got " + quoted(name));
  const std::vector<Token> &labels = branchTargets[entity->index];
  budget.branchTargets -= static_cast<int64_t>(labels.size());
  if (budget.branchTargets < 0)
    return cursor.fail(name, "expected at most 65536 targets of all brx.idx, got more");
  operand.kind = Operand::Kind::Vector;
  for (const Token &label : labels) {
    scopes.useLabel({label, function.instructions.size(), index, operand.elements.size()});
    operand.elements.emplace_back();
    operand.elements.back().kind = Operand::Kind::Label;
  }
  return true;
}

} // namespace headrace::sim::ptx
