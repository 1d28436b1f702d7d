// clusterlaunchcontrol: asking for the work of a cluster that has not started.
#ifndef HEADRACE_LIB_SIM_TENSORMEMORY_LAUNCHCONTROL_H
#define HEADRACE_LIB_SIM_TENSORMEMORY_LAUNCHCONTROL_H

#include "headrace/Sim/Instructions/Decoder.h"

namespace headrace::sim {

Evaluator decodeTryCancel(Decoder &decode);
Evaluator decodeQueryCancel(Decoder &decode);

} // namespace headrace::sim

#endif
