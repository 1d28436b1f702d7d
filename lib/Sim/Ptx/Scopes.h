// Which name means what, scope by scope: PTX ISA 9.7.12.1, `{ }`.
//
// Registers and variables must be declared before they are used, and are found at once. A label may come later, in the
// same scope or in one around it, so its uses wait until the scope closes: then it is this scope's label, or the use
// moves to the scope around. The innermost label wins even if one further out came first.
#ifndef HEADRACE_LIB_SIM_PTX_SCOPES_H
#define HEADRACE_LIB_SIM_PTX_SCOPES_H

#include "Cursor.h"

#include "headrace/Sim/Ptx/Module.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace headrace::sim::ptx {

/// What a name stands for.
struct Entity {
  enum class Kind { Register, Parameter, FunctionVariable, ModuleVariable, Function, External, Label, BranchTargets };
  Kind kind = Kind::Register;
  /// Of the register, parameter, variable or function in its list; of a label, the instruction behind it.
  size_t index = 0;
  int line = 0;
};

/// An operand that names a label: operand number `operand` of an instruction, or element `element` of that.
struct LabelUse {
  Token name;
  size_t instruction = 0;
  size_t operand = 0;
  std::optional<size_t> element;
};

class Scopes {
public:
  /// Opens the outermost scope, that of the module.
  Scopes() { open(); }

  size_t depth() const { return scopes.size(); }
  void open() { scopes.emplace_back(); }
  /// Closes the innermost scope and sets the targets of the uses of its labels. An error names a use whose name is no
  /// label, or one that is not known in the scope numbered `outermost` either.
  bool close(Cursor &cursor, size_t outermost, std::vector<Instruction> &instructions);

  /// Gives `name` a meaning in the innermost scope; an error at `at` if it has one there.
  bool declare(Cursor &cursor, const Token &at, const std::string &name, Entity entity);
  bool declare(Cursor &cursor, const Token &name, Entity entity);
  /// Result: null if the name is not known.
  const Entity *find(std::string_view name) const;
  void useLabel(LabelUse use) { scopes.back().uses.push_back(std::move(use)); }

private:
  struct Scope {
    std::unordered_map<std::string, Entity> entities;
    std::vector<LabelUse> uses;
  };
  std::vector<Scope> scopes;
};

/// Names of variables and parameters as the rest of the simulator sees them, where scopes no longer tell them apart.
class SymbolNames {
public:
  void startFunction() { function.clear(); }
  /// The name of a parameter or of a variable inside a function: as it is written, or with a number behind it if the
  /// module or an outer or earlier scope of the function has that name.
  std::string ofFunction(std::string_view name);
  /// Takes a name for a variable of the module. Result: false if a function already has one of that name inside.
  bool ofModule(std::string_view name);

private:
  std::unordered_set<std::string> module, function, anyFunction;
};

/// "register", "label", ...
const char *nameOf(Entity::Kind kind);

} // namespace headrace::sim::ptx

#endif
