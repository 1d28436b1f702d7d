// Text to tokens: PTX ISA 4.1-4.5.
#ifndef HEADRACE_LIB_SIM_PTX_LEXER_H
#define HEADRACE_LIB_SIM_PTX_LEXER_H

#include <cstdint>
#include <string_view>

namespace headrace::sim::ptx {

struct Token {
  enum class Kind {
    End,
    Bad,         // no token: `problem` says what is wrong with `text`
    Identifier,  // %r1, $L__BB0_2, add, %tid.x
    Directive,   // .reg, and the parts of an opcode behind the first: .b32, .shared::cta, .2d
    Integer,     // bits
    Float,       // bits of `width` 32 or 64
    String,      // with its quotes
    Punctuation, // one character
  };
  Kind kind = Kind::End;
  std::string_view text; // as it was written
  int line = 1;
  int column = 1;
  uint64_t bits = 0;
  int width = 0;
  const char *problem = nullptr;

  bool is(char punctuation) const { return kind == Kind::Punctuation && text.front() == punctuation; }
  bool is(std::string_view word) const { return (kind == Kind::Identifier || kind == Kind::Directive) && text == word; }
};

class Lexer {
public:
  /// Requires: the text outlives the lexer and its tokens.
  explicit Lexer(std::string_view text) : text(text) {}

  /// The next token; End again and again at the end. Nothing good follows a Bad token.
  Token next();

private:
  char at(size_t offset) const { return position + offset < text.size() ? text[position + offset] : '\0'; }
  Token here() const;
  Token finish(Token token, Token::Kind kind, size_t bytes);
  Token bad(Token token, const char *problem, size_t bytes) const;

  bool skipBlanks();
  void skipLineComment();
  bool skipBlockComment();
  size_t wordLength(size_t offset) const;
  Token name(Token token);
  Token directive(Token token);
  Token number(Token token);
  Token string(Token token);

  std::string_view text;
  size_t position = 0;
  size_t lineStart = 0;
  int line = 1;
};

} // namespace headrace::sim::ptx

#endif
