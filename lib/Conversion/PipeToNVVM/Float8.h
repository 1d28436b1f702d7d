// Conversions of 8-bit floats, whose registers are i8.
#pragma once

#include "Lowering.h"

namespace headrace::lowering {

/// True for the formats that cvt knows: e4m3 (f8E4M3FN) and e5m2.
bool isFloat8(Type type);

/// Registers of the 8-bit format `from` as f16, exactly. Requires: Feature::F8Convert.
llvm::SmallVector<Value> extendFloat8(OpBuilder &builder, Location loc, ValueRange registers, Type from);

/// f32 registers rounded to the 8-bit format `to`; what is too large becomes the largest finite
/// value, as in the hardware's conversions. Requires: Feature::F8Convert.
llvm::SmallVector<Value> truncateToFloat8(OpBuilder &builder, Location loc, ValueRange registers, Type to);

} // namespace headrace::lowering
