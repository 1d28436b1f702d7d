// The target of a module, and the element types of the instruction table.
#include "headrace/Dialect/Tile/Transforms/Target.h"

using namespace mlir;
using namespace headrace;

FailureOr<TargetInfo> headrace::tile::getTarget(ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>(kTargetAttr);
  if (!name)
    return module.emitError("expected the module attribute ") << kTargetAttr << ", such as \"sm_90a\"";
  std::string why;
  std::optional<TargetInfo> target = parseTarget(name.getValue(), why);
  if (!target)
    return module.emitError(why);
  return *target;
}

std::optional<ElemType> headrace::tile::getElemType(Type type, bool tf32) {
  if (type.isF16())
    return ElemType::F16;
  if (type.isBF16())
    return ElemType::BF16;
  if (type.isF32())
    return tf32 ? ElemType::TF32 : ElemType::F32;
  if (type.isF64())
    return ElemType::F64;
  if (isa<Float8E4M3FNType>(type))
    return ElemType::E4M3;
  if (isa<Float8E5M2Type>(type))
    return ElemType::E5M2;
  if (type.isInteger(8))
    return ElemType::S8;
  if (type.isInteger(32))
    return ElemType::S32;
  return std::nullopt;
}
