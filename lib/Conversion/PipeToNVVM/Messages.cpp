// tile.assert and tile.print: a branch that is never taken as a rule, and calls of the device's own __assertfail and
// vprintf (CUDA C++ Programming Guide, "Assertion" and "Formatted Output"), which every kernel is linked with.
//
// ptxas takes wgmma one by one in kernels that call functions, wherever the call is (C7510, measured with CUDA 13.0).
// There a failed assert runs into a trap, and the launch record says what it may have been.
#include "Messages.h"
#include "TileRegisters.h"

#include "headrace/Dialect/Tile/IR/SourcePlace.h"
#include "headrace/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

static constexpr llvm::StringLiteral kFail = "__assertfail", kPrint = "vprintf";
/// On an assert and a print: the strings that it hands to its function. An assert without them is a trap.
static constexpr llvm::StringLiteral kStringsAttr = "pipe.strings";

//===- strings and functions --------------------------------------------------------------------------------------===//

namespace {
/// Strings of a module in global memory, each once.
class Strings {
public:
  explicit Strings(ModuleOp module) : module(module) {}
  FlatSymbolRefAttr get(StringRef text) {
    FlatSymbolRefAttr &known = symbols[text];
    if (known)
      return known;
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    std::string bytes = text.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    auto global =
        LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
                               "headrace_text_" + std::to_string(symbols.size() - 1), builder.getStringAttr(bytes),
                               /*alignment=*/1, unsigned(NVVM::NVVMMemorySpace::Global));
    return known = FlatSymbolRefAttr::get(global);
  }

private:
  ModuleOp module;
  llvm::StringMap<FlatSymbolRefAttr> symbols;
};
} // namespace

static void declare(ModuleOp module, StringRef name, Type result, ArrayRef<Type> arguments, bool returns) {
  if (module.lookupSymbol(name))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto function =
      LLVM::LLVMFuncOp::create(builder, module.getLoc(), name, LLVM::LLVMFunctionType::get(result, arguments));
  if (!returns)
    function.setPassthroughAttr(builder.getStrArrayAttr({"noreturn"}));
}

/// "%.9g": enough digits to tell any two values apart.
static StringRef conversionOf(Type element) {
  if (element.isF64())
    return "%.17g";
  if (element.isF32())
    return "%.9g";
  if (element.isF16())
    return "%.5g";
  if (element.isBF16())
    return "%.4g";
  return element.isInteger(64) ? "%lld" : "%d";
}

/// "(%d, %d, %d) text [%d, %d]: %.9g, %d\n".
static std::string formatOf(tile::PrintOp print) {
  std::string format = "(%d, %d, %d) ";
  for (char c : print.getText())
    format += c == '%' ? "%%" : std::string(1, c);
  if (Value tile = print.getTile()) {
    format += " [";
    for (int64_t dim = 0; dim < cast<RankedTensorType>(tile.getType()).getRank(); ++dim)
      format += dim ? ", %d" : "%d";
    format += "]";
  }
  for (auto [i, value] : llvm::enumerate(print.getValues()))
    format += (i ? ", " : ": ") + conversionOf(getElementTypeOrSelf(value)).str();
  return format + "\n";
}

static void prepareKernel(ModuleOp module, func::FuncOp kernel, Strings &strings) {
  Builder builder(module.getContext());
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  bool prints = kernel.walk([](tile::PrintOp) { return WalkResult::interrupt(); }).wasInterrupted();
  bool traps = pipe::usesWgmma(kernel) && !prints; // who prints has the calls already
  kernel.walk([&](Operation *op) {
    if (auto check = dyn_cast<tile::AssertOp>(op); check && !traps) {
      declare(module, kFail, LLVM::LLVMVoidType::get(module.getContext()), {pointer, pointer, i32, pointer, i64},
              /*returns=*/false);
      op->setAttr(kStringsAttr, builder.getArrayAttr({strings.get(check.getMessage()),
                                                      strings.get(tile::findPlace(op->getLoc()).file),
                                                      strings.get(kernel.getName())}));
    } else if (auto print = dyn_cast<tile::PrintOp>(op)) {
      declare(module, kPrint, i32, {pointer, pointer}, /*returns=*/true);
      op->setAttr(kStringsAttr, builder.getArrayAttr({strings.get(formatOf(print))}));
    }
  });
}

void lowering::prepareMessages(ModuleOp module) {
  Strings strings(module);
  for (auto kernel : llvm::to_vector(module.getOps<func::FuncOp>()))
    prepareKernel(module, kernel, strings);
}

