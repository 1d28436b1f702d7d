// Tile layouts of other extents: dimensions of a TileLayout split, merged and appended.
//
// Along one dimension, places come from fine to coarse out of three factors: the atom's extent, the repetition, the groups.
// A dimension is split where the finer part ends between two factors, or inside of one that it divides. Two dimensions merge
// if the factors of both, the finer dimension's first, come in that order again.
#include "headrace/Layout/TileLayout.h"

#include <cassert>
#include <numeric>

namespace headrace {

namespace {

using Bases = LinearLayout::Bases;
using Basis = LinearLayout::Basis;

bool isPowerOfTwo(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

/// The atom with each basis replaced by `change(basis)`.
template <typename Change>
LinearLayout changeBases(const LinearLayout &atom, std::vector<int64_t> shape, Change change) {
  auto all = [&](InDim dim) {
    Bases bases;
    for (const Basis &basis : atom.bases(dim))
      bases.push_back(change(basis));
    return bases;
  };
  return LinearLayout(std::move(shape), all(InDim::Register), all(InDim::Lane), all(InDim::Warp));
}

/// How much of a factor goes to the finer part, which still needs `rest`; nullopt if that ends inside of a remainder.
std::optional<int64_t> takeFactor(int64_t &rest, int64_t factor) {
  int64_t taken = std::gcd(rest, factor);
  if (taken != std::min(rest, factor))
    return std::nullopt;
  rest /= taken;
  return taken;
}

bool hasGroups(const std::vector<Group> &groups, int64_t dim) {
  for (const Group &group : groups)
    if (group.dim == dim && group.count > 1)
      return true;
  return false;
}

} // namespace

TileLayout TileLayout::pair() const {
  TileLayout wide = expand(rank());
  std::vector<int64_t> shape = wide.atomLayout.shape();
  shape.back() = 2;
  Bases registers = wide.atomLayout.bases(InDim::Register);
  registers.insert(registers.begin(), Basis(shape.size(), 0));
  registers.front().back() = 1;
  return TileLayout(LinearLayout(std::move(shape), std::move(registers), wide.atomLayout.bases(InDim::Lane),
                                 wide.atomLayout.bases(InDim::Warp)),
                    wide.warpGroups, wide.repetition);
}

bool TileLayout::isWithinThreads(int64_t dim) const {
  assert(dim >= 0 && dim < rank() && "no such dimension");
  for (InDim in : {InDim::Lane, InDim::Warp})
    for (const Basis &basis : atomLayout.bases(in))
      if (basis[static_cast<size_t>(dim)])
        return false;
  return !hasGroups(warpGroups, dim);
}

std::optional<TileLayout> TileLayout::splitDim(int64_t dim, int64_t fine) const {
  size_t d = static_cast<size_t>(dim);
  int64_t rest = fine;
  std::optional<int64_t> ofAtom = takeFactor(rest, atomLayout.shape()[d]);
  std::optional<int64_t> ofRepeat = ofAtom ? takeFactor(rest, repetition[d]) : std::nullopt;
  if (!ofRepeat)
    return std::nullopt;
  std::vector<Group> groups;
  for (size_t i = warpGroups.size(); i-- > 0;) {
    Group group = warpGroups[i];
    if (group.dim > dim)
      ++group.dim;
    if (group.dim != dim) {
      groups.insert(groups.begin(), group);
      continue;
    }
    std::optional<int64_t> taken = takeFactor(rest, group.count);
    if (!taken)
      return std::nullopt;
    if (*taken > 1)
      groups.insert(groups.begin(), {*taken, dim + 1});
    if (group.count > *taken || *taken == 1)
      groups.insert(groups.begin(), {group.count / *taken, dim});
  }
  if (rest != 1)
    return std::nullopt;
  std::vector<int64_t> shape = atomLayout.shape(), repeat = repetition;
  shape[d] /= *ofAtom;
  shape.insert(shape.begin() + dim + 1, *ofAtom);
  repeat[d] /= *ofRepeat;
  repeat.insert(repeat.begin() + dim + 1, *ofRepeat);
  LinearLayout atom = changeBases(atomLayout, shape, [&](Basis basis) {
    int64_t place = basis[d];
    basis[d] = place / *ofAtom;
    basis.insert(basis.begin() + dim + 1, place % *ofAtom);
    return basis;
  });
  return TileLayout(std::move(atom), std::move(groups), std::move(repeat));
}

TileLayout TileLayout::foldIntoAtom(int64_t dim) const {
  size_t d = static_cast<size_t>(dim);
  std::vector<int64_t> shape = atomLayout.shape(), repeat = repetition;
  Bases registers = atomLayout.bases(InDim::Register), warps = atomLayout.bases(InDim::Warp);
  std::vector<Group> groups = warpGroups;
  auto grow = [&](int64_t count, Bases &bases) {
    for (; count > 1; count /= 2) {
      bases.emplace_back(shape.size(), 0);
      bases.back()[d] = shape[d];
      shape[d] *= 2;
    }
  };
  if (isPowerOfTwo(repeat[d])) {
    grow(repeat[d], registers);
    repeat[d] = 1;
    // The last group's number stands right above that of the atom's warp.
    while (!groups.empty() &&
           (groups.back().count == 1 || (groups.back().dim == dim && isPowerOfTwo(groups.back().count)))) {
      grow(groups.back().count, warps);
      groups.pop_back();
    }
  }
  return TileLayout(
      LinearLayout(std::move(shape), std::move(registers), atomLayout.bases(InDim::Lane), std::move(warps)),
      std::move(groups), std::move(repeat));
}

std::optional<TileLayout> TileLayout::mergeDims(int64_t dim) const {
  size_t coarse = static_cast<size_t>(dim), fine = coarse + 1;
  auto isPlain = [&](const TileLayout &layout) { // nothing above the finer dimension's atom
    return layout.repetition[fine] == 1 && !hasGroups(layout.warpGroups, dim + 1);
  };
  const TileLayout folded = isPlain(*this) || atomLayout.shape()[coarse] == 1 ? *this : foldIntoAtom(dim + 1);
  const std::vector<int64_t> &atomShape = folded.atomLayout.shape();
  if (!isPlain(folded)) {
    if (atomShape[coarse] != 1)
      return std::nullopt;
    if (hasGroups(folded.warpGroups, dim + 1) && folded.repetition[coarse] != 1)
      return std::nullopt;
    // Of several groups on one dimension, the last is the finest.
    bool seenFine = false;
    for (const Group &group : folded.warpGroups) {
      seenFine |= group.dim == dim + 1 && group.count > 1;
      if (seenFine && group.dim == dim && group.count > 1)
        return std::nullopt;
    }
  }
  std::vector<int64_t> shape = atomShape, repeat = folded.repetition;
  shape[coarse] *= shape[fine];
  shape.erase(shape.begin() + dim + 1);
  repeat[coarse] *= repeat[fine];
  repeat.erase(repeat.begin() + dim + 1);
  std::vector<Group> groups = folded.warpGroups;
  for (Group &group : groups)
    if (group.dim > dim)
      --group.dim;
  LinearLayout atom = changeBases(folded.atomLayout, shape, [&](Basis basis) {
    basis[coarse] = basis[coarse] * atomShape[fine] + basis[fine];
    basis.erase(basis.begin() + dim + 1);
    return basis;
  });
  return TileLayout(std::move(atom), std::move(groups), std::move(repeat));
}

std::optional<TileLayout> TileLayout::reshape(const std::vector<int64_t> &shape) const {
  assert(productOf(shape) == productOf(this->shape()) && "a reshape keeps the number of elements");
  std::optional<TileLayout> layout = *this;
  int64_t dim = 0;
  for (int64_t extent : shape) {
    if (dim == layout->rank()) { // only extents of 1 are left
      layout = layout->expand(dim++);
      continue;
    }
    // Merged until the extent is a part of the dimension, then cut off.
    while (layout && layout->shape()[static_cast<size_t>(dim)] % extent)
      layout = layout->mergeDims(dim);
    if (layout && layout->shape()[static_cast<size_t>(dim)] != extent)
      layout = layout->splitDim(dim, layout->shape()[static_cast<size_t>(dim)] / extent);
    if (!layout)
      return std::nullopt;
    ++dim;
  }
  while (layout->rank() > dim)
    layout = layout->mergeDims(layout->rank() - 2);
  return layout;
}

} // namespace headrace
