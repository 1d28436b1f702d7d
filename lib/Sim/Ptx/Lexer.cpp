// Text to tokens. An opcode needs no mode of its own: it is an identifier with directives behind it.
#include "Lexer.h"

#include "Limits.h"
#include "Literals.h"

#include <algorithm>

namespace headrace::sim::ptx {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isWord(char c) { return isLetter(c) || isDigit(c) || c == '_'; }
bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

} // namespace

Token Lexer::next() {
  if (!skipBlanks())
    return bad(here(), "a comment without an end", 2);
  Token token = here();
  if (position == text.size())
    return token;
  char c = at(0);
  if (isDigit(c))
    return number(token);
  if (isLetter(c) || c == '_' || c == '$' || c == '%')
    return name(token);
  if (c == '.' && isWord(at(1)))
    return directive(token);
  if (c == '"')
    return string(token);
  constexpr std::string_view kPunctuation = "{}[]()<>,;:|+-=!@.";
  if (kPunctuation.find(c) != std::string_view::npos)
    return finish(token, Token::Kind::Punctuation, 1);
  return bad(token, "a character that PTX does not use", 1);
}

Token Lexer::here() const {
  Token token;
  token.line = line;
  token.column = static_cast<int>(position - lineStart) + 1;
  return token;
}

Token Lexer::finish(Token token, Token::Kind kind, size_t bytes) {
  token.kind = kind;
  token.text = text.substr(position, bytes);
  position += bytes;
  return token;
}

Token Lexer::bad(Token token, const char *problem, size_t bytes) const {
  token.kind = Token::Kind::Bad;
  token.text = text.substr(position, bytes);
  token.problem = problem;
  return token;
}

/// Result: false in front of a comment without an end.
bool Lexer::skipBlanks() {
  while (position < text.size()) {
    char c = at(0);
    if (c == '/' && at(1) == '/') {
      skipLineComment();
    } else if (c == '/' && at(1) == '*') {
      if (!skipBlockComment())
        return false;
    } else if (isBlank(c)) {
      ++position;
      if (c == '\n') {
        ++line;
        lineStart = position;
      }
    } else {
      break;
    }
  }
  return true;
}

void Lexer::skipLineComment() { position = std::min(text.find('\n', position), text.size()); }

bool Lexer::skipBlockComment() {
  size_t end = text.find("*/", position + 2);
  if (end == std::string_view::npos)
    return false;
  for (; position < end + 2; ++position) {
    if (at(0) == '\n') {
      ++line;
      lineStart = position + 1;
    }
  }
  return true;
}

size_t Lexer::wordLength(size_t offset) const {
  size_t length = 0;
  while (isWord(at(offset + length)))
    ++length;
  return length;
}

Token Lexer::name(Token token) {
  size_t length = 1;
  while (isWord(at(length)) || at(length) == '$')
    ++length;
  if (length == 1 && at(0) == '%')
    return bad(token, "'%' without a name", 1);
  if (length > kMaxNameBytes)
    return bad(token, "a name of more than 1024 characters", length);
  // The members of vectors in special registers: PTX ISA chapter 10.
  bool isMember = at(length) == '.' && (at(length + 1) >= 'x' && at(length + 1) <= 'z');
  if (at(0) == '%' && isMember && !isWord(at(length + 2)))
    length += 2;
  return finish(token, Token::Kind::Identifier, length);
}

/// `.word`, and `::word` as often as it follows.
Token Lexer::directive(Token token) {
  size_t length = 1 + wordLength(1);
  while (at(length) == ':' && at(length + 1) == ':' && isWord(at(length + 2)))
    length += 2 + wordLength(length + 2);
  return finish(token, Token::Kind::Directive, length);
}

Token Lexer::number(Token token) {
  bool isDecimal = at(0) != '0' || !isLetter(at(1));
  size_t length = wordLength(0);
  if (isDecimal && at(length) == '.' && !isLetter(at(length + 1)))
    length += 1 + wordLength(length + 1);
  bool isScaled = isDecimal && (at(length - 1) == 'e' || at(length - 1) == 'E');
  if (isScaled && (at(length) == '+' || at(length) == '-'))
    length += 1 + wordLength(length + 1);
  std::optional<Number> number = numberOf(text.substr(position, length));
  if (!number)
    return bad(token, "a number that is malformed or needs more than 64 bits", length);
  token.bits = number->bits;
  token.width = number->floatWidth;
  return finish(token, token.width ? Token::Kind::Float : Token::Kind::Integer, length);
}

Token Lexer::string(Token token) {
  size_t length = 1;
  while (position + length < text.size() && at(length) != '"' && at(length) != '\n')
    length += at(length) == '\\' && at(length + 1) != '\n' ? 2 : 1;
  if (at(length) != '"')
    return bad(token, "a string without an end", 1);
  if (length > kMaxNameBytes)
    return bad(token, "a string of more than 1024 characters", length + 1);
  return finish(token, Token::Kind::String, length + 1);
}

} // namespace headrace::sim::ptx
