// Fundamental types: PTX ISA 5.2.1.
#ifndef HEADRACE_LIB_SIM_PTX_TYPES_H
#define HEADRACE_LIB_SIM_PTX_TYPES_H

#include <optional>
#include <string_view>

namespace headrace::sim::ptx {

struct ElementType {
  int bits = 0; // 1: a predicate
  bool isFloat = false;
  /// Whether a float may begin a variable of this type: of 32 or 64 bits, and no integer.
  bool takesFloats = false;
};

/// The type that a directive like `.b32` names.
std::optional<ElementType> elementTypeOf(std::string_view directive);

} // namespace headrace::sim::ptx

#endif
