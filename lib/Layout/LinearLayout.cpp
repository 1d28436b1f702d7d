// Linear layouts over GF(2): evaluation, products, slices, and inversion by Gaussian elimination.
#include "headrace/Layout/LinearLayout.h"

#include <algorithm>
#include <cassert>

namespace headrace {

namespace {

/// floor(log2(value)). Requires: value >= 1.
int64_t log2Floor(int64_t value) {
  int64_t bits = 0;
  while (value > 1) {
    value >>= 1;
    ++bits;
  }
  return bits;
}

[[maybe_unused]] bool isPowerOfTwo(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

bool isZero(const LinearLayout::Basis &basis) {
  return std::all_of(basis.begin(), basis.end(), [](int64_t entry) { return entry == 0; });
}

/// A vector of the span of the bases, as a row-major element number, and which inputs sum to it.
struct Row {
  uint64_t value;
  uint64_t inputs;
};

/// The bases of a layout brought into reduced form: each row owns the top bit of its value, and no
/// other row has that bit. Inputs are taken from the lowest on, and one that depends on lower ones
/// gives no row; so all combinations use the lowest inputs possible.
std::vector<Row> reduceBases(const LinearLayout &layout) {
  std::vector<Row> rows;
  int64_t input = 0;
  for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp}) {
    for (const LinearLayout::Basis &basis : layout.bases(dim)) {
      Row row = {static_cast<uint64_t>(rowMajorIndex(basis, layout.shape())), uint64_t(1) << input};
      ++input;
      for (const Row &other : rows) {
        if (row.value >> log2Floor(other.value) & 1) {
          row.value ^= other.value;
          row.inputs ^= other.inputs;
        }
      }
      if (row.value == 0)
        continue;
      for (Row &other : rows) {
        if (other.value >> log2Floor(row.value) & 1) {
          other.value ^= row.value;
          other.inputs ^= row.inputs;
        }
      }
      rows.push_back(row);
    }
  }
  assert(input <= 64 && "input bits must fit a word");
  return rows;
}

int64_t numOutputBits(const LinearLayout &layout) { return log2Floor(productOf(layout.shape())); }

} // namespace

bool operator==(const Place &lhs, const Place &rhs) {
  return lhs.reg == rhs.reg && lhs.lane == rhs.lane && lhs.warp == rhs.warp;
}
bool operator!=(const Place &lhs, const Place &rhs) { return !(lhs == rhs); }

std::string printList(const std::vector<int64_t> &list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i)
    text += (i ? ", " : "") + std::to_string(list[i]);
  return text + "]";
}

std::vector<int64_t> rowMajorCoordinate(int64_t index, const std::vector<int64_t> &extents) {
  std::vector<int64_t> coordinate(extents.size());
  for (size_t d = extents.size(); d-- > 0;) {
    coordinate[d] = index % extents[d];
    index /= extents[d];
  }
  assert(index == 0 && "index is outside the grid");
  return coordinate;
}

int64_t rowMajorIndex(const std::vector<int64_t> &coordinate, const std::vector<int64_t> &extents) {
  int64_t index = 0;
  for (size_t d = 0; d < extents.size(); ++d)
    index = index * extents[d] + coordinate[d];
  return index;
}

int64_t productOf(const std::vector<int64_t> &extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    result *= extent;
  return result;
}

Place InverseLayout::apply(const std::vector<int64_t> &element) const {
  uint64_t number = static_cast<uint64_t>(rowMajorIndex(element, shape));
  uint64_t inputs = 0;
  for (size_t bit = 0; bit < inputsOfBit.size(); ++bit)
    if (number >> bit & 1)
      inputs ^= inputsOfBit[bit];
  std::array<int64_t, kNumInDims> index = {};
  for (size_t dim = 0; dim < index.size(); ++dim) {
    index[dim] = static_cast<int64_t>(inputs & ((uint64_t(1) << numBits[dim]) - 1));
    inputs >>= numBits[dim];
  }
  return {index[0], index[1], index[2]};
}

LinearLayout::LinearLayout(std::vector<int64_t> shape, Bases registers, Bases lanes, Bases warps)
    : outShape(std::move(shape)), inBases({std::move(registers), std::move(lanes), std::move(warps)}) {
  for ([[maybe_unused]] int64_t extent : outShape)
    assert(isPowerOfTwo(extent) && "extents are powers of two");
  for (const Bases &list : inBases) {
    for (const Basis &basis : list) {
      assert(basis.size() == outShape.size() && "a basis has one entry per dimension");
      for (size_t d = 0; d < basis.size(); ++d)
        assert((basis[d] == 0 || isPowerOfTwo(basis[d])) && basis[d] < outShape[d] &&
               "a basis entry is 0 or a power of two below the extent");
    }
  }
}

