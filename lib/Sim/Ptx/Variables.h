// Declarations of variables: PTX ISA 5.4.
#ifndef HEADRACE_LIB_SIM_PTX_VARIABLES_H
#define HEADRACE_LIB_SIM_PTX_VARIABLES_H

#include "Cursor.h"
#include "Limits.h"
#include "Types.h"

#include "headrace/Sim/Ptx/Module.h"

#include <optional>
#include <vector>

namespace headrace::sim::ptx {

/// `.align 4 .v2 .b8 name[2][3]`, or as much of it as was read.
struct Declaration {
  Token name;
  ElementType type;
  int lanes = 1;     // 2 for .v2
  int64_t align = 0; // 0: not given
  int dimensions = 0;
  bool isOpen = false;  // name[]
  int64_t elements = 1; // of type and lanes; 0 if open

  int64_t elementBytes() const { return type.bits / 8 * lanes; }
  int64_t bytes() const { return elements * elementBytes(); }
  /// As given, or that of an element: PTX ISA 5.4.5.
  int64_t alignment() const { return align ? align : elementBytes(); }
};

struct DeclaredVariable {
  Token name;
  Variable variable;
};

/// Reads `.align N .v2 .type`, of which only the type must be there. Predicates are refused.
bool parseDeclarationType(Cursor &cursor, Declaration &declaration);
bool parseAlignment(Cursor &cursor, int64_t &align);
/// Reads `name[2][3]`.
bool parseDeclarator(Cursor &cursor, Declaration &declaration);

/// The space that `.global`, `.const`, `.shared` or `.local` names.
std::optional<Space> spaceOf(std::string_view directive);
/// Reads what follows the name of the space, including the semicolon, and adds the variables to `result`.
bool parseVariables(Cursor &cursor, Space space, bool isExternal, Budget &budget,
                    std::vector<DeclaredVariable> &result);

/// Reads the value behind `=`. An open array gets its size from it.
/// Ensures: initial.size() == declaration.bytes(); what is not given is zero.
bool parseInitialValue(Cursor &cursor, Declaration &declaration, Budget &budget, std::vector<uint8_t> &initial);

} // namespace headrace::sim::ptx

#endif
