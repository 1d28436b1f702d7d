// The Python module headrace._native: the compiler in the caller's process.
#include "Compilation.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace headrace::native;

NB_MODULE(_native, module) {
  module.doc() = "The compiler of headrace, in this process. Its functions may be called from several threads at once.";

  nb::class_<Answer>(module, "Answer", "How a compilation ended, and what came of it.")
      .def_prop_ro(
          "status", [](const Answer &answer) { return int(answer.status); },
          "0 fine, 1 the program is refused, 2 wrong usage, 3 a fault of headrace.")
      .def_prop_ro(
          "code", [](const Answer &answer) { return nb::bytes(answer.code.data(), answer.code.size()); },
          "The module at the level asked for, PTX, or a cubin.")
      .def_ro("record", &Answer::record, "The launch record as JSON, from the pipe level on; else empty.")
      .def_ro("report", &Answer::report, "What was chosen and why, as JSON, from the pipe level on; else empty.")
      .def_ro("messages", &Answer::messages, "Diagnostics, with lines of the source.");

  module.def(
      "compile",
      [](std::string source, std::string target, std::string level, std::string name, std::string kernel,
         std::vector<std::pair<std::string, std::string>> settings) {
        Request request{std::move(source), std::move(name),   std::move(target),
                        std::move(level),  std::move(kernel), std::move(settings)};
        nb::gil_scoped_release release;
        return compile(request);
      },
      nb::arg("source"), nb::arg("target"), nb::arg("level"), nb::arg("name") = "kernel.mlir", nb::arg("kernel") = "",
      nb::arg("settings") = std::vector<std::pair<std::string, std::string>>(),
      "Compiles a module of the tile dialect to a level: tile, layout, pipe, nvvm, llvm, ptx, cubin or record.");

  module.def(
      "to_generic",
      [](std::string source, std::string name) {
        nb::gil_scoped_release release;
        return toGeneric(source, name);
      },
      nb::arg("source"), nb::arg("name") = "kernel.mlir",
      "The module in MLIR's generic form, with locations; nothing else changes.");

  module.def("targets", &targets, "Names of the targets, oldest first.");
}