std::vector<int64_t> LinearLayout::apply(int64_t reg, int64_t lane, int64_t warp) const {
  const int64_t index[kNumInDims] = {reg, lane, warp};
  std::vector<int64_t> element(outShape.size(), 0);
  for (size_t dim = 0; dim < inBases.size(); ++dim) {
    assert(index[dim] >= 0 && index[dim] < size(static_cast<InDim>(dim)) && "index out of range");
    for (size_t bit = 0; bit < inBases[dim].size(); ++bit) {
      if ((index[dim] >> bit & 1) == 0)
        continue;
      for (size_t d = 0; d < element.size(); ++d)
        element[d] ^= inBases[dim][bit][d];
    }
  }
  return element;
}

LinearLayout LinearLayout::operator*(const LinearLayout &high) const {
  assert(rank() == high.rank() && "a product needs equal ranks");
  LinearLayout result = *this;
  for (size_t dim = 0; dim < inBases.size(); ++dim) {
    for (Basis basis : high.inBases[dim]) {
      for (size_t d = 0; d < basis.size(); ++d)
        basis[d] *= outShape[d];
      result.inBases[dim].push_back(std::move(basis));
    }
  }
  for (size_t d = 0; d < outShape.size(); ++d)
    result.outShape[d] *= high.outShape[d];
  return result;
}

LinearLayout LinearLayout::transpose(const std::vector<int64_t> &perm) const {
  assert(perm.size() == outShape.size() && "a permutation has one entry per dimension");
  auto permute = [&](const std::vector<int64_t> &list) {
    std::vector<int64_t> result;
    for (int64_t from : perm)
      result.push_back(list[static_cast<size_t>(from)]);
    return result;
  };
  LinearLayout result = *this;
  result.outShape = permute(outShape);
  for (Bases &list : result.inBases)
    for (Basis &basis : list)
      basis = permute(basis);
  return result;
}

LinearLayout LinearLayout::slice(int64_t dim) const {
  assert(dim >= 0 && dim < rank() && "no such dimension");
  LinearLayout result = *this;
  result.outShape.erase(result.outShape.begin() + dim);
  for (Bases &list : result.inBases)
    for (Basis &basis : list)
      basis.erase(basis.begin() + dim);
  Bases &registers = result.inBases[static_cast<size_t>(InDim::Register)];
  registers.erase(std::remove_if(registers.begin(), registers.end(), isZero), registers.end());
  return result;
}

InverseLayout LinearLayout::invert() const {
  std::vector<Row> rows = reduceBases(*this);
  assert(static_cast<int64_t>(rows.size()) == numOutputBits(*this) && "only a surjective layout has an inverse");
  InverseLayout result;
  result.shape = outShape;
  for (size_t dim = 0; dim < inBases.size(); ++dim)
    result.numBits[dim] = static_cast<int64_t>(inBases[dim].size());
  // A full set of reduced rows is the identity.
  result.inputsOfBit.resize(rows.size());
  for (const Row &row : rows)
    result.inputsOfBit[static_cast<size_t>(log2Floor(row.value))] = row.inputs;
  return result;
}

bool LinearLayout::isSurjective() const {
  return static_cast<int64_t>(reduceBases(*this).size()) == numOutputBits(*this);
}

bool LinearLayout::isInjective() const {
  int64_t inputs = numBits(InDim::Register) + numBits(InDim::Lane) + numBits(InDim::Warp);
  return static_cast<int64_t>(reduceBases(*this).size()) == inputs;
}

bool LinearLayout::isSplit() const {
  for (size_t d = 0; d < outShape.size(); ++d) {
    int64_t bitsOfRegister = 0, bitsOfThread = 0;
    for (const Basis &basis : bases(InDim::Register))
      bitsOfRegister |= basis[d];
    for (InDim dim : {InDim::Lane, InDim::Warp})
      for (const Basis &basis : bases(dim))
        bitsOfThread |= basis[d];
    if (bitsOfRegister & bitsOfThread)
      return false;
  }
  return true;
}

bool LinearLayout::operator==(const LinearLayout &other) const {
  return outShape == other.outShape && inBases == other.inBases;
}

std::string LinearLayout::toString() const {
  static constexpr const char *kNames[kNumInDims] = {" register", " lane", " warp"};
  std::string text = printList(outShape);
  for (size_t dim = 0; dim < inBases.size(); ++dim) {
    text += kNames[dim];
    for (const Basis &basis : inBases[dim])
      text += " " + printList(basis);
  }
  return text;
}

} // namespace headrace
