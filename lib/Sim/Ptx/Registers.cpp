// Declarations of registers: PTX ISA 5.1.1 and 5.4.6 (`%r<12>`).
#include "FunctionBody.h"
#include "Types.h"

#include <string>

namespace headrace::sim::ptx {

namespace {

/// Reads `<12>` behind a name, if it is there. Result in `count`: none if not.
bool parseCount(Cursor &cursor, const Token &name, std::optional<uint64_t> &count) {
  if (!cursor.accept('<'))
    return true;
  if (name.text.size() > kMaxPrefixBytes)
    return cursor.fail(name, "expected at most " + std::to_string(kMaxPrefixBytes) +
                                 " characters for the name of numbered registers, got " +
                                 std::to_string(name.text.size()));
  uint64_t value = 0;
  if (!cursor.integer("a number of registers", 0, ~uint64_t(0), value))
    return false;
  count = value;
  return cursor.expect('>');
}

} // namespace

bool FunctionBody::parseRegisters() {
  std::optional<ElementType> type = elementTypeOf(cursor.peek().text);
  if (!type)
    return cursor.expected("a type of registers");
  cursor.take();
  do {
    if (!parseRegister(type->bits))
      return false;
  } while (cursor.accept(','));
  return cursor.accept(';') || cursor.expected("',' or ';'");
}

/// Reads `%x` or `%r<12>`, which stands for %r0 ... %r11.
bool FunctionBody::parseRegister(int bits) {
  Token name;
  std::optional<uint64_t> count;
  if (!cursor.name("the name of a register", name) || !parseCount(cursor, name, count))
    return false;
  uint64_t number = count.value_or(1);
  if (number > static_cast<uint64_t>(state.budget.registers))
    return cursor.fail(name, "expected at most " + std::to_string(Budget().registers) +
                                 " registers in the module, got " + std::to_string(number) + " more in " +
                                 quoted(name));
  state.budget.registers -= static_cast<int64_t>(number);
  for (uint64_t i = 0; i < number; ++i) {
    std::string full = std::string(name.text) + (count ? std::to_string(i) : "");
    if (full == "_")
      return cursor.fail(name, "expected a name, got '_'");
    if (!scopes.declare(cursor, name, full, {Entity::Kind::Register, function.registers.size(), 0}))
      return false;
    function.registers.push_back({std::move(full), bits});
  }
  return true;
}

} // namespace headrace::sim::ptx