/// Generic address of string number `number` of an op.
static Value addressOf(OpBuilder &builder, Operation *op, unsigned number) {
  auto symbol = cast<FlatSymbolRefAttr>(op->getAttrOfType<ArrayAttr>(kStringsAttr)[number]);
  MLIRContext *context = builder.getContext();
  auto global = LLVM::LLVMPointerType::get(context, unsigned(NVVM::NVVMMemorySpace::Global));
  Value address = LLVM::AddressOfOp::create(builder, op->getLoc(), global, symbol);
  return LLVM::AddrSpaceCastOp::create(builder, op->getLoc(), LLVM::LLVMPointerType::get(context), address);
}

//===- elements ---------------------------------------------------------------------------------------------------===//

namespace {
/// Where the elements of a tile's registers are.
struct Elements {
  Elements(OpBuilder &builder, Operation *op, TileLayout tileLayout, std::optional<ArrayRef<int64_t>> valid)
      : builder(builder), loc(op->getLoc()), layout(std::move(tileLayout)), valid(valid),
        thread(threadCoordinate(builder, loc, layout, getThread(builder, op))) {}

  /// Coordinate of the element of a register along a dimension, as i32.
  Value at(int64_t reg, int64_t dim) {
    int64_t constant = layout.registerOffset(reg)[dim];
    return constant ? arith::AddIOp::create(builder, loc, thread[dim], constI32(builder, loc, constant)).getResult()
                    : thread[dim];
  }
  /// i1: the element of a register is no padding. Null if none of the tile's elements is.
  Value isValid(int64_t reg) {
    Value result;
    for (int64_t dim = 0; valid && dim < layout.rank(); ++dim) {
      if ((*valid)[dim] == layout.shape()[dim])
        continue;
      Value here = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at(reg, dim),
                                         constI32(builder, loc, (*valid)[dim]));
      result = result ? arith::AndIOp::create(builder, loc, result, here).getResult() : here;
    }
    return result;
  }

  OpBuilder &builder;
  Location loc;
  TileLayout layout;
  std::optional<ArrayRef<int64_t>> valid;
  SmallVector<Value> thread;
};

//===- tile.assert ------------------------------------------------------------------------------------------------===//

struct AssertPattern : OpConversionPattern<tile::AssertOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::AssertOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FailureOr<Value> holds = allHold(rewriter, op, adaptor.getCondition());
    if (failed(holds))
      return failure();
    if (op->hasAttr(kStringsAttr))
      callUnless(rewriter, op, *holds);
    else
      ptx(rewriter, loc, "@!$0 trap;", {}, *holds);
    rewriter.eraseOp(op);
    return success();
  }

  /// Whether it holds for all of this thread's elements.
  static FailureOr<Value> allHold(ConversionPatternRewriter &rewriter, tile::AssertOp op, ValueRange registers) {
    Location loc = op.getLoc();
    if (!isa<RankedTensorType>(op.getCondition().getType()))
      return registers.front();
    FailureOr<TileLayout> layout = layoutOf(op, op.getCondition().getType());
    if (failed(layout))
      return failure();
    Elements elements(rewriter, op, *layout, op.getValid());
    Value all, yes = arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true));
    for (auto [reg, value] : llvm::enumerate(registers)) {
      Value holds = value;
      if (Value valid = elements.isValid(reg))
        holds = arith::SelectOp::create(rewriter, loc, valid, holds, yes);
      all = all ? arith::AndIOp::create(rewriter, loc, all, holds).getResult() : holds;
    }
    return all;
  }

  static void callUnless(ConversionPatternRewriter &rewriter, tile::AssertOp op, Value holds) {
    Location loc = op.getLoc();
    Value fails = arith::XOrIOp::create(rewriter, loc, holds,
                                        arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true)));
    auto branch = scf::IfOp::create(rewriter, loc, fails, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    Value arguments[] = {addressOf(rewriter, op, 0), addressOf(rewriter, op, 1),
                         constI32(rewriter, loc, tile::findPlace(loc).line), addressOf(rewriter, op, 2),
                         constI64(rewriter, loc, 1)}; // the last: bytes of a character
    LLVM::CallOp::create(rewriter, loc, TypeRange(), kFail, arguments);
  }
};

//===- tile.print -------------------------------------------------------------------------------------------------===//

