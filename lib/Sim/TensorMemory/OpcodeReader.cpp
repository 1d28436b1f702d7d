// Opcode parts in order.
#include "OpcodeReader.h"

namespace headrace::sim::tcgen05 {

bool OpcodeReader::take(std::string_view part) {
  if (next >= decode.numParts() || decode.part(next) != part)
    return false;
  ++next;
  return true;
}

bool OpcodeReader::takeAfter(std::string_view prefix, std::string_view &rest) {
  std::string_view part = decode.part(next);
  if (part.substr(0, prefix.size()) != prefix)
    return false;
  rest = part.substr(prefix.size());
  ++next;
  return true;
}

std::string_view OpcodeReader::takeAny() { return next < decode.numParts() ? decode.part(next++) : std::string_view(); }

void OpcodeReader::expect(std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts)
    if (!take(part))
      return decode.fail("expected ." + std::string(part) + ", got '" + std::string(decode.part(next)) + "'");
}

int OpcodeReader::ctaGroup() {
  if (take("cta_group::1"))
    return 1;
  if (take("cta_group::2"))
    return 2;
  decode.fail("expected .cta_group::1 or .cta_group::2, got '" + std::string(decode.part(next)) + "'");
  return 1;
}

void OpcodeReader::finish(size_t min, size_t max) {
  if (next < decode.numParts())
    return decode.fail("." + std::string(decode.part(next)) + " is not understood here");
  size_t count = decode.numOperands();
  if (count < min || count > max)
    decode.fail("expected " + std::to_string(min) + (min == max ? "" : " to " + std::to_string(max)) +
                " operands, got " + std::to_string(count));
}

} // namespace headrace::sim::tcgen05
