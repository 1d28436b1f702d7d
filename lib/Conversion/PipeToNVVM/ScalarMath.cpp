// Expansions of math ops, in f32: ex2.approx.ftz, lg2.approx, rsqrt.approx (PTX ISA 9.7.3.20, .19,
// .15).
#include "ScalarMath.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

bool lowering::needsExpansion(Operation *op) {
  if (!isa_and_nonnull<math::MathDialect>(op->getDialect()))
    return false;
  // The code generator has these for all types, through intrinsics.
  if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp, math::TruncOp, math::RoundEvenOp, math::CopySignOp,
          math::FmaOp, math::CtPopOp, math::CountLeadingZerosOp>(op))
    return false;
  Type type = getElementTypeOrSelf(op->getResult(0));
  return !isa<math::SqrtOp>(op) || type.isF16() || type.isBF16();
}

namespace {

/// f32 arithmetic at one place.
struct Emit {
  OpBuilder &b;
  Location loc;

  Value constant(double value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value)));
  }
  Value mul(Value x, double y) { return arith::MulFOp::create(b, loc, x, constant(y)); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
  /// Flushes results below 2^-126: one instruction where the other form scales before and after.
  Value exp2(Value x) {
    auto name = b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32");
    return LLVM::CallIntrinsicOp::create(b, loc, b.getF32Type(), name, x).getResult(0);
  }
  Value unary(StringRef instruction, Value x) {
    return ptx1(b, loc, (instruction + " $0, $1;").str(), b.getF32Type(), x);
  }

  /// tanh x = 1 - 2 / (1 + exp 2x); near zero, where that cancels, the Taylor series.
  Value tanh(Value x) {
    Value one = constant(1), e = exp2(mul(x, 2 * llvm::numbers::log2e));
    Value sum = arith::AddFOp::create(b, loc, one, e);
    // div.approx (2 ulp) suffices: the quotient is at most 2 and is subtracted from 1.
    auto fast = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::afn);
    Value quotient = arith::DivFOp::create(b, loc, constant(2), sum, fast);
    Value far = arith::SubFOp::create(b, loc, one, quotient);

    Value square = arith::MulFOp::create(b, loc, x, x);
    Value series = constant(62.0 / 2835);
    for (double coefficient : {-17.0 / 315, 2.0 / 15, -1.0 / 3})
      series = fma(series, square, constant(coefficient));
    Value near = fma(arith::MulFOp::create(b, loc, series, square), x, x);
    // At |x| = 1/4 the next term is 2^-25 of the value.
    Value isNear = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, square, constant(0.0625));
    return arith::SelectOp::create(b, loc, isNear, near, far);
  }
};

} // namespace

/// The op on f32; null if there is none.
static Value expandF32(Emit emit, Operation *op, Value x) {
  if (isa<math::ExpOp>(op))
    return emit.exp2(emit.mul(x, llvm::numbers::log2e));
  if (isa<math::Exp2Op>(op))
    return emit.exp2(x);
  if (isa<math::Log2Op>(op))
    return emit.unary("lg2.approx.f32", x);
  if (isa<math::LogOp>(op))
    return emit.mul(emit.unary("lg2.approx.f32", x), llvm::numbers::ln2);
  if (isa<math::RsqrtOp>(op))
    return emit.unary("rsqrt.approx.f32", x);
  if (isa<math::SqrtOp>(op))
    return math::SqrtOp::create(emit.b, emit.loc, x);
  if (isa<math::TanhOp>(op))
    return emit.tanh(x);
  return {};
}

FailureOr<Value> lowering::expandMath(OpBuilder &builder, Operation *op, ValueRange operands) {
  Type type = operands.front().getType();
  Location loc = op->getLoc();
  if (!type.isF32() && !type.isF16() && !type.isBF16())
    return op->emitOpError("expected elements of f32, f16 or bf16, got ") << type;
  Value x = operands.front();
  if (!type.isF32())
    x = arith::ExtFOp::create(builder, loc, builder.getF32Type(), x);
  Value result = expandF32({builder, loc}, op, x);
  if (!result)
    return op->emitOpError("has no lowering; known: exp, exp2, log, log2, sqrt, rsqrt, tanh, absf, fma, "
                           "ceil, floor, trunc, roundeven, copysign");
  if (!type.isF32())
    result = arith::TruncFOp::create(builder, loc, type, result);
  return result;
}