/// Arguments of vprintf in memory: each at a multiple of its size, integers of 4 or 8 bytes and doubles.
class PrintArguments {
public:
  PrintArguments(OpBuilder &builder, Operation *op)
      : builder(builder), loc(op->getLoc()), buffer(printBuffer(builder, op)) {}

  void add(Value value) {
    value = promoted(value);
    int64_t size = value.getType().getIntOrFloatBitWidth() / 8;
    bytes = llvm::alignTo(bytes, size);
    Value place = LLVM::GEPOp::create(builder, loc, buffer.getType(), builder.getI8Type(), buffer,
                                      ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
    LLVM::StoreOp::create(builder, loc, value, place, /*alignment=*/size);
    bytes += size;
    assert(bytes <= kPrintBytes && "expected the verifier to have bounded the values");
  }
  Value address() const { return buffer; }

private:
  /// As C passes it where no type is declared.
  Value promoted(Value value) {
    Type type = value.getType();
    if (type.isIndex())
      return toI32(builder, loc, value);
    if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 16)
      value = arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
    if (isa<FloatType>(type))
      return type.isF64() ? value : arith::ExtFOp::create(builder, loc, builder.getF64Type(), value).getResult();
    if (type.isInteger(1))
      return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), value);
    return type.getIntOrFloatBitWidth() < 32 ? arith::ExtSIOp::create(builder, loc, builder.getI32Type(), value)
                                             : value;
  }

  OpBuilder &builder;
  Location loc;
  Value buffer;
  int64_t bytes = 0;
};

struct PrintPattern : OpConversionPattern<tile::PrintOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::PrintOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value tile = op.getTile();
    if (!tile) {
      within(rewriter, loc, isLeader(rewriter, op), [&] { printLine(rewriter, op, adaptor, nullptr, 0, {}); });
      rewriter.eraseOp(op);
      return success();
    }
    FailureOr<TileLayout> layout = layoutOf(op, tile.getType());
    if (failed(layout))
      return failure();
    // For each value: the number of its register, by that of the first tile's.
    SmallVector<std::vector<int64_t>> registers;
    for (Value value : op.getValues()) {
      registers.emplace_back();
      if (!isa<RankedTensorType>(value.getType()))
        continue;
      FailureOr<TileLayout> from = layoutOf(op, value.getType());
      if (failed(from))
        return failure();
      auto found = registersAt(*from, *layout, [](std::vector<int64_t> at) { return at; });
      if (!found)
        return op.emitOpError("expected tiles of one layout, got ")
               << layout->toString() << " and " << from->toString();
      registers.back() = std::move(*found);
    }
    Elements elements(rewriter, op, *layout, op.getValid());
    Value writer = isWriter(rewriter, loc, *layout, getThread(rewriter, op));
    within(rewriter, loc, writer, [&] {
      for (int64_t reg = 0; reg < layout->numRegisters(); ++reg)
        within(rewriter, loc, elements.isValid(reg),
               [&] { printLine(rewriter, op, adaptor, &elements, reg, registers); });
    });
    rewriter.eraseOp(op);
    return success();
  }

  /// Makes what `body` makes under a condition, if there is one.
  static void within(ConversionPatternRewriter &rewriter, Location loc, Value condition,
                     llvm::function_ref<void()> body) {
    if (!condition)
      return body();
    auto branch = scf::IfOp::create(rewriter, loc, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    body();
  }

  static void printLine(ConversionPatternRewriter &rewriter, tile::PrintOp op, OneToNOpAdaptor adaptor,
                        Elements *elements, int64_t reg, ArrayRef<std::vector<int64_t>> registers) {
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    PrintArguments arguments(rewriter, op);
    arguments.add(NVVM::BlockIdXOp::create(rewriter, loc, i32));
    arguments.add(NVVM::BlockIdYOp::create(rewriter, loc, i32));
    arguments.add(NVVM::BlockIdZOp::create(rewriter, loc, i32));
    for (int64_t dim = 0; elements && dim < elements->layout.rank(); ++dim)
      arguments.add(elements->at(reg, dim));
    for (auto [i, values] : llvm::enumerate(adaptor.getValues()))
      arguments.add(values[elements && !registers[i].empty() ? registers[i][reg] : 0]);
    LLVM::CallOp::create(rewriter, loc, TypeRange(i32), kPrint,
                         ValueRange{addressOf(rewriter, op, 0), arguments.address()});
  }
};
} // namespace

void lowering::populateMessages(lowering::TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<AssertPattern, PrintPattern>(types, patterns.getContext());
}
