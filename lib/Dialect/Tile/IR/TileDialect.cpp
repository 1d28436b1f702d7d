// The tile dialect: registration and the helpers that every level shares.
#include "headrace/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::tile;

#include "headrace/Dialect/Tile/IR/TileDialect.cpp.inc"

namespace {
/// Layouts are long: printed once at the top of a module, by name below.
struct TileAliases : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (isa<LayoutAttr>(attr)) {
      os << "layout";
      return AliasResult::FinalAlias;
    }
    if (isa<SharedAttr>(attr)) {
      os << "shared";
      return AliasResult::FinalAlias;
    }
    return AliasResult::NoAlias;
  }
};
} // namespace

void TileDialect::initialize() {
  addInterfaces<TileAliases>();
  addOperations<
#define GET_OP_LIST
#include "headrace/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
  registerAttributes();
}

RankedTensorType headrace::tile::withLayout(RankedTensorType type, Attribute layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

bool headrace::tile::isWritten(Value array) {
  return llvm::any_of(array.getUsers(),
                      [](Operation *user) { return isa<StoreOp, StoreScalarOp, ScatterOp, ReduceStoreOp>(user); });
}

int64_t headrace::tile::contiguousDim(MemRefType array) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(array.getStridesAndOffset(strides, offset)))
    return -1;
  for (int64_t dim = strides.size() - 1; dim >= 0; --dim)
    if (strides[dim] == 1)
      return dim;
  return -1;
}

int64_t headrace::tile::contiguousTileDim(MemRefType array, int64_t tileRank) {
  return std::max<int64_t>(-1, contiguousDim(array) - (array.getRank() - tileRank));
}
