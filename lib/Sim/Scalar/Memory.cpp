// ld, ldu and st (PTX ISA 9.7.9.8 to 9.7.9.11).
#include "Elementwise.h"
#include "Families.h"
#include "StateSpace.h"

#include <cstring>

using namespace headrace::sim;

namespace {

constexpr int kMostBytes = 32; // .v8.b32 and .v4.b64

/// What an instruction moves between memory and registers.
struct Transfer {
  StateSpace space = StateSpace::Generic;
  Type type;
  int elements = 1;

  int elementBytes() const { return type.bits() / 8; }
  int bytes() const { return elements * elementBytes(); }
};

void load(const Lanes &lanes, int lane, StateSpace space, uint64_t address, int bytes, void *out) {
  switch (space) {
  case StateSpace::Generic:
    return lanes.loadGeneric(lane, address, bytes, out);
  case StateSpace::Global:
  case StateSpace::Const:
    return lanes.loadGlobal(lane, address, bytes, out);
  case StateSpace::Shared:
    return lanes.loadShared(lane, sharedAddress(lanes, lane, address), bytes, out);
  case StateSpace::Param:
    return lanes.loadParam(lane, address, bytes, out);
  case StateSpace::Local:
    return lanes.loadLocal(lane, address, bytes, out);
  }
}

void store(const Lanes &lanes, int lane, StateSpace space, uint64_t address, int bytes, const void *in) {
  if (space == StateSpace::Generic)
    lanes.storeGeneric(lane, address, bytes, in);
  else if (space == StateSpace::Shared)
    lanes.storeShared(lane, sharedAddress(lanes, lane, address), bytes, in);
  else if (space == StateSpace::Local)
    lanes.storeLocal(lane, address, bytes, in);
  else if (space == StateSpace::Param)
    lanes.storeParam(lane, address, bytes, in);
  else
    lanes.storeGlobal(lane, address, bytes, in);
}

/// Takes the whole spelling of a load or store. `hasPolicy`: a cache policy is the last operand.
Transfer takeTransfer(Decoder &decode, bool &hasPolicy) {
  Spelling spelling(decode);
  Transfer transfer;
  transfer.space = takeStateSpace(spelling);
  hasPolicy = takeMemoryModifiers(spelling);
  transfer.elements = takeVector(spelling);
  transfer.type = spelling.takeType();
  spelling.finish();
  if (transfer.type.elements != 1 || transfer.type.elementBits < 8 || transfer.bytes() > kMostBytes)
    decode.fail("expected a type of 8 to 128 bits and at most 32 bytes");
  expectOperands(decode, hasPolicy ? 3 : 2);
  return transfer;
}

/// Puts the bytes of one element into a register, extended to its width.
void setElement(Lanes &lanes, int lane, const Dest &dest, const Type &type, const uint8_t *bytes) {
  uint64_t value = 0, high = 0;
  std::memcpy(&value, bytes, std::min(type.bits(), 64) / 8);
  dest.set(lanes, lane, type.isSigned() ? signExtended(value, type.bits()) : value);
  if (type.bits() == 128) {
    std::memcpy(&high, bytes + 8, 8);
    dest.setHigh(lanes, lane, high);
  }
}

Evaluator decodeLoad(Decoder &decode) {
  bool hasPolicy = false;
  const Transfer transfer = takeTransfer(decode, hasPolicy);
  if (decode.failed())
    return {};
  std::vector<Dest> dests = decode.dests(0);
  AddressSource address = decode.address(1);
  if (static_cast<int>(dests.size()) != transfer.elements)
    decode.fail("expected " + std::to_string(transfer.elements) + " destinations, got " + std::to_string(dests.size()));
  for (const Dest &dest : dests)
    if (!dest.isSink() && dest.bits() < transfer.type.bits())
      decode.fail("expected destinations of at least " + std::to_string(transfer.type.bits()) + " bits, got one of " +
                  std::to_string(dest.bits()));
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      const uint64_t from = address(lanes, lane);
      checkAligned(lanes, lane, from, transfer.bytes());
      uint8_t bytes[kMostBytes];
      load(lanes, lane, transfer.space, from, transfer.bytes(), bytes);
      const uint8_t *element = bytes;
      for (const Dest &dest : dests) {
        setElement(lanes, lane, dest, transfer.type, element);
        element += transfer.elementBytes();
      }
    });
    return Step::Done;
  };
}

/// Whether an address names a parameter of the kernel.
bool isOfKernel(Decoder &decode) {
  const std::vector<ptx::Operand> &inside = decode.insideAddress(0);
  auto known = inside.empty() ? decode.symbols.places.end() : decode.symbols.places.find(inside.front().name);
  return known != decode.symbols.places.end() && known->second.isParameter;
}

Evaluator decodeStore(Decoder &decode) {
  if (decode.part(1) == "async" || decode.part(1) == "bulk") {
    decode.fail("is not simulated");
    return {};
  }
  bool hasPolicy = false;
  const Transfer transfer = takeTransfer(decode, hasPolicy);
  if (transfer.space == StateSpace::Const || (transfer.space == StateSpace::Param && isOfKernel(decode)))
    decode.fail("expected a state space that can be written");
  if (decode.failed())
    return {};
  AddressSource address = decode.address(0);
  const ptx::Operand &value = decode.instruction.operands[1];
  std::vector<Input> inputs;
  if (value.kind == ptx::Operand::Kind::Vector)
    for (const ptx::Operand &element : value.elements)
      inputs.emplace_back(decode, element, transfer.type);
  else
    inputs.emplace_back(decode, value, transfer.type);
  if (static_cast<int>(inputs.size()) != transfer.elements)
    decode.fail("expected " + std::to_string(transfer.elements) + " sources, got " + std::to_string(inputs.size()));
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      const uint64_t to = address(lanes, lane);
      checkAligned(lanes, lane, to, transfer.bytes());
      uint8_t bytes[kMostBytes];
      uint8_t *element = bytes;
      for (const Input &input : inputs) {
        const uint64_t halves[2] = {input(lanes, lane),
                                    transfer.type.bits() == 128 ? input.operand().high(lanes, lane) : 0};
        std::memcpy(element, halves, static_cast<size_t>(transfer.elementBytes()));
        element += transfer.elementBytes();
      }
      store(lanes, lane, transfer.space, to, transfer.bytes(), bytes);
    });
    return Step::Done;
  };
}

} // namespace

void headrace::sim::addMemory(Registry &registry) {
  registry.add("ld", decodeLoad);
  registry.add("ldu", decodeLoad);
  registry.add("st", decodeStore);
}
