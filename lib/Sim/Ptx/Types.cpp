// Fundamental types.
#include "Types.h"

namespace headrace::sim::ptx {

std::optional<ElementType> elementTypeOf(std::string_view directive) {
  struct Entry {
    std::string_view name;
    ElementType type;
  };
  constexpr Entry kTypes[] = {
      {".pred", {1, false, false}},  {".b8", {8, false, false}},     {".u8", {8, false, false}},
      {".s8", {8, false, false}},    {".b16", {16, false, false}},   {".u16", {16, false, false}},
      {".s16", {16, false, false}},  {".b32", {32, false, true}},    {".u32", {32, false, false}},
      {".s32", {32, false, false}},  {".b64", {64, false, true}},    {".u64", {64, false, false}},
      {".s64", {64, false, false}},  {".b128", {128, false, false}}, {".f16", {16, true, false}},
      {".f16x2", {32, true, false}}, {".f32", {32, true, true}},     {".f64", {64, true, true}},
  };
  for (const Entry &entry : kTypes)
    if (entry.name == directive)
      return entry.type;
  return std::nullopt;
}

} // namespace headrace::sim::ptx
