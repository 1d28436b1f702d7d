// LLVM's back ends end the process when they cannot select an instruction. Under this guard they
// end the call instead.
#ifndef HEADRACE_LIB_TARGET_FATALERRORGUARD_H
#define HEADRACE_LIB_TARGET_FATALERRORGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace headrace {

/// Runs `work`; false if LLVM gave up in it or it crashed, then `reason` has LLVM's words (empty
/// for a crash). A failed `work` is left by longjmp: its locals are not destroyed, and what it was
/// working on must not be touched again, not even to destroy it. May run on several threads at
/// once; does not nest.
bool runGuarded(llvm::function_ref<void()> work, std::string &reason);

} // namespace headrace

#endif // HEADRACE_LIB_TARGET_FATALERRORGUARD_H
