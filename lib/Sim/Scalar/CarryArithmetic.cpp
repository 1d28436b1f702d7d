// Arithmetic with carry (PTX ISA 9.7.2). CC.CF is a bit of each lane.
#include "Dispatch.h"
#include "Elementwise.h"
#include "Families.h"

#include "headrace/Sim/Numerics/Integer.h"

using namespace headrace::sim;

namespace {

/// add{c}, sub{c} or mad{c} of words of type T, with what the carry is used for.
struct Carrying {
  bool subtracts = false;
  bool multiplies = false;
  bool high = false; // half of the product
  bool in = false;
  bool out = false;
  bool isSigned = false; // matters to the high half of a product
};

template <typename T> Carried<T> carried(const Carrying &how, T a, T b, T c, bool carry) {
  if (how.subtracts)
    return subWithBorrow(a, b, carry);
  if (!how.multiplies)
    return addWithCarry(a, b, carry);
  using S = std::make_signed_t<T>;
  T product = !how.high      ? mulLow(a, b)
              : how.isSigned ? static_cast<T>(mulHigh(static_cast<S>(a), static_cast<S>(b)))
                             : mulHigh(a, b);
  return addWithCarry(product, c, carry);
}

template <typename T> Evaluator carryEvaluator(Decoder &decode, const Carrying &how) {
  Dest dest = exactDest(decode, 0, 8 * sizeof(T));
  Input a(decode, 1), b(decode, 2), c = how.multiplies ? Input(decode, 3) : Input();
  return [=](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      const LaneMask bit = LaneMask(1) << lane;
      LaneMask &flag = lanes.warp.carry;
      auto result = carried(how, static_cast<T>(a(lanes, lane)), static_cast<T>(b(lanes, lane)),
                            static_cast<T>(c(lanes, lane)), how.in && (flag & bit));
      if (how.out)
        flag = result.carry ? flag | bit : flag & ~bit;
      dest.set(lanes, lane, result.value);
    });
    return Step::Done;
  };
}

} // namespace

Evaluator headrace::sim::decodeCarry(Decoder &decode) {
  Spelling spelling(decode);
  const std::string_view family = decode.part(0);
  Carrying how;
  how.subtracts = family.substr(0, 3) == "sub";
  how.multiplies = family.substr(0, 3) == "mad";
  how.in = family.size() == 4;
  how.out = spelling.take("cc");
  int part = how.multiplies ? spelling.takeOneOf({"lo", "hi"}) : 0;
  how.high = part == 1;
  Type type = spelling.takeType();
  how.isSigned = type.isSigned();
  if (part < 0)
    decode.fail("expected .lo or .hi");
  expectOperands(decode, how.multiplies ? 4 : 3);
  if (!spelling.finish())
    return {};
  return forWord(decode, type.bits(), [&](auto zero) { return carryEvaluator<decltype(zero)>(decode, how); });
}

void headrace::sim::addCarryArithmetic(Registry &registry) {
  registry.add("addc", decodeCarry);
  registry.add("subc", decodeCarry);
  registry.add("madc", decodeCarry);
}
