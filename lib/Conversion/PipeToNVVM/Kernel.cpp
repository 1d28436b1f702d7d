// Kernels: their parameters, the questions about the grid and about arrays, and the function that
// the driver launches.
#include "Lowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;
using namespace headrace::pipe;

/// On a kernel: how many blocks of it a multiprocessor should hold (i64).
static constexpr llvm::StringLiteral kOccupancyAttr = "pipe.occupancy";

static int64_t numTensorMaps(Operation *kernel) {
  auto maps = kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr);
  return maps ? maps.size() : 0;
}

namespace {

/// Arrays become their parts, and one pointer for each tensor map follows. The function stays a
/// func.func, so that getRole works while its body is converted.
struct ConvertParameters : OpConversionPattern<func::FuncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(func::FuncOp kernel, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    auto pointer = LLVM::LLVMPointerType::get(getContext());
    mlir::TypeConverter::SignatureConversion conversion(kernel.getNumArguments());
    SmallVector<DictionaryAttr> attributes;
    for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
      SmallVector<Type> parts;
      if (failed(getTypeConverter()->convertType(type, parts)))
        return kernel.emitError("expected parameter ")
               << i << " to be a scalar or an array that starts at its address, got " << type;
      conversion.addInputs(i, parts);
      attributes.push_back(kernel.getArgAttrDict(i));
      attributes.append(parts.size() - 1, DictionaryAttr());
    }
    conversion.addInputs(SmallVector<Type>(numTensorMaps(kernel), pointer));
    attributes.append(numTensorMaps(kernel), DictionaryAttr());

    if (failed(rewriter.convertRegionTypes(&kernel.getBody(), *getTypeConverter(), &conversion)))
      return failure();
    rewriter.modifyOpInPlace(kernel, [&] {
      kernel.setType(rewriter.getFunctionType(conversion.getConvertedTypes(), {}));
      function_interface_impl::setAllArgAttrDicts(kernel, attributes);
      kernel->setAttr(kConvertedAttr, rewriter.getUnitAttr());
    });
    return success();
  }
};

/// A question about the grid: the special register, as an index.
template <typename Question, typename X, typename Y, typename Z>
struct ConvertGridQuestion : OpConversionPattern<Question> {
  using OpConversionPattern<Question>::OpConversionPattern;
  LogicalResult matchAndRewrite(Question op, typename Question::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type i32 = rewriter.getI32Type();
    Location loc = op.getLoc();
    Value value;
    switch (op.getDimension()) {
    case gpu::Dimension::x:
      value = X::create(rewriter, loc, i32);
      break;
    case gpu::Dimension::y:
      value = Y::create(rewriter, loc, i32);
      break;
    case gpu::Dimension::z:
      value = Z::create(rewriter, loc, i32);
      break;
    }
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, rewriter.getIndexType(), value);
    return success();
  }
};

struct ConvertDim : OpConversionPattern<memref::DimOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(memref::DimOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<MemRefType>(op.getSource().getType());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!dim || *dim < 0 || *dim >= type.getRank())
      return op.emitError("expected a constant dimension of the array");
    if (type.isDynamicDim(*dim))
      rewriter.replaceOp(op, adaptor.getSource()[1 + type.getDynamicDimIndex(*dim)]);
    else
      rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(op, type.getDimSize(*dim));
    return success();
  }
};

} // namespace

void lowering::populateKernel(TypeConverter &converter, RewritePatternSet &patterns, const TargetInfo &) {
  patterns.add<ConvertParameters, ConvertDim,
               ConvertGridQuestion<gpu::BlockIdOp, NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>,
               ConvertGridQuestion<gpu::GridDimOp, NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>>(
      converter, patterns.getContext());
}

//===- the function of the LLVM dialect
//-------------------------------------------------------------------------------===//

/// A parameter cannot be an index: it is passed as i32.
static void passIndicesAsI32(Block &entry) {
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  for (BlockArgument argument : entry.getArguments()) {
    if (!argument.getType().isIndex())
      continue;
    argument.setType(builder.getI32Type());
    auto index = arith::IndexCastOp::create(builder, argument.getLoc(), builder.getIndexType(), argument);
    argument.replaceAllUsesExcept(index, index);
  }
}

/// Attributes of a parameter: the alignment promised for an array; of a tensor map, that it stays
/// where the driver put it (without grid_constant it would be copied to local memory, which TMA
/// cannot read).
static DictionaryAttr parameterAttrs(func::FuncOp kernel, unsigned i) {
  Builder builder(kernel.getContext());
  NamedAttrList attributes;
  if (i + numTensorMaps(kernel) >= kernel.getNumArguments()) {
    attributes.set(LLVM::LLVMDialect::getByValAttrName(),
                   TypeAttr::get(LLVM::LLVMArrayType::get(builder.getI8Type(), 128)));
    attributes.set(LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(64));
    attributes.set(NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
  } else if (auto align = kernel.getArgAttrOfType<IntegerAttr>(i, tile::kAlignAttr)) {
    attributes.set(LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(align.getInt()));
  }
  return attributes.getDictionary(kernel.getContext());
}

void lowering::lowerKernel(func::FuncOp kernel) {
  OpBuilder builder(kernel);
  passIndicesAsI32(kernel.getBody().front());
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    attributes.push_back(parameterAttrs(kernel, i));

  Type nothing = LLVM::LLVMVoidType::get(kernel.getContext());
  SmallVector<Type> types(kernel.getBody().getArgumentTypes());
  auto function =
      LLVM::LLVMFuncOp::create(builder, kernel.getLoc(), kernel.getName(), LLVM::LLVMFunctionType::get(nothing, types));
  function.getBody().takeBody(kernel.getBody());
  function_interface_impl::setAllArgAttrDicts(function, attributes);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  int32_t threads = 32 * kernel->getAttrOfType<IntegerAttr>(kWarpsAttr).getInt();
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), builder.getDenseI32ArrayAttr({threads, 1, 1}));
  auto occupancy = kernel->getAttrOfType<IntegerAttr>(kOccupancyAttr);
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    builder.getI32IntegerAttr(occupancy ? occupancy.getInt() : 1));
  kernel.erase();

  function.walk([](func::ReturnOp op) {
    OpBuilder at(op);
    LLVM::ReturnOp::create(at, op.getLoc(), ValueRange());
    op.erase();
  });
}
