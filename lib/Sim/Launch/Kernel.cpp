// From two texts to a program.
#include "headrace/Sim/Launch/Kernel.h"

#include "headrace/Sim/Ptx/Parser.h"

namespace headrace::sim {

std::unique_ptr<Kernel> Kernel::load(std::string_view recordJson, std::string_view ptx, const std::string &file,
                                     std::string &error) {
  auto kernel = std::make_unique<Kernel>();
  std::optional<Record> record = Record::parse(recordJson, error);
  if (!record) {
    error = "launch record: " + error;
    return nullptr;
  }
  kernel->record = std::move(*record);
  ptx::ParseError parseError;
  std::optional<ptx::Module> module = ptx::parse(ptx, file, parseError);
  if (!module) {
    error = file + ":" + std::to_string(parseError.line) + ":" + std::to_string(parseError.column) + ": " +
            parseError.message;
    return nullptr;
  }
  kernel->module = std::move(*module);
  std::optional<Program> program = Program::decode(kernel->module, kernel->record.kernel, error);
  if (!program)
    return nullptr;
  kernel->program = std::move(*program);
  return kernel;
}

} // namespace headrace::sim
