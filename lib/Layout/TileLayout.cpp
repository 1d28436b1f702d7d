// Tile layouts: a linear layout repeated in registers and over groups of warps.
#include "headrace/Layout/TileLayout.h"

#include <algorithm>
#include <cassert>
#include <map>

namespace headrace {

namespace {

/// Indices of the bases that are zero.
std::vector<int> zeroBits(const LinearLayout::Bases &bases) {
  std::vector<int> bits;
  for (size_t bit = 0; bit < bases.size(); ++bit)
    if (std::all_of(bases[bit].begin(), bases[bit].end(), [](int64_t v) { return v == 0; }))
      bits.push_back(static_cast<int>(bit));
  return bits;
}

int64_t maskOf(const std::vector<int> &bits) {
  int64_t mask = 0;
  for (int bit : bits)
    mask |= int64_t(1) << bit;
  return mask;
}

std::vector<int64_t> countsOf(const std::vector<Group> &groups) {
  std::vector<int64_t> counts;
  for (const Group &group : groups)
    counts.push_back(group.count);
  return counts;
}

} // namespace

bool operator==(const Group &lhs, const Group &rhs) { return lhs.count == rhs.count && lhs.dim == rhs.dim; }
bool operator!=(const Group &lhs, const Group &rhs) { return !(lhs == rhs); }

TileLayout::TileLayout(LinearLayout atom, std::vector<Group> groups, std::vector<int64_t> repeat)
    : atomLayout(std::move(atom)), warpGroups(std::move(groups)), repetition(std::move(repeat)) {
  assert(atomLayout.isSplit() && "a coordinate bit belongs to the register or to the thread");
  assert(static_cast<int64_t>(repetition.size()) == rank() && "one repetition per dimension");
  for ([[maybe_unused]] int64_t count : repetition)
    assert(count >= 1 && "repetitions are at least 1");
  for ([[maybe_unused]] const Group &group : warpGroups)
    assert(group.count >= 1 && group.dim >= -1 && group.dim < rank() && "no such group");
}

std::vector<int64_t> TileLayout::shape() const {
  std::vector<int64_t> result = atomLayout.shape();
  for (size_t d = 0; d < result.size(); ++d)
    result[d] *= repetition[d];
  for (const Group &group : warpGroups)
    if (group.dim >= 0)
      result[static_cast<size_t>(group.dim)] *= group.count;
  return result;
}

int64_t TileLayout::numRegisters() const { return atomLayout.size(InDim::Register) * productOf(repetition); }

int64_t TileLayout::numWarps() const { return atomLayout.size(InDim::Warp) * productOf(countsOf(warpGroups)); }

std::vector<int64_t> TileLayout::groupCoordinate(int64_t group) const {
  return rowMajorCoordinate(group, countsOf(warpGroups));
}

std::vector<int64_t> TileLayout::registerOffset(int64_t reg) const {
  assert(reg >= 0 && reg < numRegisters() && "no such register");
  int64_t atomRegisters = atomLayout.size(InDim::Register);
  std::vector<int64_t> offset = atomLayout.apply(reg % atomRegisters, 0, 0);
  std::vector<int64_t> repetitionOf = rowMajorCoordinate(reg / atomRegisters, repetition);
  for (size_t d = 0; d < offset.size(); ++d)
    offset[d] += atomLayout.shape()[d] * repetitionOf[d];
  return offset;
}

std::vector<int64_t> TileLayout::threadOffset(int64_t lane, int64_t warp) const {
  assert(warp >= 0 && warp < numWarps() && "no such warp");
  int64_t atomWarps = atomLayout.size(InDim::Warp);
  std::vector<int64_t> offset = atomLayout.apply(0, lane, warp % atomWarps);
  std::vector<int64_t> place = groupCoordinate(warp / atomWarps);
  // Of several groups on one dimension, the last is the finest.
  std::vector<int64_t> step(offset.size());
  for (size_t d = 0; d < step.size(); ++d)
    step[d] = atomLayout.shape()[d] * repetition[d];
  for (size_t i = warpGroups.size(); i-- > 0;) {
    if (warpGroups[i].dim < 0)
      continue;
    size_t d = static_cast<size_t>(warpGroups[i].dim);
    offset[d] += step[d] * place[i];
    step[d] *= warpGroups[i].count;
  }
  return offset;
}

std::vector<int64_t> TileLayout::coordinate(int64_t reg, int64_t lane, int64_t warp) const {
  std::vector<int64_t> result = registerOffset(reg);
  std::vector<int64_t> thread = threadOffset(lane, warp);
  for (size_t d = 0; d < result.size(); ++d)
    result[d] += thread[d];
  return result;
}

TileLayout TileLayout::slice(int64_t dim) const {
  std::vector<int64_t> repeat = repetition;
  repeat.erase(repeat.begin() + dim);
  std::vector<Group> groups = warpGroups;
  for (Group &group : groups) {
    if (group.dim == dim)
      group.dim = -1;
    else if (group.dim > dim)
      --group.dim;
  }
  return TileLayout(atomLayout.slice(dim), std::move(groups), std::move(repeat));
}

std::vector<int64_t> TileLayout::sliceRegisters(int64_t dim) const {
  TileLayout sliced = slice(dim);
  std::map<std::vector<int64_t>, int64_t> registerAt;
  for (int64_t reg = 0; reg < sliced.numRegisters(); ++reg)
    registerAt.emplace(sliced.registerOffset(reg), reg);
  std::vector<int64_t> result;
  for (int64_t reg = 0; reg < numRegisters(); ++reg) {
    std::vector<int64_t> offset = registerOffset(reg);
    offset.erase(offset.begin() + dim);
    result.push_back(registerAt.at(offset));
  }
  return result;
}

TileLayout TileLayout::expand(int64_t dim) const {
  assert(dim >= 0 && dim <= rank() && "no such place for a dimension");
  std::vector<int64_t> shape = atomLayout.shape(), repeat = repetition;
  shape.insert(shape.begin() + dim, 1);
  repeat.insert(repeat.begin() + dim, 1);
  auto widen = [&](LinearLayout::Bases bases) {
    for (LinearLayout::Basis &basis : bases)
      basis.insert(basis.begin() + dim, 0);
    return bases;
  };
  std::vector<Group> groups = warpGroups;
  for (Group &group : groups)
    if (group.dim >= dim)
      ++group.dim;
  return TileLayout(LinearLayout(std::move(shape), widen(atomLayout.bases(InDim::Register)),
                                 widen(atomLayout.bases(InDim::Lane)), widen(atomLayout.bases(InDim::Warp))),
                    std::move(groups), std::move(repeat));
}

TileLayout TileLayout::gather(int64_t dim, int64_t count) const {
  assert(dim >= 0 && dim < rank() && count >= 1 && "no such dimension");
  size_t d = static_cast<size_t>(dim);
  LinearLayout::Bases registers, lanes = atomLayout.bases(InDim::Lane), warps = atomLayout.bases(InDim::Warp);
  for (const LinearLayout::Basis &basis : atomLayout.bases(InDim::Register))
    if (basis[d] == 0)
      registers.push_back(basis);
  for (LinearLayout::Bases *bases : {&lanes, &warps})
    for (LinearLayout::Basis &basis : *bases)
      basis[d] = 0;
  std::vector<int64_t> shape = atomLayout.shape(), repeat = repetition;
  shape[d] = 1;
  repeat[d] = count;
  std::vector<Group> groups = warpGroups;
  for (Group &group : groups)
    if (group.dim == dim)
      group.dim = -1;
  return TileLayout(LinearLayout(std::move(shape), registers, lanes, warps), std::move(groups), std::move(repeat));
}

int64_t TileLayout::partsAlong(int64_t dim) const {
  int64_t parts = 1;
  for (const LinearLayout::Basis &basis : atomLayout.bases(InDim::Warp))
    parts *= basis[static_cast<size_t>(dim)] ? 2 : 1;
  for (const Group &group : warpGroups)
    parts *= group.dim == dim ? group.count : 1;
  return parts;
}

TileLayout TileLayout::reduceWithinWarps(int64_t dim) const {
  size_t d = static_cast<size_t>(dim);
  TileLayout reduced = gather(dim, 1);
  LinearLayout::Bases warps = reduced.atomLayout.bases(InDim::Warp);
  int64_t part = 1;
  for (size_t bit = 0; bit < warps.size(); ++bit)
    if (atomLayout.bases(InDim::Warp)[bit][d]) {
      warps[bit][d] = part;
      part *= 2;
    }
  std::vector<int64_t> shape = reduced.atomLayout.shape();
  shape[d] = part;
  return TileLayout(LinearLayout(std::move(shape), reduced.atomLayout.bases(InDim::Register),
                                 reduced.atomLayout.bases(InDim::Lane), warps),
                    warpGroups, reduced.repetition);
}

TileLayout TileLayout::transpose(const std::vector<int64_t> &perm) const {
  std::vector<int64_t> repeat;
  for (int64_t from : perm)
    repeat.push_back(repetition[static_cast<size_t>(from)]);
  std::vector<Group> groups = warpGroups;
  for (Group &group : groups)
    if (group.dim >= 0)
      group.dim = std::find(perm.begin(), perm.end(), group.dim) - perm.begin();
  return TileLayout(atomLayout.transpose(perm), std::move(groups), std::move(repeat));
}

bool TileLayout::operator==(const TileLayout &other) const {
  return atomLayout == other.atomLayout && warpGroups == other.warpGroups && repetition == other.repetition;
}

std::string TileLayout::toString() const {
  std::string text =
      printList(shape()) + " = {" + atomLayout.toString() + "} x repeat " + printList(repetition) + " x groups [";
  for (size_t i = 0; i < warpGroups.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(warpGroups[i].count);
    text += warpGroups[i].dim < 0 ? " replicated" : " on " + std::to_string(warpGroups[i].dim);
  }
  return text + "]";
}

std::optional<std::vector<int64_t>> TileLayout::renaming(const TileLayout &from, const TileLayout &to) {
  if (productOf(from.shape()) != productOf(to.shape()) || from.numWarps() != to.numWarps() ||
      from.atom().numBits(InDim::Lane) != to.atom().numBits(InDim::Lane))
    return std::nullopt;
  std::vector<int64_t> fromShape = from.shape(), toShape = to.shape();
  // Thread (0, 0) has offset zero in both layouts. So a renaming that fits it fits all threads
  // exactly if every thread has equal offsets in both.
  for (int64_t warp = 0; warp < to.numWarps(); ++warp)
    for (int64_t lane = 0; lane < to.atom().size(InDim::Lane); ++lane)
      if (rowMajorIndex(from.threadOffset(lane, warp), fromShape) !=
          rowMajorIndex(to.threadOffset(lane, warp), toShape))
        return std::nullopt;
  std::map<int64_t, int64_t> registerAt;
  for (int64_t reg = 0; reg < from.numRegisters(); ++reg)
    registerAt.emplace(rowMajorIndex(from.registerOffset(reg), fromShape), reg);
  std::vector<int64_t> result;
  for (int64_t reg = 0; reg < to.numRegisters(); ++reg) {
    auto found = registerAt.find(rowMajorIndex(to.registerOffset(reg), toShape));
    if (found == registerAt.end())
      return std::nullopt;
    result.push_back(found->second);
  }
  return result;
}

int64_t TileLayout::contiguous(int64_t dim) const {
  assert(dim >= 0 && dim < rank() && "no such dimension");
  std::vector<std::vector<int64_t>> offsets;
  for (int64_t reg = 0; reg < numRegisters(); ++reg)
    offsets.push_back(registerOffset(reg));
  // Threads need no look: bits of theirs along `dim` lie above those of a run inside the atom, and
  // a run that fills the atom's extent leaves them none.
  auto holdsRuns = [&](size_t length) {
    for (size_t reg = 0; reg < offsets.size(); ++reg) {
      std::vector<int64_t> expected = offsets[reg - reg % length];
      if (expected[static_cast<size_t>(dim)] % static_cast<int64_t>(length) != 0)
        return false;
      expected[static_cast<size_t>(dim)] += static_cast<int64_t>(reg % length);
      if (offsets[reg] != expected)
        return false;
    }
    return true;
  };
  size_t length = 1;
  while (offsets.size() % (2 * length) == 0 && holdsRuns(2 * length))
    length *= 2;
  return static_cast<int64_t>(length);
}

std::vector<int> TileLayout::replicatedLaneBits() const { return zeroBits(atomLayout.bases(InDim::Lane)); }

std::vector<int> TileLayout::replicatedWarpBits() const { return zeroBits(atomLayout.bases(InDim::Warp)); }

bool TileLayout::replicatesGroups() const {
  return std::any_of(warpGroups.begin(), warpGroups.end(),
                     [](const Group &group) { return group.dim < 0 && group.count > 1; });
}

bool TileLayout::isWriter(int64_t lane, int64_t warp) const {
  int64_t atomWarps = atomLayout.size(InDim::Warp);
  if ((lane & maskOf(replicatedLaneBits())) || (warp % atomWarps & maskOf(replicatedWarpBits())))
    return false;
  std::vector<int64_t> place = groupCoordinate(warp / atomWarps);
  for (size_t i = 0; i < warpGroups.size(); ++i)
    if (warpGroups[i].dim < 0 && place[i] != 0)
      return false;
  return true;
}

} // namespace headrace
