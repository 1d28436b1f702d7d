// Findings as text and as JSON.
#ifndef HEADRACE_SIM_LAUNCH_REPORT_H
#define HEADRACE_SIM_LAUNCH_REPORT_H

#include "headrace/Sim/Machine/Finding.h"
#include "headrace/Sim/Machine/Program.h"

#include <string>

namespace headrace::sim {

/// One finding as the tools print it: place, kind, message, who, the PTX line and the source line it came from, notes.
std::string describe(const Findings::Entry &entry, const Launch &launch, const ptx::Module &module);

} // namespace headrace::sim

#endif
