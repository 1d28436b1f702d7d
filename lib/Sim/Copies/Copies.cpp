// Which instruction of the family `cp` an opcode is.
#include "Copies.h"

namespace headrace::sim {

namespace {

/// The opcode up to and with this part, for messages.
std::string spelledUpTo(const Decoder &decode, size_t last) {
  std::string result(decode.part(0));
  for (size_t i = 1; i <= last && i < decode.numParts(); ++i)
    result.append(".").append(decode.part(i));
  return result;
}

/// Refuses parts that nobody has read.
Evaluator endingAt(Decoder &decode, size_t numParts, Evaluator evaluator) {
  if (decode.numParts() > numParts)
    decode.fail("expected nothing after '" + spelledUpTo(decode, numParts - 1) + "', got '." +
                std::string(decode.part(numParts)) + "'");
  return evaluator;
}

Evaluator makeBulk(Decoder &decode) {
  if (decode.part(1) == "async" && decode.part(3) == "commit_group")
    return endingAt(decode, 4, makeCommitGroup(decode, StreamKind::Bulk));
  if (decode.part(1) == "async" && decode.part(3) == "wait_group")
    return endingAt(decode, decode.part(4) == "read" ? 5 : 4, makeWaitGroup(decode, StreamKind::Bulk));
  std::string error;
  std::optional<BulkOpcode> opcode = parseBulkOpcode(decode.instruction.opcode, error);
  if (opcode)
    return opcode->rank ? makeTensorCopy(decode, *opcode) : makeBulkCopy(decode, *opcode);
  decode.fail(std::move(error));
  return {};
}

Evaluator makeAsync(Decoder &decode) {
  std::string_view what = decode.part(2);
  if (what == "ca" || what == "cg")
    return makeCpAsync(decode);
  if (what == "mbarrier" && decode.part(3) == "arrive")
    return makeCpAsyncArrive(decode);
  if (what == "commit_group")
    return endingAt(decode, 3, makeCommitGroup(decode, StreamKind::CpAsync));
  if (what == "wait_group")
    return endingAt(decode, 3, makeWaitGroup(decode, StreamKind::CpAsync));
  if (what == "wait_all")
    return endingAt(decode, 3, makeWaitAll(decode));
  if (what == "bulk")
    return makeBulk(decode);
  decode.fail("expected an operation of cp.async, got '" + spelledUpTo(decode, 3) + "'");
  return {};
}

Evaluator makeCopy(Decoder &decode) {
  if (decode.part(1) == "async")
    return makeAsync(decode);
  if (decode.part(1) == "reduce" && decode.part(2) == "async" && decode.part(3) == "bulk")
    return makeBulk(decode);
  decode.fail("expected cp.async or cp.reduce.async.bulk, got '" + spelledUpTo(decode, 3) + "'");
  return {};
}

/// tensormap.replace and tensormap.cp_fenceproxy.
Evaluator makeTensormap(Decoder &decode) {
  decode.fail("tensor maps that a kernel edits are not simulated");
  return {};
}

} // namespace

void addCopyInstructions(Registry &registry) {
  registry.add("cp", makeCopy);
  registry.add("tensormap", makeTensormap);
}

} // namespace headrace::sim
