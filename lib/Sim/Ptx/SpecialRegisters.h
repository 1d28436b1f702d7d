// Names of special registers: PTX ISA chapter 10.
#ifndef HEADRACE_LIB_SIM_PTX_SPECIALREGISTERS_H
#define HEADRACE_LIB_SIM_PTX_SPECIALREGISTERS_H

#include <string_view>

namespace headrace::sim::ptx {

/// Whether `name` is a special register of one value: %laneid, %tid.x, but not %tid.
bool isSpecialRegister(std::string_view name);

} // namespace headrace::sim::ptx

#endif
