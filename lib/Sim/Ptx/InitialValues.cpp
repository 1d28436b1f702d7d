// Initial values of variables: PTX ISA 5.4.4.
#include "Variables.h"

#include <cstring>

namespace headrace::sim::ptx {

namespace {

/// The integer as the element's bits. It may be meant signed or unsigned.
bool integerValue(Cursor &cursor, bool negative, const Declaration &declaration, uint64_t &bits) {
  int width = declaration.type.bits;
  if (declaration.type.isFloat || width > 64)
    return cursor.expected("an initial value of the type of " + quoted(declaration.name));
  uint64_t magnitude = cursor.peek().bits;
  uint64_t limit = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
  if (magnitude > (negative ? limit / 2 + 1 : limit))
    return cursor.expected("an initial value of " + std::to_string(width) + " bits");
  bits = negative ? 0 - magnitude : magnitude;
  cursor.take();
  return true;
}

/// The float as the element's bits. Decimal constants are doubles, also for an f32: PTX ISA 4.5.2.
bool floatValue(Cursor &cursor, const Declaration &declaration, uint64_t &bits) {
  const Token &token = cursor.peek();
  bits = token.bits;
  if (declaration.type.isFloat && declaration.type.bits == 32 && declaration.type.takesFloats && token.width == 64) {
    double wide = 0;
    std::memcpy(&wide, &bits, sizeof wide);
    float narrow = static_cast<float>(wide);
    uint32_t pattern = 0;
    std::memcpy(&pattern, &narrow, sizeof narrow);
    bits = pattern;
  } else if (!declaration.type.takesFloats || declaration.type.bits != token.width) {
    return cursor.expected("an initial value of the type of " + quoted(declaration.name));
  }
  cursor.take();
  return true;
}

bool parseElement(Cursor &cursor, const Declaration &declaration, uint64_t &bits) {
  bool negative = cursor.accept('-');
  switch (cursor.peek().kind) {
  case Token::Kind::Integer:
    return integerValue(cursor, negative, declaration, bits);
  case Token::Kind::Float:
    if (!floatValue(cursor, declaration, bits))
      return false;
    bits ^= negative ? uint64_t(1) << (declaration.type.bits - 1) : 0;
    return true;
  case Token::Kind::Identifier:
    return cursor.expected("a constant as initial value (addresses are not supported)");
  default:
    return cursor.expected("a constant as initial value");
  }
}

bool append(Cursor &cursor, const Declaration &declaration, uint64_t bits, Budget &budget,
            std::vector<uint8_t> &initial) {
  int64_t bytes = declaration.type.bits / 8;
  budget.initialBytes -= bytes;
  if (budget.initialBytes < 0)
    return cursor.expected("less than 64 MiB of initial values");
  for (int64_t i = 0; i < bytes; ++i)
    initial.push_back(static_cast<uint8_t>(bits >> 8 * i));
  return true;
}

bool parseList(Cursor &cursor, const Declaration &declaration, Budget &budget, std::vector<uint8_t> &initial) {
  if (declaration.dimensions > 1)
    return cursor.expected("no initial value for an array of several dimensions");
  if (!cursor.expect('{'))
    return false;
  if (cursor.accept('}'))
    return true;
  do {
    uint64_t bits = 0;
    bool isFull = !declaration.isOpen && static_cast<int64_t>(initial.size()) == declaration.bytes();
    if (isFull)
      return cursor.expected("at most " + std::to_string(declaration.elements) + " initial values");
    if (!parseElement(cursor, declaration, bits) || !append(cursor, declaration, bits, budget, initial))
      return false;
  } while (cursor.accept(','));
  return cursor.expect('}');
}

} // namespace

bool parseInitialValue(Cursor &cursor, Declaration &declaration, Budget &budget, std::vector<uint8_t> &initial) {
  if (declaration.dimensions == 0 && declaration.lanes == 1) {
    uint64_t bits = 0;
    return parseElement(cursor, declaration, bits) && append(cursor, declaration, bits, budget, initial);
  }
  if (!parseList(cursor, declaration, budget, initial))
    return false;
  if (declaration.isOpen) {
    int64_t bytes = declaration.elementBytes();
    declaration.elements = (static_cast<int64_t>(initial.size()) + bytes - 1) / bytes;
  }
  int64_t rest = declaration.bytes() - static_cast<int64_t>(initial.size());
  budget.initialBytes -= rest;
  if (budget.initialBytes < 0)
    return cursor.fail(declaration.name, "expected less than 64 MiB of initial values, got more");
  initial.resize(static_cast<size_t>(declaration.bytes()));
  return true;
}

} // namespace headrace::sim::ptx
