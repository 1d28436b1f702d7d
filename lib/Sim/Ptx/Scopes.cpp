// Names and scopes.
#include "Scopes.h"

namespace headrace::sim::ptx {

bool Scopes::close(Cursor &cursor, size_t outermost, std::vector<Instruction> &instructions) {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  for (LabelUse &use : scope.uses) {
    auto found = scope.entities.find(std::string(use.name.text));
    if (found == scope.entities.end()) {
      if (scopes.size() <= outermost)
        return cursor.fail(use.name, "expected a label, got " + quoted(use.name) + ", which no scope here declares");
      useLabel(std::move(use));
      continue;
    }
    const Entity &entity = found->second;
    if (entity.kind != Entity::Kind::Label)
      return cursor.fail(use.name, "expected a label, got " + quoted(use.name) + ", a " + nameOf(entity.kind) +
                                       " of line " + std::to_string(entity.line));
    Operand &operand = instructions[use.instruction].operands[use.operand];
    (use.element ? operand.elements[*use.element] : operand).target = entity.index;
  }
  return true;
}

bool Scopes::declare(Cursor &cursor, const Token &at, const std::string &name, Entity entity) {
  entity.line = at.line;
  auto [place, isNew] = scopes.back().entities.emplace(name, entity);
  return isNew || cursor.fail(at, "expected a new name, got " + quoted(name) + ", a " + nameOf(place->second.kind) +
                                      " of line " + std::to_string(place->second.line));
}

bool Scopes::declare(Cursor &cursor, const Token &name, Entity entity) {
  if (name.text == "_")
    return cursor.fail(name, "expected a name, got '_'");
  return declare(cursor, name, std::string(name.text), entity);
}

const Entity *Scopes::find(std::string_view name) const {
  std::string key(name);
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto found = scope->entities.find(key); found != scope->entities.end())
      return &found->second;
  return nullptr;
}

std::string SymbolNames::ofFunction(std::string_view name) {
  std::string result(name);
  if (module.count(result) || function.count(result))
    result += "#" + std::to_string(function.size());
  function.insert(result);
  anyFunction.insert(result);
  return result;
}

bool SymbolNames::ofModule(std::string_view name) {
  module.emplace(name);
  return !anyFunction.count(std::string(name));
}

const char *nameOf(Entity::Kind kind) {
  constexpr const char *kNames[] = {
      "register", "parameter", "variable of the function", "variable of the module", "function",
      "function", "label",     "list of branch targets"};
  return kNames[static_cast<size_t>(kind)];
}

} // namespace headrace::sim::ptx
