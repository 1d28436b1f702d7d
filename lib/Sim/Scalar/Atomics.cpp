// atom and red (PTX ISA 9.7.13.5, 9.7.13.6).
//
// Atomics of shared memory do not race with each other, nor here with what the threads of the cluster did before them:
// for the access itself the lane is taken to have seen all of that. What asynchronous operations did it must have seen
// as ever, and so must whoever reads the result without an atomic.
#include "AtomicOperation.h"
#include "Elementwise.h"
#include "Families.h"
#include "StateSpace.h"

#include "headrace/Sim/Machine/Program.h"

#include <cstring>
#include <mutex>

using namespace headrace::sim;

namespace {

constexpr int kMostBytes = 16; // .v4.f32, .v8.f16
constexpr int kMostElements = 8;

/// An atomic instruction.
struct Atomic {
  StateSpace space = StateSpace::Generic;
  AtomicOperation operation;
  int elementBytes = 4;
  std::vector<Dest> dests; // empty of red
  AddressSource address;
  std::vector<Input> operands;
  std::optional<Input> replacement; // the third operand of cas

  int elements() const { return static_cast<int>(operands.size()); }
  int bytes() const { return elements() * elementBytes; }
};

/// Updates the elements in `bytes`; `old` gets what they were.
void update(const Lanes &lanes, int lane, const Atomic &atomic, Update function, uint8_t *bytes, uint64_t *old) {
  const auto size = static_cast<size_t>(atomic.elementBytes);
  for (const Input &operand : atomic.operands) {
    *old = 0;
    std::memcpy(old, bytes, size);
    const uint64_t c = atomic.replacement ? (*atomic.replacement)(lanes, lane) : 0;
    const uint64_t next = function(*old, operand(lanes, lane), c);
    std::memcpy(bytes, &next, size);
    bytes += size;
    ++old;
  }
}

void updateGlobal(const Lanes &lanes, int lane, const Atomic &atomic, uint64_t address, uint64_t *old) {
  std::lock_guard<std::mutex> lock(lanes.cluster.launch.memory->atomicMutex());
  if (uint8_t *bytes = lanes.atomicGlobal(lane, address, atomic.bytes()))
    update(lanes, lane, atomic, atomic.operation.inGlobal, bytes, old);
}

/// Raises `clock` to all that the threads of the cluster have done so far.
void seeAllThreads(const Cluster &cluster, VectorClock &clock) {
  const auto &block = cluster.launch.block;
  const int threads = static_cast<int>(block[0] * block[1] * block[2]);
  for (const auto &cta : cluster.ctas)
    for (int thread = 0; thread < threads; ++thread)
      clock.raise({cluster.componentOf(*cta, thread), cta->warps[thread / kLanes]->threads[thread % kLanes].step});
}

void updateShared(const Lanes &lanes, int lane, const Atomic &atomic, uint32_t address, uint64_t *old) {
  const SharedClock before = lanes.state(lane).clock;
  seeAllThreads(lanes.cluster, lanes.clock(lane).generic);
  uint8_t bytes[kMostBytes];
  lanes.loadShared(lane, address, atomic.bytes(), bytes);
  update(lanes, lane, atomic, atomic.operation.inShared, bytes, old);
  lanes.storeShared(lane, address, atomic.bytes(), bytes);
  lanes.state(lane).clock = before;
}

void run(Lanes &lanes, int lane, const Atomic &atomic) {
  const uint64_t address = atomic.address(lanes, lane);
  checkAligned(lanes, lane, address, atomic.bytes());
  uint64_t old[kMostElements] = {};
  if (atomic.space == StateSpace::Shared)
    updateShared(lanes, lane, atomic, sharedAddress(lanes, lane, address), old);
  else if (atomic.space == StateSpace::Generic && (address & kWindowMask) == kSharedWindow)
    updateShared(lanes, lane, atomic, static_cast<uint32_t>(address), old);
  else
    updateGlobal(lanes, lane, atomic, address, old);
  for (size_t i = 0; i < atomic.dests.size(); ++i)
    atomic.dests[i].set(lanes, lane, old[i]);
}

/// The elements of {a, b, ...}, or the one operand.
std::vector<Input> takeInputs(Decoder &decode, size_t index, const Type &type) {
  const ptx::Operand &operand = decode.instruction.operands[index];
  std::vector<Input> inputs;
  if (operand.kind == ptx::Operand::Kind::Vector)
    for (const ptx::Operand &element : operand.elements)
      inputs.emplace_back(decode, element, type);
  else
    inputs.emplace_back(decode, operand, type);
  return inputs;
}

/// `first`: where the address is, 1 after a destination.
template <size_t First> Evaluator decodeAtomic(Decoder &decode) {
  if (decode.part(1) == "async") {
    decode.fail("is not simulated");
    return {};
  }
  Spelling spelling(decode);
  Atomic atomic;
  atomic.space = takeStateSpace(spelling);
  const bool hasPolicy = takeMemoryModifiers(spelling);
  const int elements = takeVector(spelling);
  const Type type = spelling.takeType();
  spelling.take("noftz");
  atomic.operation = takeAtomicOperation(decode, spelling, type);
  expectOperands(decode, First + 2 + atomic.operation.isCompareAndSwap + hasPolicy);
  if (atomic.space == StateSpace::Param || atomic.space == StateSpace::Const || atomic.space == StateSpace::Local)
    decode.fail("expected global or shared memory");
  if (!spelling.finish())
    return {};
  atomic.elementBytes = type.bits() / 8;
  if (First == 1)
    atomic.dests = decode.dests(0);
  atomic.address = decode.address(First);
  atomic.operands = takeInputs(decode, First + 1, type);
  if (atomic.operation.isCompareAndSwap)
    atomic.replacement = Input(decode, First + 2);
  if (atomic.elements() != elements || (First == 1 && static_cast<int>(atomic.dests.size()) != elements) ||
      atomic.bytes() > kMostBytes)
    decode.fail("expected vectors of " + std::to_string(elements) + " and at most 16 bytes");
  return [atomic](Lanes &lanes) {
    lanes.forEach([&](int lane) { run(lanes, lane, atomic); });
    return Step::Done;
  };
}

} // namespace

void headrace::sim::addAtomics(Registry &registry) {
  registry.add("atom", decodeAtomic<1>);
  registry.add("red", decodeAtomic<0>);
}
