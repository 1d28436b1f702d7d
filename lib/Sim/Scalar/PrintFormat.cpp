// printf on the device: `%[flags][width][.precision][size]type`.
#include "PrintFormat.h"

#include <cstdio>
#include <cstring>
#include <vector>

namespace headrace::sim {

namespace {

constexpr size_t kLongestSpecifier = 24;
constexpr int kWidest = 4096;

/// A specifier as it was written, without its size, and what it takes.
struct Specifier {
  std::string text; // "%-5.3"
  bool isWide = false;
  char type = 0;
};

/// Reads the specifier at `place`, which is behind '%'.
bool readSpecifier(std::string_view format, size_t &place, Specifier &specifier) {
  auto isOneOf = [&](const char *set) {
    return place < format.size() && std::strchr(set, format[place]) && format[place] != 0;
  };
  int number = 0;
  specifier.text = "%";
  while (isOneOf("-+ #0123456789.")) {
    char c = format[place++];
    number = c >= '0' && c <= '9' ? number * 10 + (c - '0') : 0;
    specifier.text += c;
    if (number > kWidest || specifier.text.size() > kLongestSpecifier)
      return false;
  }
  while (isOneOf("hlLqjzt"))
    specifier.isWide |= format[place++] != 'h';
  if (place == format.size())
    return false;
  specifier.type = format[place++];
  return true;
}

template <typename Value> void append(std::string &text, const std::string &format, Value value) {
  int size = std::snprintf(nullptr, 0, format.c_str(), value);
  std::vector<char> buffer(static_cast<size_t>(size) + 1);
  std::snprintf(buffer.data(), buffer.size(), format.c_str(), value);
  text.append(buffer.data(), static_cast<size_t>(size));
}

} // namespace

bool formatPrint(std::string_view format, const PrintSource &source, std::string &text, int &count) {
  size_t offset = 0;
  count = 0;
  auto take = [&](int bytes) {
    offset = (offset + bytes - 1) / bytes * bytes;
    uint64_t bits = source.integer(offset, bytes);
    offset += bytes;
    ++count;
    return bits;
  };
  for (size_t place = 0; place < format.size();) {
    char c = format[place++];
    if (c != '%') {
      text += c;
      continue;
    }
    if (place < format.size() && format[place] == '%') {
      text += format[place++];
      continue;
    }
    size_t start = place - 1;
    Specifier specifier;
    bool known = readSpecifier(format, place, specifier);
    if (known && std::strchr("diouxXcp", specifier.type)) {
      bool isWide = specifier.isWide || specifier.type == 'p';
      uint64_t bits = take(isWide ? 8 : 4);
      bool isSigned = specifier.type == 'd' || specifier.type == 'i';
      if (specifier.type == 'c')
        append(text, specifier.text + 'c', static_cast<int>(bits));
      else if (specifier.type == 'p')
        append(text, specifier.text + 'p', reinterpret_cast<const void *>(static_cast<uintptr_t>(bits)));
      else if (isSigned)
        append(text, specifier.text + "ll" + specifier.type,
               isWide ? static_cast<long long>(bits) : static_cast<long long>(static_cast<int32_t>(bits)));
      else
        append(text, specifier.text + "ll" + specifier.type, static_cast<unsigned long long>(bits));
    } else if (known && std::strchr("aAeEfFgG", specifier.type)) {
      uint64_t bits = take(8);
      double value = 0;
      std::memcpy(&value, &bits, sizeof value);
      append(text, specifier.text + specifier.type, value);
    } else if (known && specifier.type == 's') {
      append(text, specifier.text + 's', source.string(take(8)).c_str());
    } else {
      text = "a conversion of printf, got '" + std::string(format.substr(start, place - start)) + "'";
      return false;
    }
  }
  return true;
}

} // namespace headrace::sim
