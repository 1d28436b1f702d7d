// Divisibility of indices: greatest common divisors over sums, products over products, and the start and step of loops.
#include "headrace/Dialect/Tile/Transforms/Divisibility.h"
#include "headrace/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace headrace::tile;

/// Chains longer than this are given up on; kernels have a handful of steps.
static constexpr int kMaxDepth = 16;
/// Products are capped here: no one needs to know more, and nothing overflows.
static constexpr int64_t kLargest = int64_t(1) << 30;

static int64_t multiply(int64_t lhs, int64_t rhs) {
  if (lhs == 0 || rhs == 0)
    return 0;
  return lhs > kLargest / rhs ? std::gcd(lhs, kLargest) : lhs * rhs;
}

static int64_t divisor(Value value, int depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSignificantBits() > 40 ? 1 : std::abs(constant.getSExtValue());
  if (depth == 0)
    return 1;
  auto of = [&](Value operand) { return divisor(operand, depth - 1); };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<ForOp>(parent))
      if (argument == loop.getInductionVar())
        return std::gcd(of(loop.getLower()), of(loop.getStep()));
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      if (argument == loop.getInductionVar())
        return std::gcd(of(loop.getLowerBound()), of(loop.getStep()));
    return 1;
  }
  Operation *op = value.getDefiningOp();
  if (auto assume = dyn_cast<AssumeOp>(op))
    return std::lcm(int64_t(assume.getDivisor()), std::max<int64_t>(1, of(assume.getValue()))) % kLargest;
  if (auto product = dyn_cast<arith::MulIOp>(op))
    return multiply(of(product.getLhs()), of(product.getRhs()));
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op))
    return std::gcd(of(op->getOperand(0)), of(op->getOperand(1)));
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return std::gcd(of(select.getTrueValue()), of(select.getFalseValue()));
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return of(op->getOperand(0));
  if (auto dim = dyn_cast<memref::DimOp>(op))
    if (std::optional<int64_t> index = dim.getConstantIndex())
      return getExtentDivisor(dim.getSource(), *index);
  return 1;
}

int64_t headrace::tile::getDivisor(Value value) { return divisor(value, kMaxDepth); }

int64_t headrace::tile::getExtentDivisor(Value array, unsigned dim) {
  auto type = cast<MemRefType>(array.getType());
  if (dim >= type.getRank())
    return 1;
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  int64_t result = 1;
  for (Operation *user : array.getUsers()) {
    auto extent = dyn_cast<memref::DimOp>(user);
    if (!extent || extent.getConstantIndex() != dim)
      continue;
    for (Operation *use : extent.getResult().getUsers())
      if (auto assume = dyn_cast<AssumeOp>(use))
        result = std::lcm(result, int64_t(assume.getDivisor()));
  }
  return result;
}

static bool nonNegative(Value value, int depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isNonNegative();
  if (depth == 0)
    return false;
  auto of = [&](Value operand) { return nonNegative(operand, depth - 1); };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // A loop counts up from its lower bound.
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<ForOp>(parent))
      return argument == loop.getInductionVar() && of(loop.getLower());
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return argument == loop.getInductionVar() && of(loop.getLowerBound());
    return false;
  }
  Operation *op = value.getDefiningOp();
  if (isa<ProgramIdOp, NumProgramsOp, memref::DimOp>(op))
    return true;
  if (auto grouped = dyn_cast<GroupedIndexOp>(op))
    return of(grouped.getIndex());
  if (isa<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::MinSIOp,
          arith::MinUIOp, arith::MaxUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    return of(op->getOperand(0)) && of(op->getOperand(1));
  if (isa<arith::MaxSIOp>(op))
    return of(op->getOperand(0)) || of(op->getOperand(1));
  if (auto assume = dyn_cast<AssumeOp>(op))
    return of(assume.getValue());
  return false;
}

bool headrace::tile::isNonNegative(Value value) { return nonNegative(value, kMaxDepth); }
