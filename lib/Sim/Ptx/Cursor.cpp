// Tokens one by one.
#include "Cursor.h"

#include "Literals.h"

namespace headrace::sim::ptx {

Token Cursor::take() {
  Token taken = current;
  current = lexer.next();
  return taken;
}

bool Cursor::accept(char punctuation) {
  if (!current.is(punctuation))
    return false;
  take();
  return true;
}

bool Cursor::accept(std::string_view word) {
  if (!current.is(word))
    return false;
  take();
  return true;
}

bool Cursor::expect(char punctuation) { return accept(punctuation) || expected(quoted(std::string(1, punctuation))); }

bool Cursor::expect(std::string_view word) { return accept(word) || expected(quoted(word)); }

bool Cursor::name(const char *what, Token &result) {
  if (current.kind != Token::Kind::Identifier)
    return expected(what);
  result = take();
  return true;
}

bool Cursor::integer(const char *what, uint64_t lowest, uint64_t highest, uint64_t &result) {
  if (current.kind != Token::Kind::Integer)
    return expected(what);
  if (current.bits < lowest || current.bits > highest)
    return expected(std::string(what) + " from " + std::to_string(lowest) + " to " + std::to_string(highest));
  result = take().bits;
  return true;
}

bool Cursor::string(const char *what, std::string &result) {
  if (current.kind != Token::Kind::String)
    return expected(what);
  std::optional<std::string> value = stringOf(current.text);
  if (!value)
    return fail(current, "expected known escapes, got " + quoted(current));
  take();
  result = std::move(*value);
  return true;
}

bool Cursor::expected(const std::string &what) {
  std::string got = current.kind == Token::Kind::Bad ? std::string(current.problem) + ", " : "";
  return fail(current, "expected " + what + ", got " + got + quoted(current));
}

bool Cursor::fail(const Token &at, const std::string &message) {
  if (error.message.empty())
    error = {at.line, at.column, message};
  return false;
}

std::string quoted(const Token &token) {
  return token.kind == Token::Kind::End ? "the end of the text" : quoted(token.text);
}

std::string quoted(std::string_view text) {
  constexpr size_t kShown = 60;
  std::string result = "'";
  for (char c : text.substr(0, kShown))
    result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > kShown ? "...'" : "'");
}

} // namespace headrace::sim::ptx
