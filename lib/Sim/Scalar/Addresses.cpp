// cvta, isspacep, mapa and getctarank (PTX ISA 9.7.9.19, 9.7.9.20, 9.7.9.23, 9.7.9.24).
//
// A shared address is rank << 24 | offset, also a CTA's own (hardware.md section 3), so an address in shared::cta is one
// in shared::cluster as it stands. Generic addresses have windows (Lanes.h); global ones are their own.
#include "Elementwise.h"
#include "Families.h"
#include "Spelling.h"

#include <string>

using namespace headrace::sim;

namespace {

constexpr int kRankShift = 24;
constexpr uint64_t kOffsetMask = (uint64_t(1) << kRankShift) - 1;

/// The rank in a shared or generic shared address.
uint32_t rankOf(uint64_t address) { return static_cast<uint32_t>(address) >> kRankShift; }

/// The spaces that addresses are converted from and to.
enum class Window { Shared, SharedCluster, Param, Local, Identity, None };

Window takeWindow(Decoder &decode, Spelling &spelling) {
  switch (spelling.takeOneOf(
      {"shared", "shared::cta", "shared::cluster", "param", "param::entry", "global", "const", "local"})) {
  case 0:
  case 1:
    return Window::Shared;
  case 2:
    return Window::SharedCluster;
  case 3:
  case 4:
    return Window::Param;
  case 5:
  case 6:
    return Window::Identity;
  case 7:
    return Window::Local;
  default:
    decode.fail("expected a state space");
    return Window::None;
  }
}

Evaluator decodeCvta(Decoder &decode) {
  Spelling spelling(decode);
  const bool fromGeneric = spelling.take("to");
  const Window window = takeWindow(decode, spelling);
  const int bits = spelling.takeType().bits();
  if (bits != 64 && window != Window::Identity)
    decode.fail("expected generic addresses of 64 bits, got ones of " + std::to_string(bits));
  if (!spelling.finish())
    return {};
  const uint64_t base = window == Window::Identity ? 0
                        : window == Window::Param  ? kParamWindow
                        : window == Window::Local  ? kLocalWindow
                                                   : kSharedWindow;
  const uint64_t mask = base ? ~kWindowMask : ~uint64_t(0);
  if (fromGeneric)
    return elementwise<uint64_t, uint64_t>(decode, bits, [mask](uint64_t a) { return a & mask; });
  return elementwise<uint64_t, uint64_t>(decode, bits, [base](uint64_t a) { return base | a; });
}

Evaluator decodeIsspacep(Decoder &decode) {
  Spelling spelling(decode);
  const int space = spelling.takeOneOf(
      {"shared", "shared::cta", "shared::cluster", "param", "param::entry", "global", "const", "local"});
  if (space < 0)
    decode.fail("expected a state space");
  expectOperands(decode, 2);
  if (!spelling.finish())
    return {};
  Dest dest = decode.dest(0);
  Input address(decode, 1);
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      const uint64_t a = address(lanes, lane), window = a & kWindowMask;
      bool inside = false; // constants have no window of their own here
      if (space <= 1)
        inside = window == kSharedWindow && rankOf(a) == lanes.cta.rank;
      else if (space == 2)
        inside = window == kSharedWindow && rankOf(a) < lanes.cluster.ctas.size();
      else if (space <= 4)
        inside = window == kParamWindow;
      else if (space == 5)
        inside = window == 0 || window == kParamWindow; // the window of parameters is within that of global memory
      else if (space == 7)
        inside = window == kLocalWindow;
      dest.set(lanes, lane, inside);
    });
    return Step::Done;
  };
}

/// mapa d, a, rank: the same place in another CTA. Generic addresses keep their window.
Evaluator decodeMapa(Decoder &decode) {
  Spelling spelling(decode);
  spelling.take("shared::cluster");
  const int bits = spelling.takeType().bits();
  expectOperands(decode, 3);
  if (!spelling.finish())
    return {};
  Dest dest = exactDest(decode, 0, bits);
  Input address(decode, 1), rank(decode, 2);
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      const uint64_t target = rank(lanes, lane) & 0xFFFFFFFF;
      if (target >= lanes.cluster.ctas.size())
        lanes.report(lane, FindingKind::Operand,
                     "maps to rank " + std::to_string(target) + ", the cluster has " +
                         std::to_string(lanes.cluster.ctas.size()) + " CTAs");
      const uint64_t a = address(lanes, lane);
      dest.set(lanes, lane, (a & (kWindowMask | kOffsetMask)) | (target & 0xFF) << kRankShift);
    });
    return Step::Done;
  };
}

Evaluator decodeGetCtaRank(Decoder &decode) {
  Spelling spelling(decode);
  spelling.take("shared::cluster");
  spelling.takeType(); // of the source; the result has 32 bits
  if (!spelling.finish())
    return {};
  return elementwise<uint32_t, uint64_t>(decode, 32, rankOf);
}

} // namespace

void headrace::sim::addAddresses(Registry &registry) {
  registry.add("cvta", decodeCvta);
  registry.add("isspacep", decodeIsspacep);
  registry.add("mapa", decodeMapa);
  registry.add("getctarank", decodeGetCtaRank);
}
