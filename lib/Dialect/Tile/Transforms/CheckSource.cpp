// The gate: a program that passes it has a lowering for each of its ops, so what fails later is a
// fault of the compiler.
#include "CheckSource.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::tile;

/// Largest number of elements of a tile, as the verifier of tile.load has it.
static constexpr int64_t kLargestTile = int64_t(1) << 24;

static bool isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(type)); }

/// Numbers that registers and memory hold.
static bool isNumber(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64() || isFloat8(type))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.isSignless() && llvm::is_contained({1, 8, 16, 32, 64}, integer.getWidth());
}

namespace {
/// The check of one kernel.
struct SourceChecker {
  KernelOp kernel;
  const TargetInfo &target;

  LogicalResult check();
  LogicalResult checkName();
  LogicalResult checkType(Location loc, Type type, bool isArgument);
  LogicalResult checkTile(Location loc, RankedTensorType type);
  LogicalResult checkOp(Operation *op);
  LogicalResult checkArith(Operation *op);
  LogicalResult checkMath(Operation *op);
  LogicalResult checkFloat8(Operation *op);
  LogicalResult checkDim(memref::DimOp dim);
  LogicalResult checkPrint(Operation *op);
};
} // namespace

/// PTX ISA 4.4, without the characters that only compilers use.
LogicalResult SourceChecker::checkName() {
  StringRef name = kernel.getSymName();
  bool legal = !name.empty() && !llvm::isDigit(name.front()) &&
               llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  // A lone underscore is no identifier of PTX.
  if (!legal || name == "_" || name.starts_with("headrace_") || name.starts_with("llvm"))
    return kernel.emitError("expected a kernel's name of letters, digits and '_' that starts with "
                            "neither a digit nor "
                            "'headrace_' nor 'llvm', got '")
           << name << "'";
  return success();
}

LogicalResult SourceChecker::checkTile(Location loc, RankedTensorType type) {
  int64_t elements = 1;
  bool legal = type.getRank() >= 1 && type.getRank() <= 4 && type.hasStaticShape() && isNumber(type.getElementType());
  for (int64_t extent : type.getShape())
    legal = legal && extent >= 1 && extent <= kLargestTile && (elements *= extent) <= kLargestTile;
  if (!legal)
    return emitError(loc) << "expected a tile of rank 1 to 4, of 1 to " << kLargestTile
                          << " elements of i1, i8 to i64, f16, bf16, f32, f64, f8E4M3FN or f8E5M2, got " << type;
  if (type.getEncoding())
    return emitError(loc) << "expected a tile without a layout, which tile-infer-layouts chooses, got " << type;
  return success();
}

LogicalResult SourceChecker::checkType(Location loc, Type type, bool isArgument) {
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return checkTile(loc, tile);
  if (type.isIndex() || isNumber(type))
    return success();
  if (auto array = dyn_cast<MemRefType>(type)) {
    if (!isArgument)
      return emitError(loc) << "expected arrays to be arguments of the kernel, this value is " << type;
    if (isNumber(array.getElementType()))
      return success();
  }
  return emitError(loc) << "expected index, i1, i8 to i64, f16, bf16, f32, f64, f8E4M3FN, f8E5M2, "
                           "or tiles or arrays of "
                           "them, got "
                        << type;
}

/// 8-bit floats are only moved and converted.
LogicalResult SourceChecker::checkFloat8(Operation *op) {
  if (llvm::none_of(op->getOperandTypes(), isFloat8) && llvm::none_of(op->getResultTypes(), isFloat8))
    return success();
  if (isa<arith::SelectOp, arith::BitcastOp, arith::ConstantOp>(op))
    return success();
  if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
    return op->emitOpError("expected operands of 16 bits or more: 8-bit floats have only conversions");
  if (!target.has(Feature::F8Convert))
    return op->emitOpError(missingFeature(Feature::F8Convert, target));
  if (getElementTypeOrSelf(op->getOperand(0)).isF64())
    return op->emitOpError("expected a source of f32 or narrower: f64 would be rounded twice");
  return success();
}

LogicalResult SourceChecker::checkArith(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto elements = dyn_cast<ElementsAttr>(constant.getValue()); elements && !isa<SplatElementsAttr>(elements))
      return op->emitOpError("expected one value for all elements of a tile");
  if (op->getNumResults() != 1)
    return op->emitOpError("is not supported: it has ") << op->getNumResults() << " results";
  return checkFloat8(op);
}

