// Addresses and masks as messages print them.
#ifndef HEADRACE_SIM_MACHINE_HEX_H
#define HEADRACE_SIM_MACHINE_HEX_H

#include <cstdint>
#include <cstdio>
#include <string>

namespace headrace::sim {

/// "0x1f", with at least `digits` digits.
inline std::string hexText(uint64_t value, int digits = 1) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

} // namespace headrace::sim

#endif
