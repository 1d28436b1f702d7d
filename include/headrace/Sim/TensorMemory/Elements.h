// Matrix elements of tcgen05.mma as they lie in memory (PTX ISA 9.7.16.3, 9.7.16.10.4). Their types and values are
// those of the other matrix instructions.
#ifndef HEADRACE_SIM_TENSORMEMORY_ELEMENTS_H
#define HEADRACE_SIM_TENSORMEMORY_ELEMENTS_H

#include "headrace/Sim/Matrix/MatrixElements.h"

#include <cstdint>

namespace headrace::sim {

enum class ElementPlacing {
  Dense,  // one behind the other; of 4-bit ones the first in the low half of its byte
  Slots,  // of 4 or 6 bits: 16 of them, dense, at the start of 16 bytes; the rest is padding
  PerByte // of 6 bits: one a byte, in its low bits
};

/// Bits of an element.
int widthOf(MatrixElement element);
const char *nameOf(MatrixElement element);

/// Decodes `count` elements, exactly. Requires: they fill whole words, or for Slots whole slots; Dense not with 6-bit
/// types.
void unpack(MatrixElement element, ElementPlacing placing, const uint8_t *bytes, int count, double *out);

} // namespace headrace::sim

#endif