/// Mirrors the lowering's table in ScalarMath.cpp.
LogicalResult SourceChecker::checkMath(Operation *op) {
  Type type = getElementTypeOrSelf(op->getResult(0));
  if (type.isIndex())
    return op->emitOpError("expected a sized integer, got index");
  if (isa<math::AbsFOp, math::CeilOp, math::FloorOp, math::TruncOp, math::RoundEvenOp, math::CopySignOp, math::FmaOp,
          math::AbsIOp, math::CtPopOp, math::CountLeadingZerosOp>(op))
    return checkFloat8(op);
  if (!isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::SqrtOp, math::RsqrtOp, math::TanhOp>(op))
    return op->emitOpError("is not supported; known: exp, exp2, log, log2, sqrt, rsqrt, tanh, absf, fma, ceil, floor, "
                           "trunc, roundeven, copysign, absi, ctpop, ctlz");
  if (type.isF32() || type.isF16() || type.isBF16() || (type.isF64() && isa<math::SqrtOp>(op)))
    return success();
  return op->emitOpError("expected elements of f32, f16 or bf16, got ") << type;
}

LogicalResult SourceChecker::checkDim(memref::DimOp dim) {
  auto array = dyn_cast<MemRefType>(dim.getSource().getType());
  std::optional<int64_t> index = dim.getConstantIndex();
  if (array && index && *index >= 0 && *index < array.getRank())
    return success();
  return dim.emitError("expected a constant dimension of the array");
}

LogicalResult SourceChecker::checkPrint(Operation *op) {
  if (llvm::any_of(op->getOperandTypes(), isFloat8))
    return op->emitOpError("expected values of 16 bits or more, or integers: convert 8-bit floats first");
  return success();
}

LogicalResult SourceChecker::checkOp(Operation *op) {
  for (Value result : op->getResults())
    if (failed(checkType(op->getLoc(), result.getType(), /*isArgument=*/false)))
      return failure();
  for (Region &region : op->getRegions()) {
    if (!region.empty() && !region.hasOneBlock())
      return op->emitOpError("expected regions of one block: control flow is tile.for and scf");
    for (BlockArgument argument : region.getArguments())
      if (failed(checkType(argument.getLoc(), argument.getType(), isa<KernelOp>(op))))
        return failure();
  }
  if (isa<ConvertLayoutOp>(op))
    return op->emitOpError("is the compiler's own: tile-infer-layouts makes it");
  for (StringRef own : {"valid", "parts", "vector"})
    if (isa<TileDialect>(op->getDialect()) && op->hasAttr(own))
      return op->emitOpError("has the attribute ") << own << ", which is the compiler's own";
  auto scatter = dyn_cast<ScatterOp>(op);
  if (isa<ReduceStoreOp>(op) || (scatter && scatter.getCombine()))
    if (getElementTypeOrSelf(op->getOperand(0)).isBF16() && !target.has(Feature::CpAsync))
      return op->emitOpError("combines bf16 atomically, which sm_80 and newer can, got ") << target.name;
  // Their numbers are converted.
  if (isa<DotScaledOp>(op) && llvm::any_of(op->getOperandTypes(), isFloat8) && !target.has(Feature::F8Convert))
    return op->emitOpError(missingFeature(Feature::F8Convert, target));
  if (auto loop = dyn_cast<ForOp>(op); loop && loop.getPipeline() && loop.getPipeline()->getOrder() == Order::Pingpong)
    return op->emitError("expected order = cooperative or auto: that groups take turns (pingpong) is not there yet");
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return checkDim(dim);
  if (isa<PrintOp>(op))
    return checkPrint(op);
  if (isa<arith::ArithDialect>(op->getDialect()))
    return checkArith(op);
  if (isa<math::MathDialect>(op->getDialect()))
    return checkMath(op);
  if (isa<TileDialect>(op->getDialect()) ||
      isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp, tensor::SplatOp>(op))
    return success();
  return op->emitError("expected ops of tile, arith and math, scf.for, scf.if, scf.while, "
                       "memref.dim and tensor.splat in "
                       "a kernel, got ")
         << op->getName();
}

LogicalResult SourceChecker::check() {
  if (failed(checkName()))
    return failure();
  // Outer ops before inner ones, in program order: the first error is the one to mend first.
  return failure(
      kernel.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult { return checkOp(op); }).wasInterrupted());
}

LogicalResult headrace::tile::checkModule(ModuleOp module) {
  if (module.getOps<KernelOp>().empty())
    return success();
  for (Operation &op : *module.getBody())
    if (!isa<KernelOp>(op))
      return op.emitError("expected a module of tile.kernel ops alone, got ") << op.getName();
  return success();
}

LogicalResult headrace::tile::checkSource(KernelOp kernel, const TargetInfo &target) {
  return SourceChecker{kernel, target}.check();
}
