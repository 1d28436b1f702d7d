// Values of literals, without the locale.
#include "Literals.h"

#include <charconv>
#include <cstring>

namespace headrace::sim::ptx {

namespace {

std::optional<uint64_t> digitsOf(std::string_view text, int base) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// 0f and eight digits, or 0d and sixteen.
std::optional<Number> exactFloatOf(std::string_view text) {
  bool isSingle = text[1] == 'f' || text[1] == 'F';
  std::optional<uint64_t> bits = digitsOf(text.substr(2), 16);
  if (!bits || text.size() != (isSingle ? 10u : 18u))
    return std::nullopt;
  return Number{*bits, isSingle ? 32 : 64};
}

std::optional<Number> decimalFloatOf(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::general);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  Number number{0, 64};
  std::memcpy(&number.bits, &value, sizeof value);
  return number;
}

std::optional<Number> integerOf(std::string_view text) {
  char last = text.back();
  if (last == 'U' || last == 'u')
    text.remove_suffix(1);
  std::optional<uint64_t> bits;
  char second = text.size() > 1 && text[0] == '0' ? text[1] : ' ';
  if (second == 'x' || second == 'X')
    bits = digitsOf(text.substr(2), 16);
  else if (second == 'b' || second == 'B')
    bits = digitsOf(text.substr(2), 2);
  else
    bits = digitsOf(text, second == ' ' ? 10 : 8);
  if (!bits)
    return std::nullopt;
  return Number{*bits, 0};
}

bool isOctal(char c) { return c >= '0' && c <= '7'; }

/// The character behind a backslash at `at`, which moves to the last character of the escape.
std::optional<char> escapeAt(std::string_view text, size_t &at) {
  constexpr std::string_view kNames = "\\\"'nrtbf", kValues = "\\\"'\n\r\t\b\f";
  size_t known = kNames.find(text[at]);
  if (known != std::string_view::npos)
    return kValues[known];
  int value = 0, digits = 0;
  for (; digits < 3 && at < text.size() && isOctal(text[at]); ++digits, ++at)
    value = value * 8 + (text[at] - '0');
  --at;
  if (digits == 0)
    return std::nullopt;
  return static_cast<char>(value);
}

} // namespace

std::optional<Number> numberOf(std::string_view text) {
  if (text.size() > 1 && text[0] == '0' && std::strchr("fFdD", text[1]))
    return exactFloatOf(text);
  bool isHex = text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (!isHex && text.find_first_of(".eE") != std::string_view::npos)
    return decimalFloatOf(text);
  return integerOf(text);
}

std::optional<std::string> stringOf(std::string_view text) {
  text = text.substr(1, text.size() - 2);
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      result += text[at];
      continue;
    }
    std::optional<char> escaped = ++at < text.size() ? escapeAt(text, at) : std::nullopt;
    if (!escaped)
      return std::nullopt;
    result += *escaped;
  }
  return result;
}

} // namespace headrace::sim::ptx
