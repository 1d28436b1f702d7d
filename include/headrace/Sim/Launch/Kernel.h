// A kernel ready to be simulated: its launch record and its PTX.
#ifndef HEADRACE_SIM_LAUNCH_KERNEL_H
#define HEADRACE_SIM_LAUNCH_KERNEL_H

#include "headrace/Sim/Launch/Record.h"
#include "headrace/Sim/Machine/Program.h"
#include "headrace/Sim/Ptx/Module.h"

#include <memory>
#include <string>
#include <string_view>

namespace headrace::sim {

/// The parts refer to each other, so a kernel stays where it was made.
struct Kernel {
  Record record;
  ptx::Module module;
  Program program;

  /// `file` names the PTX in messages. Null: `error` says what is wrong, with the line.
  static std::unique_ptr<Kernel> load(std::string_view recordJson, std::string_view ptx, const std::string &file,
                                      std::string &error);
};

} // namespace headrace::sim

#endif
