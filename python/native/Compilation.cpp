// Requests of the Python module, answered by the compiler.
#include "Compilation.h"
#include "headrace/Pipelines/CompileSource.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::native;

static std::string toText(std::optional<llvm::json::Object> &object) {
  if (!object)
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(*object));
  return text;
}

/// Fills in what does not depend on the compilation's end. Result: whether the request makes sense.
static bool readOptions(const Request &request, CompileOptions &options, Answer &answer) {
  std::string message;
  std::optional<TargetInfo> target = parseTarget(request.target, message);
  if (!target) {
    answer.status = Refused;
    answer.messages = "error: " + message + "\n";
    return false;
  }
  std::optional<Level> level = parseLevel(request.level);
  if (!level) {
    answer.status = Usage;
    answer.messages = "unknown level '" + request.level + "'\n";
    return false;
  }
  options.target = *target;
  // The record needs no code.
  options.level = request.level == "record" ? Level::Pipe : *level;
  options.kernel = request.kernel;
  return true;
}

Answer native::compile(const Request &request) {
  Answer answer;
  CompileOptions options;
  if (!readOptions(request, options, answer))
    return answer;
  Compilation result;
  std::string program;
  llvm::raw_string_ostream messages(answer.messages);
  Source source{request.name, request.source, request.settings};
  switch (compileSource(source, options, result, program, messages)) {
  case CompileStatus::Refused:
    answer.status = Refused;
    return answer;
  case CompileStatus::InternalError:
    answer.status = Fault;
    return answer;
  case CompileStatus::Ok:
    break;
  }
  answer.record = toText(result.record);
  answer.report = toText(result.report);
  if (request.level == "record")
    answer.code = answer.record;
  else if (options.level == Level::Cubin)
    answer.code.assign(result.cubin.begin(), result.cubin.end());
  else
    answer.code = std::move(result.text);
  return answer;
}

Answer native::toGeneric(const std::string &text, const std::string &name) {
  Answer answer;
  llvm::raw_string_ostream messages(answer.messages), code(answer.code);
  bool isParsed = withParsed(text, name, messages, [&](ModuleOp module) {
    module.print(code, OpPrintingFlags().printGenericOpForm().enableDebugInfo().useLocalScope());
  });
  if (!isParsed)
    answer.status = Refused;
  return answer;
}

std::vector<std::string> native::targets() {
  std::vector<std::string> names;
  for (const TargetInfo &target : allTargets())
    names.push_back(target.name);
  return names;
}
