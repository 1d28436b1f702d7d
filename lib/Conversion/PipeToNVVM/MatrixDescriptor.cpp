// Shared-memory matrix descriptors from shared layouts. Field positions: PTX ISA 9.7.15.5.1.2.2
// (wgmma) and 9.7.16.4.1 (tcgen05).
#include "MatrixDescriptor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace headrace::lowering {

namespace {

/// Eight rows (or eight k) of 16 bytes, the core matrix of layouts without a swizzle.
constexpr int64_t kCoreBytes = 128;

/// An address or distance in a field of 14 bits: its low 18 bits, in units of 16 bytes.
uint64_t encode(int64_t bytes) { return (bytes & 0x3FFFF) >> 4; }

/// Bits 63:62. tcgen05 has three bits, 63:61, whose values for the same patterns are these with a
/// zero below.
uint64_t swizzleCode(int64_t swizzle) {
  switch (swizzle) {
  case 128:
    return 1;
  case 64:
    return 2;
  case 32:
    return 3;
  default:
    return 0;
  }
}

} // namespace

MatrixDescriptor wgmmaDescriptor(const SharedLayout &layout, bool kMajor) {
  bool swizzled = layout.swizzle() > 16;
  // From one panel to the next, and from eight rows of a panel to the next eight. Which of the two
  // fields takes which depends on the direction and, without a swizzle, on what the instruction
  // calls a row.
  int64_t panel = layout.panelBytes(), eightRows = 8 * layout.rowBytes();
  int64_t leading, stride;
  if (swizzled && kMajor) {
    leading = 16; // not used; PTX asks for the encoded value 1
    stride = eightRows;
  } else if (swizzled || kMajor) {
    leading = panel;
    stride = eightRows;
  } else {
    leading = kCoreBytes;
    stride = panel;
  }
  return {encode(leading) << 16 | encode(stride) << 32 | swizzleCode(layout.swizzle()) << 62};
}

MatrixDescriptor tcgen05Descriptor(const SharedLayout &layout, bool kMajor) {
  return {wgmmaDescriptor(layout, kMajor).fixed | uint64_t(1) << 46};
}

Value buildDescriptor(OpBuilder &builder, Location loc, MatrixDescriptor descriptor, Value byteAddress,
                      int64_t constantByteOffset) {
  auto constant = [&](IntegerType type, int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, APInt(type.getWidth(), value)));
  };
  IntegerType i32 = builder.getI32Type(), i64 = builder.getI64Type();
  // The address is shifted before constants are added, so that all parts of one operand share the
  // shift. No carry leaves the start field: see the header.
  Value start = arith::ShRUIOp::create(builder, loc, byteAddress, constant(i32, 4));
  uint32_t low = uint32_t(descriptor.fixed) + encode(constantByteOffset);
  Value lowWord = arith::AddIOp::create(builder, loc, start, constant(i32, low));
  Value wide = arith::ExtUIOp::create(builder, loc, i64, lowWord);
  return arith::OrIOp::create(builder, loc, wide, constant(i64, descriptor.fixed >> 32 << 32));
}

std::optional<int64_t> operandStart(const SharedLayout &layout, bool kMajor, int64_t row, int64_t rows, int64_t k) {
  if (kMajor) {
    if (row % 8)
      return std::nullopt;
  } else {
    int64_t panel = layout.panelElements();
    if (row % panel && (row % panel + rows > panel || layout.swizzle() <= 16))
      return std::nullopt;
    if (k % 8)
      return std::nullopt;
  }
  bool contiguousFirst = layout.major() == 0;
  int64_t contiguous = kMajor ? k : row, other = kMajor ? row : k;
  return layout.offset(contiguousFirst ? std::vector<int64_t>{contiguous, other}
                                       : std::vector<int64_t>{other, contiguous});
}

} // namespace headrace::lowering
