// The kernel and the loop of the tile dialect: parsing, printing, verification.
#include "headrace/Dialect/Tile/IR/Tile.h"
#include "headrace/Dialect/Tile/IR/VerifyDims.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace headrace::tile;

//===- KernelOp -----------------------------------------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildFuncType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                          function_interface_impl::VariadicFlag,
                          std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), buildFuncType,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

/// An argument is a memref of rank 1 to 5 with strides in global memory, or a scalar.
static LogicalResult verifyArgument(KernelOp kernel, unsigned index) {
  Type type = kernel.getArgumentTypes()[index];
  auto error = [&] { return kernel.emitOpError("argument ") << index << ": "; };
  auto array = dyn_cast<MemRefType>(type);
  if (!array) {
    if (!type.isIntOrIndexOrFloat())
      return error() << "expected an array or a scalar, got " << type;
    return success();
  }
  SmallVector<int64_t> strides;
  int64_t offset;
  if (array.getRank() < 1 || array.getRank() > 5)
    return error() << "expected an array of rank 1 to 5, got " << type;
  if (!array.getElementType().isIntOrFloat() || array.getElementType().getIntOrFloatBitWidth() % 8)
    return error() << "expected elements of whole bytes, got " << array.getElementType();
  if (failed(array.getStridesAndOffset(strides, offset)) || offset != 0)
    return error() << "expected strides and no offset, got " << type;
  if (array.getMemorySpace())
    return error() << "expected an array in global memory, got " << type;
  for (int64_t size : array.getShape())
    if (!ShapedType::isDynamic(size) && size > INT32_MAX)
      return error() << "expected extents below 2^31, got " << size;
  for (int64_t stride : strides)
    if (!ShapedType::isDynamic(stride) && stride < 0)
      return error() << "expected strides that are not negative, got " << stride;
  return success();
}

LogicalResult headrace::tile::verifyDims(Operation *kernel) {
  WalkResult result = kernel->walk([](Operation *op) -> WalkResult {
    if (!isa<memref::DimOp>(op) || op->getNumOperands() != 2)
      return WalkResult::advance(); // what is wrong with it, its own verifier says
    auto array = dyn_cast<MemRefType>(op->getOperand(0).getType());
    auto constant = op->getOperand(1).getDefiningOp<arith::ConstantOp>();
    auto index = constant ? constant->getAttrOfType<IntegerAttr>("value") : IntegerAttr();
    if (array && index && index.getValue().isNonNegative() && index.getValue().ult(array.getRank()))
      return WalkResult::advance();
    return op->emitError("expected a constant dimension of the array");
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelOp::verify() {
  if (isExternal())
    return emitOpError("expected a body");
  if (!getFunctionType().getResults().empty())
    return emitOpError("expected no results, got ") << getFunctionType().getNumResults();
  if (!getBody().hasOneBlock())
    return emitOpError("expected one block: control flow is tile.for and scf");
  if (getBody().front().empty() || !isa<ReturnOp>(getBody().front().back()))
    return emitOpError("expected tile.return at the end of the body");
  for (unsigned i = 0; i < getNumArguments(); ++i) {
    if (failed(verifyArgument(*this, i)))
      return failure();
    Attribute align = getArgAttr(i, kAlignAttr);
    if (!align)
      continue;
    auto bytes = dyn_cast<IntegerAttr>(align);
    if (!bytes || bytes.getValue().getSignificantBits() > 32 || bytes.getInt() < 1 ||
        !llvm::isPowerOf2_64(bytes.getInt()) || bytes.getInt() > 1024)
      return emitOpError("argument ") << i << ": expected " << kAlignAttr << " to be a power of two up to 1024, got "
                                      << align;
    if (!isa<MemRefType>(getArgumentTypes()[i]))
      return emitOpError("argument ") << i << ": " << kAlignAttr << " is for arrays";
  }
  if (getWarps() && *getWarps() > 32)
    return emitOpError("expected at most 32 warps, got ") << *getWarps();
  if (getOccupancy() && *getOccupancy() > 32)
    return emitOpError("expected an occupancy of at most 32, got ") << *getOccupancy();
  return verifyDims(*this);
}

void YieldOp::build(OpBuilder &, OperationState &) {}

//===- ForOp --------------------------------------------------------------------------------------------------------===//

ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  Type index = parser.getBuilder().getIndexType();
  OpAsmParser::Argument induction;
  induction.type = index;
  OpAsmParser::UnresolvedOperand lower, upper, step;
  if (parser.parseArgument(induction) || parser.parseEqual() || parser.parseOperand(lower) ||
      parser.parseKeyword("to") || parser.parseOperand(upper) || parser.parseKeyword("step") ||
      parser.parseOperand(step) || parser.resolveOperand(lower, index, result.operands) ||
      parser.resolveOperand(upper, index, result.operands) || parser.resolveOperand(step, index, result.operands))
    return failure();

  SmallVector<OpAsmParser::Argument> arguments = {induction};
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  if (succeeded(parser.parseOptionalKeyword("iter_args"))) {
    SmallVector<OpAsmParser::Argument> iterArgs;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseAssignmentList(iterArgs, inits) || parser.parseArrowTypeList(result.types))
      return failure();
    if (iterArgs.size() != result.types.size())
      return parser.emitError(loc) << "expected as many types as iter_args, got " << result.types.size() << " for "
                                   << iterArgs.size();
    for (auto [argument, type] : llvm::zip(iterArgs, result.types))
      argument.type = type;
    arguments.append(iterArgs);
    if (parser.resolveOperands(inits, result.types, loc, result.operands))
      return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("pipeline"))) {
    Attribute pipeline = PipelineAttr::parseArguments(parser);
    if (!pipeline)
      return failure();
    result.addAttribute(getPipelineAttrName(result.name), pipeline);
  }
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return parser.parseOptionalAttrDict(result.attributes);
}

void ForOp::print(OpAsmPrinter &printer) {
  printer << " " << getInductionVar() << " = " << getLower() << " to " << getUpper() << " step " << getStep();
  if (!getInits().empty()) {
    printer << " iter_args(";
    llvm::interleaveComma(llvm::zip(getIterArgs(), getInits()), printer,
                          [&](auto pair) { printer << std::get<0>(pair) << " = " << std::get<1>(pair); });
    printer << ") -> (" << getResultTypes() << ")";
  }
  if (getPipeline()) {
    printer << " pipeline";
    getPipeline()->printArguments(printer);
  }
  printer << " ";
  printer.printRegion(getRegion(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/!getInits().empty());
  printer.printOptionalAttrDict((*this)->getAttrs(), {getPipelineAttrName()});
}

LogicalResult ForOp::verify() {
  Block &body = getRegion().front();
  TypeRange types = getResultTypes();
  auto arguments = body.getArgumentTypes();
  if (arguments.empty() || !arguments.front().isIndex())
    return emitOpError("expected an index as the body's first argument");
  // C1: the loop-carried types agree everywhere.
  if (getInits().getTypes() != types)
    return emitOpError("expected initial values of the results' types");
  if (TypeRange(arguments).drop_front() != types)
    return emitOpError("expected body arguments of the results' types");
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield || yield.getValues().getTypes() != types)
    return emitOpError("expected yielded values of the results' types");
  // C2: a constant step is positive.
  APInt step;
  if (matchPattern(getStep(), m_ConstantInt(&step)) && !step.isStrictlyPositive())
    return emitOpError("expected a positive step, got ") << step.getSExtValue();
  return success();
}
