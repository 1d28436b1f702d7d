// Types and attributes of the pipe dialect.
#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;

#include "headrace/Dialect/Pipe/IR/PipeEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "headrace/Dialect/Pipe/IR/PipeAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "headrace/Dialect/Pipe/IR/PipeTypes.cpp.inc"

void PipeDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "headrace/Dialect/Pipe/IR/PipeTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "headrace/Dialect/Pipe/IR/PipeAttrs.cpp.inc"
      >();
}

//===- BufferType ---------------------------------------------------------------------------------------------------===//

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  Attribute layout;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseComma() || parser.parseAttribute(layout) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape, element, layout);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType() << ", " << getLayout() << ">";
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                                 Attribute layout) {
  if (shape.empty() || shape.size() > 4)
    return emitError() << "expected a tile of rank 1 to 4";
  int64_t elements = 1;
  for (int64_t extent : shape)
    if (extent < 1 || extent > (1 << 24) || (elements *= extent) > (1 << 24))
      return emitError() << "expected 1 to 2^24 elements";
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 || element.getIntOrFloatBitWidth() > 64)
    return emitError() << "expected elements of 1 to 8 whole bytes, got " << element;
  auto shared = dyn_cast<tile::SharedAttr>(layout);
  if (!shared && !isa<tile::TmemAttr>(layout))
    return emitError() << "expected a layout #tile.shared or #tile.tmem, got " << layout;
  if (!shared)
    return success();
  if (shared.getMajor() >= int64_t(shape.size()))
    return emitError() << "expected major to be a dimension of the tile, got " << shared.getMajor();
  int64_t bytes = shape[shared.getMajor()] * element.getIntOrFloatBitWidth() / 8;
  if (shared.getSwizzle() && bytes % shared.getSwizzle())
    return emitError() << "expected rows of a multiple of " << shared.getSwizzle() << " bytes, got " << bytes;
  return success();
}

bool BufferType::isShared() const { return isa<tile::SharedAttr>(getLayout()); }

SharedLayout BufferType::getSharedLayout() const {
  return cast<tile::SharedAttr>(getLayout()).getSharedLayout(getShape(), getElementType());
}

int64_t BufferType::getSharedBytes() const { return isShared() ? getSharedLayout().bytes() : 0; }

int64_t BufferType::getTmemColumns() const {
  if (isShared())
    return 0;
  // Row m is lane m; 32-bit elements take a column each (PTX ISA 9.7.16.10.5, layout D).
  return llvm::divideCeil(getShape().back() * getElementType().getIntOrFloatBitWidth(), 32);
}

LogicalResult ChannelType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t depth,
                                  ArrayRef<BufferType> buffers) {
  if (depth < 0 || depth > 64)
    return emitError() << "expected a depth of 0 (not chosen) to 64, got " << depth;
  if (buffers.empty())
    return emitError() << "expected at least one tile in a slot";
  if (llvm::any_of(buffers, [&](BufferType buffer) { return buffer.isShared() != buffers.front().isShared(); }))
    return emitError() << "expected all tiles of a slot in one memory";
  return success();
}
