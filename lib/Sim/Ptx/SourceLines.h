// Where PTX came from: `.file` and `.loc`, PTX ISA 11.5.
#ifndef HEADRACE_LIB_SIM_PTX_SOURCELINES_H
#define HEADRACE_LIB_SIM_PTX_SOURCELINES_H

#include "Cursor.h"

#include "headrace/Sim/Ptx/Module.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace headrace::sim::ptx {

/// Files get their numbers after their use (LLVM puts `.file` at the end), so names come last.
class SourceLines {
public:
  /// Reads `.file 1 "name"`, also with a time and a size behind it. Requires: the cursor is behind `.file`.
  bool parseFile(Cursor &cursor);
  /// Reads `.loc 1 21 4, function_name $L__info_string0, inlined_at 1 3 7`: the place is that of the inlined code.
  /// Requires: the cursor is behind `.loc`.
  bool parseLoc(Cursor &cursor);

  /// No `.loc` counts any more.
  void startFunction() { current.reset(); }
  /// Gives an instruction the place of the last `.loc`, but for the file. To be called for each in order.
  void mark(Instruction &instruction);
  /// Sets the files of all instructions of the module.
  bool resolve(Cursor &cursor, Module &module) const;

private:
  struct Location {
    uint64_t file = 0;
    int line = 0;
    int column = 0;
  };
  bool parseLocation(Cursor &cursor, Location &location);
  bool parseInlining(Cursor &cursor);

  std::unordered_map<uint64_t, std::string> files;
  std::map<uint64_t, Token> firstUses; // of numbers of files
  std::optional<Location> current;
  std::vector<std::optional<uint64_t>> marked; // by instruction of the module
};

} // namespace headrace::sim::ptx

#endif
