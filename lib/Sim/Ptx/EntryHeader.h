// The head of a kernel: its parameters and the directives in front of its body.
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

} // namespace headrace::sim::ptx

#endif
