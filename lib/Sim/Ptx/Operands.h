// Operands of instructions: PTX ISA chapter 6.
#ifndef HEADRACE_LIB_SIM_PTX_OPERANDS_H
#define HEADRACE_LIB_SIM_PTX_OPERANDS_H

#include "Cursor.h"
#include "Limits.h"
#include "Scopes.h"

#include "headrace/Sim/Ptx/Module.h"

#include <vector>

namespace headrace::sim::ptx {

/// Reads the operands of a function's instructions. The grammar nests two deep ([map, {c0, c1}]) and so do the calls.
class OperandParser {
public:
  OperandParser(Cursor &cursor, Scopes &scopes, const Module &module, const Function &function, Budget &budget)
      : cursor(cursor), scopes(scopes), module(module), function(function), budget(budget) {}

  /// Reads `a, b, ...;`. Labels get their targets when their scope closes, where the instruction is expected to be the
  /// function's next one. Requires: instruction.opcode is set.
  bool parseOperands(Instruction &instruction);
  /// Reads `%p` or `!%p`.
  bool parsePredicate(RegId &reg, bool &negated);
  /// Reads `A, B, C;` behind `name: .branchtargets` and declares the list.
  bool parseBranchTargets(const Token &name);

private:
  bool parseCall(Instruction &instruction);
  bool parseArguments(Operand &operand);
  bool parseElements(Operand &operand, char close);
  bool parseOperand(Operand &operand);
  bool parseScalar(Operand &operand);
  bool parseElement(Operand &operand);
  bool parseVector(Operand &operand);
  bool parseAddress(Operand &operand);
  bool parsePair(const Token &first, Operand &operand);
  bool parseNumber(Operand &operand);
  bool parseNamed(Operand &operand);
  bool parseOffset(int64_t &offset);
  bool parseLabel(size_t index, Operand &operand);
  bool parseLabelList(size_t index, Operand &operand);
  /// Result: false if the entity has no value.
  bool setEntity(const Entity &entity, Operand &operand) const;

  Cursor &cursor;
  Scopes &scopes;
  const Module &module;
  const Function &function;
  Budget &budget;
  std::vector<std::vector<Token>> branchTargets;
};

} // namespace headrace::sim::ptx

#endif
