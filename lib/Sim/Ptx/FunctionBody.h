// The statements of a kernel.
#ifndef HEADRACE_LIB_SIM_PTX_FUNCTIONBODY_H
#define HEADRACE_LIB_SIM_PTX_FUNCTIONBODY_H

#include "Cursor.h"
#include "Limits.h"
#include "Operands.h"
#include "Scopes.h"
#include "SourceLines.h"

#include "headrace/Sim/Ptx/Module.h"

namespace headrace::sim::ptx {

/// What the parts of a module share while it is being read.
struct ModuleState {
  Cursor cursor;
  Module module;
  Scopes scopes;
  SymbolNames symbolNames;
  SourceLines lines;
  Budget budget;
};

class FunctionBody {
public:
  FunctionBody(ModuleState &state, Function &function)
      : cursor(state.cursor), state(state), scopes(state.scopes), function(function),
        operands(state.cursor, state.scopes, state.module, function, state.budget), base(state.scopes.depth()) {}

  /// Reads `{ ... }`. Requires: the innermost scope is that of the parameters.
  bool parse();

private:
  bool parseStatement();
  bool openScope();
  bool parseDirective();
  bool parseRegisters();
  bool parseRegister(int bits);
  bool parseLocalVariables(Space space);
  bool parseLabelOrInstruction();
  bool parseLabel(const Token &name);
  bool parseGuarded();
  bool parseInstruction(const Token &opcode, Instruction instruction);

  Cursor &cursor;
  ModuleState &state;
  Scopes &scopes;
  Function &function;
  OperandParser operands;
  size_t base; // scopes around the body
};

/// Reads `"nounroll";` behind `.pragma`. Pragmas tell ptxas how to do it, not what (PTX ISA 11.4), so none counts here.
bool parsePragma(Cursor &cursor);

} // namespace headrace::sim::ptx

#endif
