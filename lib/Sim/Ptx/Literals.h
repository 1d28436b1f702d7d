// Values of literals: PTX ISA 4.5.
#ifndef HEADRACE_LIB_SIM_PTX_LITERALS_H
#define HEADRACE_LIB_SIM_PTX_LITERALS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace::sim::ptx {

/// An integer of 64 bits, or the pattern of a float.
struct Number {
  uint64_t bits = 0;
  int floatWidth = 0; // 32 or 64; 0: an integer
};

/// The value of 12, 0x1F, 017, 0b101 (each also with a U), 0f3F800000, 0d3FF0000000000000, 1.5 or 1.5e3.
/// Result: none if the text is no such literal, or an integer needs more than 64 bits.
std::optional<Number> numberOf(std::string_view text);

/// What a string literal says, quotes removed and escapes resolved. Result: none if an escape is not known.
/// Requires: `text` begins and ends with a quote.
std::optional<std::string> stringOf(std::string_view text);

} // namespace headrace::sim::ptx

#endif
