// From source text to a compiled module: parameters, parser, compiler, each with its messages.
#include "headrace/Pipelines/CompileSource.h"
#include "headrace/Pipelines/Pipelines.h"
#include "headrace/Pipelines/SourceParameters.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include <memory>

using namespace mlir;
using namespace headrace;

/// The text with its parameters replaced.
static std::optional<std::string> replaceParameters(const Source &source, StringRef target,
                                                    llvm::raw_ostream &messages) {
  std::string message;
  unsigned line = 0;
  std::optional<std::string> text = substituteParameters(source.text, target, source.settings, message, line);
  if (text)
    return text;
  if (line)
    messages << source.name << ":" << line << ": ";
  messages << "error: " << message << "\n";
  return std::nullopt;
}

/// A copy whose strings are its own: values made from attributes refer to those, which the context takes along.
static llvm::json::Value ownStrings(const llvm::json::Value &value) {
  if (const llvm::json::Object *object = value.getAsObject()) {
    llvm::json::Object copy;
    for (const auto &[key, member] : *object)
      copy.try_emplace(key.str(), ownStrings(member));
    return copy;
  }
  if (const llvm::json::Array *array = value.getAsArray()) {
    llvm::json::Array copy;
    for (const llvm::json::Value &element : *array)
      copy.push_back(ownStrings(element));
    return copy;
  }
  if (std::optional<StringRef> text = value.getAsString())
    return text->str();
  return value;
}

static void ownStrings(std::optional<llvm::json::Object> &object) {
  if (object)
    object = std::move(*ownStrings(llvm::json::Value(std::move(*object))).getAsObject());
}

/// A context with our dialects. Loading them takes a tenth of a small compilation, so a thread keeps its context for the
/// next ones. What they intern stays in it, which is why it is replaced now and then.
static std::shared_ptr<MLIRContext> contextOfThread() {
  constexpr unsigned kMostUses = 64;
  thread_local std::shared_ptr<MLIRContext> context;
  thread_local unsigned uses = 0;
  if (uses++ % kMostUses == 0) {
    DialectRegistry registry;
    registerHeadraceDialects(registry);
    context = std::make_shared<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    context->printOpOnDiagnostic(false);
  }
  return context;
}

bool headrace::withParsed(StringRef program, StringRef name, llvm::raw_ostream &messages,
                          function_ref<void(ModuleOp)> body) {
  std::shared_ptr<MLIRContext> context = contextOfThread();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(program, name), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, context.get(), messages);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, context.get());
  if (module)
    body(*module);
  return bool(module);
}

CompileStatus headrace::compileSource(const Source &source, const CompileOptions &options, Compilation &result,
                                      std::string &program, llvm::raw_ostream &messages) {
  std::optional<std::string> text = replaceParameters(source, options.target.name, messages);
  if (!text)
    return CompileStatus::Refused;
  program = std::move(*text);
  CompileStatus status = CompileStatus::Refused;
  withParsed(program, source.name, messages, [&](ModuleOp module) {
    status = compile(module, options, result);
    ownStrings(result.record);
    ownStrings(result.report);
  });
  return status;
}
