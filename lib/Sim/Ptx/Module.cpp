// What a parsed instruction says about itself.
#include "headrace/Sim/Ptx/Module.h"

namespace headrace::sim::ptx {

std::string Instruction::spelling() const {
  std::string result;
  for (const std::string &part : opcode)
    result += (result.empty() ? "" : ".") + part;
  return result;
}

} // namespace headrace::sim::ptx
