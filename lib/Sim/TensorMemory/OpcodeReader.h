// Reads the parts of an opcode from left to right, so that whatever nobody asked for is left over and can be refused.
#ifndef HEADRACE_LIB_SIM_TENSORMEMORY_OPCODEREADER_H
#define HEADRACE_LIB_SIM_TENSORMEMORY_OPCODEREADER_H

#include "headrace/Sim/Instructions/Decoder.h"

#include <initializer_list>
#include <string_view>

namespace headrace::sim::tcgen05 {

class OpcodeReader {
public:
  /// Starts at part `next`.
  OpcodeReader(Decoder &decode, size_t next) : decode(decode), next(next) {}

  /// Takes the next part if it is `part`.
  bool take(std::string_view part);
  /// Takes the next part if it starts with `prefix`; `rest` becomes what follows it.
  bool takeAfter(std::string_view prefix, std::string_view &rest);
  /// Takes the next part, whatever it is; "" at the end.
  std::string_view takeAny();
  /// The next parts must be these, or decoding fails.
  void expect(std::initializer_list<std::string_view> parts);
  /// 1 or 2 of `cta_group::`, which must be next.
  int ctaGroup();
  /// Fails if a part is left over, or if the number of operands is outside [min, max].
  void finish(size_t min, size_t max);

private:
  Decoder &decode;
  size_t next;
};

} // namespace headrace::sim::tcgen05

#endif
