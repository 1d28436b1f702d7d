// The place in a text that the parser is at, and the first error.
#ifndef HEADRACE_LIB_SIM_PTX_CURSOR_H
#define HEADRACE_LIB_SIM_PTX_CURSOR_H

#include "Lexer.h"

#include "headrace/Sim/Ptx/Parser.h"

#include <string>

namespace headrace::sim::ptx {

/// One token of lookahead. Functions that return bool say whether the text goes on well; false means that the error is
/// set and that the parser must give up.
class Cursor {
public:
  Cursor(std::string_view text, ParseError &error) : lexer(text), current(lexer.next()), error(error) {}

  const Token &peek() const { return current; }
  Token take();
  bool accept(char punctuation);
  bool accept(std::string_view word);
  bool expect(char punctuation);
  bool expect(std::string_view word);
  /// An identifier. `what` names it in the error.
  bool name(const char *what, Token &result);
  /// An unsigned integer of at least `lowest` and at most `highest`.
  bool integer(const char *what, uint64_t lowest, uint64_t highest, uint64_t &result);
  bool string(const char *what, std::string &result);

  /// Sets the error "expected `what`, got ..." at the next token. Result: false.
  bool expected(const std::string &what);
  /// Sets the error at a token. Result: false.
  bool fail(const Token &at, const std::string &message);

private:
  Lexer lexer;
  Token current;
  ParseError &error;
};

/// A token for messages: 'add', or "the end of the text". Long ones are cut, and what cannot be printed is replaced.
std::string quoted(const Token &token);
std::string quoted(std::string_view text);

} // namespace headrace::sim::ptx

#endif
