// Which evaluators this folder has: tcgen05 (PTX ISA 9.7.16) and cluster launch control (9.7.13.17).
#include "Families.h"
#include "LaunchControl.h"

namespace headrace::sim {

namespace {

using Factory = Registry::Factory;

struct Member {
  std::string_view part; // the second of the opcode
  Factory factory;
};

constexpr Member kMembers[] = {
    {"alloc", tcgen05::decodeAlloc},
    {"dealloc", tcgen05::decodeDealloc},
    {"relinquish_alloc_permit", tcgen05::decodeRelinquish},
    {"ld", tcgen05::decodeLoad},
    {"st", tcgen05::decodeStore},
    {"wait::ld", tcgen05::decodeWaitLoad},
    {"wait::st", tcgen05::decodeWaitStore},
    {"fence::before_thread_sync", tcgen05::decodeFenceBefore},
    {"fence::after_thread_sync", tcgen05::decodeFenceAfter},
    {"commit", tcgen05::decodeCommit},
    {"mma", tcgen05::decodeMma},
    {"cp", tcgen05::decodeCopy},
    {"shift", tcgen05::decodeShift},
};

Evaluator decodeTcgen05(Decoder &decode) {
  for (const Member &member : kMembers)
    if (decode.part(1) == member.part)
      return member.factory(decode);
  decode.fail("tcgen05." + std::string(decode.part(1)) + " is not known");
  return {};
}

Evaluator decodeLaunchControl(Decoder &decode) {
  if (decode.part(1) == "try_cancel")
    return decodeTryCancel(decode);
  if (decode.part(1) == "query_cancel")
    return decodeQueryCancel(decode);
  decode.fail("clusterlaunchcontrol." + std::string(decode.part(1)) + " is not known");
  return {};
}

} // namespace

void addTensorMemoryInstructions(Registry &registry) {
  registry.add("tcgen05", decodeTcgen05);
  registry.add("clusterlaunchcontrol", decodeLaunchControl);
}

} // namespace headrace::sim
