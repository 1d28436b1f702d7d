// Shared layouts: panels of swizzled rows.
#include "headrace/Layout/SharedLayout.h"

#include "headrace/Layout/LinearLayout.h"

#include <cassert>

namespace headrace {

SharedLayout::SharedLayout(std::vector<int64_t> shape, int64_t elementBits, int64_t major, int64_t swizzle)
    : extents(std::move(shape)), bits(elementBits), majorDim(major), swizzleBytes(swizzle) {
  assert(majorDim >= 0 && majorDim < rank() && "the contiguous dimension is one of the tile");
  assert((swizzle == 0 || swizzle == 16 || swizzle == 32 || swizzle == 64 || swizzle == 128) && "no such swizzle");
  for ([[maybe_unused]] int64_t extent : extents)
    assert(extent >= 1 && "extents are at least 1");
  [[maybe_unused]] int64_t majorBits = extents[static_cast<size_t>(majorDim)] * bits;
  assert(majorBits % 8 == 0 && "a row is a whole number of bytes");
  assert((swizzle == 0 || majorBits % (8 * swizzle) == 0) && "panels divide the row");
}

int64_t SharedLayout::bytes() const { return productOf(extents) * bits / 8; }

int64_t SharedLayout::alignment() const { return swizzleBytes > 16 ? 8 * swizzleBytes : 128; }

int64_t SharedLayout::slotPitch() const { return (bytes() + alignment() - 1) / alignment() * alignment(); }

int64_t SharedLayout::rows() const { return productOf(extents) / extents[static_cast<size_t>(majorDim)]; }

int64_t SharedLayout::rowBytes() const {
  return swizzleBytes ? swizzleBytes : extents[static_cast<size_t>(majorDim)] * bits / 8;
}

int64_t SharedLayout::panelElements() const { return rowBytes() * 8 / bits; }

int64_t SharedLayout::panels() const { return extents[static_cast<size_t>(majorDim)] / panelElements(); }

int64_t SharedLayout::panelBytes() const { return rows() * rowBytes(); }

bool SharedLayout::panelsAligned() const { return panels() == 1 || panelBytes() % alignment() == 0; }

int64_t SharedLayout::denseOffset(const std::vector<int64_t> &coordinate) const {
  assert(coordinate.size() == extents.size() && "one coordinate per dimension");
  int64_t row = 0;
  for (size_t d = 0; d < extents.size(); ++d) {
    assert(coordinate[d] >= 0 && coordinate[d] < extents[d] && "no such element");
    if (static_cast<int64_t>(d) != majorDim)
      row = row * extents[d] + coordinate[d];
  }
  int64_t column = coordinate[static_cast<size_t>(majorDim)];
  return column / panelElements() * panelBytes() + row * rowBytes() + column % panelElements() * bits / 8;
}

int64_t SharedLayout::offset(const std::vector<int64_t> &coordinate) const {
  int64_t dense = denseOffset(coordinate);
  // Address bits 7 and up select the chunk, bits 4 and up; `swizzle` 32, 64, 128 uses 1, 2, 3 bits.
  int64_t chunkBits = swizzleBytes > 16 ? swizzleBytes - 16 : 0;
  return dense ^ (dense >> 3 & chunkBits);
}

int64_t SharedLayout::widestSwizzle(const std::vector<int64_t> &shape, int64_t elementBits, int64_t major) {
  int64_t majorBits = shape[static_cast<size_t>(major)] * elementBits;
  for (int64_t swizzle = shape.size() == 1 ? 16 : 128; swizzle >= 16; swizzle /= 2)
    if (majorBits % (8 * swizzle) == 0)
      return swizzle;
  return 0;
}

bool SharedLayout::operator==(const SharedLayout &other) const {
  return extents == other.extents && bits == other.bits && majorDim == other.majorDim &&
         swizzleBytes == other.swizzleBytes;
}

std::string SharedLayout::toString() const {
  return printList(extents) + " x " + std::to_string(bits) + " bits, major " + std::to_string(majorDim) + ", swizzle " +
         std::to_string(swizzleBytes);
}

} // namespace headrace
