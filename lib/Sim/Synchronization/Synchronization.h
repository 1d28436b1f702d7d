// The parts of addSynchronization.
#ifndef HEADRACE_LIB_SIM_SYNCHRONIZATION_SYNCHRONIZATION_H
#define HEADRACE_LIB_SIM_SYNCHRONIZATION_SYNCHRONIZATION_H

#include "headrace/Sim/Instructions/Decoder.h"

namespace headrace::sim {

void addThreadBarriers(Registry &registry); // bar, barrier
void addMbarriers(Registry &registry);      // mbarrier
void addFences(Registry &registry);         // fence, membar, elect, setmaxnreg, griddepcontrol

} // namespace headrace::sim

#endif
