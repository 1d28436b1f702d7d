// Attributes of the tile dialect: parsing, printing, verification.
#include "headrace/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::tile;

#include "headrace/Dialect/Tile/IR/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "headrace/Dialect/Tile/IR/TileAttrs.cpp.inc"

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "headrace/Dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
}

//===- LayoutAttr ---------------------------------------------------------------------------------------------------===//

namespace {
/// Largest extent, basis or count that a written layout may have: keeps arithmetic on it far from overflow.
constexpr int64_t kLargest = int64_t(1) << 24;

ParseResult parseInts(AsmParser &parser, SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(values.emplace_back()); });
}

/// `name = [[1, 0], [2, 0]]`: bases flattened into `values`; each must have `rank` coordinates.
ParseResult parseBases(AsmParser &parser, StringRef name, size_t rank, SmallVectorImpl<int64_t> &values) {
  if (parser.parseKeyword(name) || parser.parseEqual())
    return failure();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    SmallVector<int64_t> basis;
    if (parseInts(parser, basis))
      return failure();
    if (basis.size() != rank)
      return parser.emitError(loc) << "expected " << rank << " coordinates, got " << basis.size();
    values.append(basis);
    return success();
  });
}

void printBases(AsmPrinter &printer, StringRef name, size_t rank, ArrayRef<int64_t> values) {
  printer << ", " << name << " = [";
  for (size_t i = 0; i < values.size(); i += rank) {
    printer << (i ? ", [" : "[");
    llvm::interleaveComma(values.slice(i, rank), printer);
    printer << "]";
  }
  printer << "]";
}

LinearLayout::Bases unflatten(ArrayRef<int64_t> values, size_t rank) {
  LinearLayout::Bases bases;
  for (size_t i = 0; i < values.size(); i += rank)
    bases.emplace_back(values.begin() + i, values.begin() + i + rank);
  return bases;
}

SmallVector<int64_t> flatten(const LinearLayout::Bases &bases) {
  SmallVector<int64_t> values;
  for (const auto &basis : bases)
    values.append(basis.begin(), basis.end());
  return values;
}
} // namespace

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> atom, registers, lanes, warps, groups, repeat;
  SMLoc loc = parser.getCurrentLocation();
  auto parseGroup = [&] {
    return failure(parser.parseInteger(groups.emplace_back()) || parser.parseColon() ||
                   parser.parseInteger(groups.emplace_back()));
  };
  if (parser.parseLess() || parser.parseKeyword("atom") || parser.parseEqual() || parseInts(parser, atom) ||
      parser.parseComma() || parseBases(parser, "register", atom.size(), registers) || parser.parseComma() ||
      parseBases(parser, "lane", atom.size(), lanes) || parser.parseComma() ||
      parseBases(parser, "warp", atom.size(), warps) || parser.parseComma() || parser.parseKeyword("groups") ||
      parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseGroup) ||
      parser.parseComma() || parser.parseKeyword("repeat") || parser.parseEqual() || parseInts(parser, repeat) ||
      parser.parseGreater())
    return {};
  return LayoutAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), atom, registers, lanes,
                                warps, groups, repeat);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  size_t rank = getAtom().size();
  printer << "<atom = [";
  llvm::interleaveComma(getAtom(), printer);
  printer << "]";
  printBases(printer, "register", rank, getRegisterBases());
  printBases(printer, "lane", rank, getLaneBases());
  printBases(printer, "warp", rank, getWarpBases());
  printer << ", groups = [";
  for (size_t i = 0; i < getGroups().size(); i += 2)
    printer << (i ? ", " : "") << getGroups()[i] << " : " << getGroups()[i + 1];
  printer << "], repeat = [";
  llvm::interleaveComma(getRepeat(), printer);
  printer << "]>";
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> atom,
                                 ArrayRef<int64_t> registers, ArrayRef<int64_t> lanes, ArrayRef<int64_t> warps,
                                 ArrayRef<int64_t> groups, ArrayRef<int64_t> repeat) {
  size_t rank = atom.size();
  auto isPowerOfTwo = [](int64_t value) { return value > 0 && value <= kLargest && llvm::isPowerOf2_64(value); };
  if (rank == 0 || rank > 4 || repeat.size() != rank)
    return emitError() << "expected a layout of rank 1 to 4 with one repeat for each dimension";
  if (!llvm::all_of(atom, isPowerOfTwo))
    return emitError() << "expected the atom's extents to be powers of two";
  SmallVector<int64_t> seen(rank, 0);
  for (ArrayRef<int64_t> bases : {registers, lanes, warps})
    for (size_t i = 0; i < bases.size(); ++i) {
      int64_t value = bases[i], dim = i % rank;
      if (value == 0)
        continue;
      if (!isPowerOfTwo(value) || value >= atom[dim] || (seen[dim] & value))
        return emitError() << "expected each basis to be a power of two below the atom's extent, used once; got "
                           << value << " in dimension " << dim;
      seen[dim] |= value;
    }
  for (size_t dim = 0; dim < rank; ++dim)
    if (seen[dim] != atom[dim] - 1)
      return emitError() << "bases do not reach every element of the atom in dimension " << dim;
  if (lanes.size() != 5 * rank)
    return emitError() << "expected 5 lane bases, got " << lanes.size() / rank;
  int64_t size = 1;
  for (size_t i = 0; i + 1 < groups.size(); i += 2) {
    if (groups[i] < 1 || groups[i] > 64 || groups[i + 1] < -1 || groups[i + 1] >= int64_t(rank))
      return emitError() << "expected groups of 1 to 64 parts on a dimension of the tile or on -1";
    size *= groups[i];
  }
  if (size > 64)
    return emitError() << "expected at most 64 groups, got " << size;
  for (int64_t count : repeat)
    if (count < 1 || count > kLargest)
      return emitError() << "expected positive repeats, got " << count;
  return success();
}

