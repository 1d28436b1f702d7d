// Operands of elementwise evaluators.
#include "Elementwise.h"

using namespace headrace::sim;

namespace {

/// The bits of a constant as an operand of `type`.
uint64_t constantBits(Decoder &decode, const ptx::Operand &operand, const Type &type) {
  if (operand.kind != ptx::Operand::Kind::Float || operand.width == type.bits())
    return operand.bits;
  // A literal like 1.5 is a double until an f32 instruction takes it (PTX ISA 4.5.2).
  if (type.is(Type::Kind::Float, 32))
    return bitsOfFloat(static_cast<float>(doubleOfBits(operand.bits)));
  decode.fail("expected a constant of " + std::to_string(type.bits()) + " bits, got a number of " +
              std::to_string(operand.width));
  return 0;
}

} // namespace

Input::Input(Decoder &decode, size_t index, const Type &type) : source(decode.source(index)) {
  if (!decode.failed())
    *this = Input(decode, decode.instruction.operands[index], type);
}

Input::Input(Decoder &decode, const ptx::Operand &operand, const Type &type) : source(decode.source(operand)) {
  isCells = operand.kind == ptx::Operand::Kind::Register;
  isConstant = operand.kind == ptx::Operand::Kind::Integer || operand.kind == ptx::Operand::Kind::Float;
  if (isConstant)
    constant = constantBits(decode, operand, type);
  if (operand.kind == ptx::Operand::Kind::Sink)
    decode.fail("expected a source, got '_'");
}

const uint64_t *Input::fill(const Lanes &lanes, uint64_t *buffer) const {
  if (isConstant)
    for (int lane = 0; lane < kLanes; ++lane)
      buffer[lane] = constant;
  else
    lanes.forEach([&](int lane) { buffer[lane] = source(lanes, lane); });
  return buffer;
}

Dest headrace::sim::exactDest(Decoder &decode, size_t index, int bits) {
  Dest dest = decode.dest(index);
  if (dest.isSink())
    decode.fail("expected a register as destination, got '_'");
  else if (dest.bits() != bits)
    decode.fail("expected a destination of " + std::to_string(bits) + " bits, got " +
                decode.function.registers[dest.registerId()].name + " of " + std::to_string(dest.bits()));
  return dest;
}

void headrace::sim::expectOperands(Decoder &decode, size_t count) {
  if (decode.numOperands() != count)
    decode.fail("expected " + std::to_string(count) + " operands, got " + std::to_string(decode.numOperands()));
}
