// Expressions for the launch record: what the launcher can compute from the arguments.
#include "TileToPipe.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

/// Names of record operations; signed and unsigned agree on what a grid may be.
static StringRef recordName(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](arith::AddIOp) { return "add"; })
      .Case([](arith::SubIOp) { return "sub"; })
      .Case([](arith::MulIOp) { return "mul"; })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([](auto) { return "ceildiv"; })
      .Case<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>([](auto) { return "floordiv"; })
      .Case<arith::RemSIOp, arith::RemUIOp>([](auto) { return "mod"; })
      .Case<arith::MinSIOp, arith::MinUIOp>([](auto) { return "min"; })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([](auto) { return "max"; })
      .Default(StringRef());
}

Attribute headrace::getHostExpression(Value value, Operation *&culprit) {
  Builder builder(value.getContext());
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 64)
    return builder.getI64IntegerAttr(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto argument = cast<BlockArgument>(value);
    culprit = argument.getOwner()->getParentOp();
    if (!isa<func::FuncOp>(culprit))
      return {};
    return builder.getArrayAttr({builder.getStringAttr("scalar"), builder.getI64IntegerAttr(argument.getArgNumber())});
  }
  culprit = op;
  if (auto assume = dyn_cast<tile::AssumeOp>(op))
    return getHostExpression(assume.getValue(), culprit);
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return getHostExpression(op->getOperand(0), culprit);
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    auto argument = dyn_cast<BlockArgument>(dim.getSource());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!argument || !index)
      return {};
    return builder.getArrayAttr({builder.getStringAttr("dim"), builder.getI64IntegerAttr(argument.getArgNumber()),
                                 builder.getI64IntegerAttr(*index)});
  }
  StringRef name = recordName(op);
  if (name.empty())
    return {};
  Attribute lhs = getHostExpression(op->getOperand(0), culprit);
  Attribute rhs = lhs ? getHostExpression(op->getOperand(1), culprit) : Attribute();
  if (!rhs)
    return {};
  return builder.getArrayAttr({builder.getStringAttr(name), lhs, rhs});
}