TileLayout LayoutAttr::getTileLayout() const {
  size_t rank = getAtom().size();
  LinearLayout atom(getAtom().vec(), unflatten(getRegisterBases(), rank), unflatten(getLaneBases(), rank),
                    unflatten(getWarpBases(), rank));
  std::vector<Group> groups;
  for (size_t i = 0; i < getGroups().size(); i += 2)
    groups.push_back({getGroups()[i], getGroups()[i + 1]});
  return TileLayout(std::move(atom), std::move(groups), getRepeat().vec());
}

LayoutAttr LayoutAttr::get(MLIRContext *context, const TileLayout &layout) {
  SmallVector<int64_t> groups;
  for (const Group &group : layout.groups())
    groups.append({group.count, group.dim});
  const LinearLayout &atom = layout.atom();
  return Base::get(context, atom.shape(), flatten(atom.bases(InDim::Register)), flatten(atom.bases(InDim::Lane)),
                   flatten(atom.bases(InDim::Warp)), groups, layout.repeat());
}

//===- SharedAttr ---------------------------------------------------------------------------------------------------===//

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t major, int64_t swizzle) {
  if (major < 0 || major > 3)
    return emitError() << "expected major to be 0 to 3, got " << major;
  if (!llvm::is_contained({0, 16, 32, 64, 128}, swizzle))
    return emitError() << "expected swizzle to be 0, 16, 32, 64 or 128, got " << swizzle;
  return success();
}

SharedLayout SharedAttr::getSharedLayout(ArrayRef<int64_t> shape, Type elementType) const {
  return SharedLayout(shape.vec(), elementType.getIntOrFloatBitWidth(), getMajor(), getSwizzle());
}

//===- PipelineAttr -------------------------------------------------------------------------------------------------===//

namespace {
/// Parses one of the keywords of an enumeration whose cases are numbered from 0.
template <typename Enum>
ParseResult parseEnum(AsmParser &parser, std::optional<Enum> (*symbolize)(uint32_t), StringRef what, Enum &value) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  if (std::optional<Enum> found = symbolizeEnum<Enum>(keyword)) {
    value = *found;
    return success();
  }
  InFlightDiagnostic error = parser.emitError(loc) << "unknown " << what << " '" << keyword << "'; known: ";
  for (uint32_t i = 0; std::optional<Enum> known = symbolize(i); ++i)
    error << (i ? ", " : "") << stringifyEnum(*known);
  return error;
}

constexpr int64_t kAuto = -1;

/// Parses `auto` or a number.
ParseResult parseCount(AsmParser &parser, int64_t &value) {
  if (succeeded(parser.parseOptionalKeyword("auto")))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(value))
    return failure();
  if (value < 0)
    return parser.emitError(loc) << "expected auto or a number that is not negative, got " << value;
  return success();
}
} // namespace

Attribute PipelineAttr::parseArguments(AsmParser &parser) {
  int64_t stages = kAuto, consumers = kAuto;
  Tristate specialize = Tristate::Auto;
  Order order = Order::Auto;
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<StringRef> given;
  auto parseArgument = [&]() -> ParseResult {
    SMLoc keyLoc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (llvm::is_contained(given, key))
      return parser.emitError(keyLoc) << "pipeline option '" << key << "' is given twice";
    given.push_back(key);
    if (key == "stages")
      return parseCount(parser, stages);
    if (key == "consumers")
      return parseCount(parser, consumers);
    if (key == "specialize")
      return parseEnum(parser, symbolizeTristate, "value", specialize);
    if (key == "order")
      return parseEnum(parser, symbolizeOrder, "order", order);
    return parser.emitError(keyLoc) << "unknown pipeline option '" << key
                                    << "'; known: stages, specialize, consumers, order";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseArgument))
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), stages, specialize, consumers, order);
}

void PipelineAttr::printArguments(AsmPrinter &printer) const {
  auto count = [](int64_t value) { return value == kAuto ? std::string("auto") : std::to_string(value); };
  printer << "(stages = " << count(getStages()) << ", specialize = " << stringifyTristate(getSpecialize())
          << ", consumers = " << count(getConsumers()) << ", order = " << stringifyOrder(getOrder()) << ")";
}

Attribute PipelineAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  Attribute result = parseArguments(parser);
  if (!result || parser.parseGreater())
    return {};
  return result;
}

void PipelineAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printArguments(printer);
  printer << ">";
}

LogicalResult PipelineAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t stages, Tristate,
                                   int64_t consumers, Order) {
  if (stages < kAuto || stages > 64)
    return emitError() << "expected stages to be auto or 0 to 64, got " << stages;
  if (consumers < kAuto || consumers == 0 || consumers > 8)
    return emitError() << "expected consumers to be auto or 1 to 8, got " << consumers;
  return success();
}
