// The head of a kernel, its parameters and the directives in front of its body, and those of functions.
#ifndef HEADRACE_LIB_SIM_PTX_ENTRYHEADER_H
#define HEADRACE_LIB_SIM_PTX_ENTRYHEADER_H

#include "Cursor.h"

#include "headrace/Sim/Ptx/Module.h"

#include <vector>

namespace headrace::sim::ptx {

/// Reads `name(.param ..., ...) .reqntid 128 ...` up to the brace of the body, but names nothing: `function` gets its
/// name and sizes, and the names of its parameters are left to the caller. Requires: the cursor is behind `.entry`.
/// Ensures: parameterNames.size() == function.parameters.size().
bool parseEntryHeader(Cursor &cursor, Function &function, Token &name, std::vector<Token> &parameterNames);

/// Reads `(.param ..., ...)`, if it is there.
bool parseParameters(Cursor &cursor, std::vector<Parameter> &parameters, std::vector<Token> &names);

/// Reads `(.param .b32 result) name(.param .b64 first, ...) .noreturn;` behind `.extern .func`: PTX ISA 11.2.2, 11.6.1.
bool parseExternalFunction(Cursor &cursor, ExternalFunction &function, Token &name);

} // namespace headrace::sim::ptx

#endif
