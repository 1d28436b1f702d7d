// The parts of an opcode, each asked for once; what nobody asked for is an instruction we do not know.
#ifndef HEADRACE_SIM_SCALAR_SPELLING_H
#define HEADRACE_SIM_SCALAR_SPELLING_H

#include "headrace/Sim/Instructions/Decoder.h"
#include "headrace/Sim/Numerics/Arithmetic.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace headrace::sim {

/// A type as instructions name it: "s32", "bf16x2", "pred".
struct Type {
  enum class Kind { Bits, Unsigned, Signed, Float, Bfloat };

  Kind kind = Kind::Bits;
  int elementBits = 32; // 1 for pred
  int elements = 1;     // 2: a pair packed into one register

  int bits() const { return elementBits * elements; }
  bool isFloat() const { return kind == Kind::Float || kind == Kind::Bfloat; }
  bool isSigned() const { return kind == Kind::Signed; }
  bool is(Kind otherKind, int otherBits, int otherElements = 1) const {
    return kind == otherKind && elementBits == otherBits && elements == otherElements;
  }
};

/// Without a value if `part` names no type.
std::optional<Type> typeOf(std::string_view part);

/// Modifiers may stand in any order, as ptxas takes them; types keep theirs.
class Spelling {
public:
  /// The family, part 0, counts as asked for.
  explicit Spelling(Decoder &decode) : decode(decode), rest(allParts(decode.numParts()) & ~1u) {}

  /// Whether `part` is there.
  bool take(std::string_view part);
  /// The index in `parts` of the first that is there, or -1.
  int takeOneOf(std::initializer_list<std::string_view> parts);
  /// Whether a part begins with `prefix`, as cache hints do; takes all of them.
  bool takeAllWith(std::string_view prefix);
  /// The first type that has not been taken; takeType fails without one.
  std::optional<Type> takeTypeIfAny();
  Type takeType();
  /// .rn, .rz, .rm, .rp or .rna. Without one, to nearest even.
  Rounding takeRounding();
  std::optional<Rounding> takeRoundingIfAny();
  /// Rounding, .ftz, .sat and .relu.
  FloatMode takeFloatMode();

  /// Fails on the first part that was not taken. Result: whether decoding has gone well so far.
  bool finish();

private:
  static uint32_t allParts(size_t count) { return count >= 32 ? ~0u : (1u << count) - 1; }

  Decoder &decode;
  uint32_t rest; // bit i: part i has not been taken
};

/// The first type in the opcode, or a failure.
Type firstType(Decoder &decode);

} // namespace headrace::sim

#endif
