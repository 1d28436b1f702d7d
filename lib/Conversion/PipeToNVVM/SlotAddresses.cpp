// Addresses in slots, and vector loads and stores with them (PTX ISA 9.7.9.8 ld, 9.7.9.11 st).
#include "SlotAddresses.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

using Coordinate = std::vector<int64_t>;

/// The address bits that the swizzle changes.
static int64_t chunkBits(const SharedLayout &layout) { return layout.swizzle() > 16 ? layout.swizzle() - 16 : 0; }

/// The address bits below which place and constant must not carry into each other: the period of
/// the pattern; without one, the row of a panel.
static int64_t periodBits(const SharedLayout &layout) {
  return layout.swizzle() > 16 ? layout.alignment() - 1 : std::max<int64_t>(layout.swizzle() - 1, 0);
}

int64_t lowering::denseOffset(const SharedLayout &layout, const Coordinate &coordinate) {
  // The pattern reads bits that it does not change, so it is its own inverse.
  int64_t offset = layout.offset(coordinate);
  return offset ^ (offset >> 3 & chunkBits(layout));
}

SlotAddresses::SlotAddresses(OpBuilder &builder, Location loc, const SharedLayout &layout, Value slot, ValueRange place,
                             int64_t placeBits)
    : layout(layout), slot(slot), place(place.begin(), place.end()), placeBits(placeBits) {
  variants[0] = arith::AddIOp::create(builder, loc, slot, sharedOffset(builder, loc, layout, place));
}

SlotAddresses::Address SlotAddresses::at(OpBuilder &builder, Location loc, const Coordinate &constant) {
  int64_t dense = denseOffset(layout, constant);
  if (dense & placeBits & periodBits(layout)) {
    SmallVector<Value> sum;
    for (auto [value, step] : llvm::zip_equal(place, constant))
      sum.push_back(arith::AddIOp::create(builder, loc, value, constI32(builder, loc, step)));
    Value offset = sharedOffset(builder, loc, layout, sum);
    return {arith::AddIOp::create(builder, loc, slot, offset), 0};
  }
  int64_t chunks = chunkBits(layout), variant = (dense ^ dense >> 3) & chunks;
  auto [found, isNew] = variants.try_emplace(variant);
  if (isNew)
    found->second = arith::XOrIOp::create(builder, loc, variants[0], constI32(builder, loc, variant));
  return {found->second, dense & ~chunks};
}

int64_t SlotAddresses::alignmentAt(const Coordinate &constant) const {
  // The swizzle moves whole chunks of 16 bytes; slots are aligned to more than that.
  return llvm::MinAlign(llvm::MinAlign(kMaxVectorBytes, placeBits), denseOffset(layout, constant));
}

std::vector<SlotVector> lowering::vectorize(const SlotAddresses &addresses, ArrayRef<Coordinate> constants) {
  const SharedLayout &layout = addresses.getLayout();
  size_t major = layout.major();
  int64_t elementBytes = layout.elementBits() / 8;
  std::map<Coordinate, int64_t> positions;
  for (auto [i, constant] : llvm::enumerate(constants))
    positions.emplace(constant, i);
  std::vector<bool> done(constants.size(), false);

  // The positions of the `count` elements from `start` on, if all are still to be moved.
  auto run = [&](Coordinate at, int64_t count) {
    SmallVector<int64_t> elements;
    int64_t dense = denseOffset(layout, at);
    for (int64_t i = 0; i < count; ++i, ++at[major]) {
      auto found = positions.find(at);
      if (found == positions.end() || done[found->second] || denseOffset(layout, at) != dense + i * elementBytes)
        return SmallVector<int64_t>();
      elements.push_back(found->second);
    }
    return elements;
  };

  std::vector<SlotVector> vectors;
  for (size_t i = 0; i < constants.size(); ++i) {
    // An element that the list has twice is loaded twice.
    for (int64_t bytes = kMaxVectorBytes; !done[i]; bytes /= 2) {
      SmallVector<int64_t> elements = {int64_t(i)};
      if (bytes > elementBytes) {
        if (addresses.alignmentAt(constants[i]) < bytes)
          continue;
        elements = run(constants[i], bytes / elementBytes);
      }
      if (elements.empty())
        continue;
      for (int64_t element : elements)
        done[element] = true;
      vectors.push_back({std::max(bytes, elementBytes), std::move(elements)});
    }
  }
  return vectors;
}

SmallVector<Value> lowering::loadElements(OpBuilder &builder, Location loc, SlotAddresses &addresses,
                                          ArrayRef<Coordinate> constants, Type element) {
  SmallVector<Value> values(constants.size());
  for (const SlotVector &vector : vectorize(addresses, constants)) {
    Transfer transfer(vector.bytes, element);
    auto [base, offset] = addresses.at(builder, loc, constants[vector.elements.front()]);
    std::string text = "ld.shared" + transfer.suffix + " " + transfer.list(0) + ", " +
                       addressOperand(transfer.types.size(), offset) + ";";
    auto registers = ptx(builder, loc, text, transfer.types, base);
    for (auto [position, value] : llvm::zip_equal(vector.elements, transfer.unpack(builder, loc, registers)))
      values[position] = value;
  }
  return values;
}

void lowering::storeElements(OpBuilder &builder, Location loc, SlotAddresses &addresses, ArrayRef<Coordinate> constants,
                             ValueRange values, Value predicate) {
  if (values.empty())
    return;
  Type element = values.front().getType();
  for (const SlotVector &vector : vectorize(addresses, constants)) {
    Transfer transfer(vector.bytes, element);
    auto [base, offset] = addresses.at(builder, loc, constants[vector.elements.front()]);
    SmallVector<Value> operands = {base}, elements;
    for (int64_t position : vector.elements)
      elements.push_back(values[position]);
    llvm::append_range(operands, transfer.pack(builder, loc, elements));
    std::string text = "st.shared" + transfer.suffix + " " + addressOperand(0, offset) + ", " + transfer.list(1) + ";";
    if (predicate) {
      text = "@$" + std::to_string(operands.size()) + " " + text;
      operands.push_back(predicate);
    }
    ptx(builder, loc, text, {}, operands);
  }
}

int64_t lowering::threadPlaceBits(const TileLayout &layout, const SharedLayout &shared) {
  int64_t bits = 0;
  for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
    for (int64_t lane = 0; lane < layout.atom().size(InDim::Lane); ++lane)
      bits |= denseOffset(shared, layout.threadOffset(lane, warp));
  return bits;
}
