// Named layouts: operand and accumulator fragments of the matrix instructions, and the coalesced
// layout.
#include "headrace/Layout/Fragments.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace headrace {

namespace {

using Bases = LinearLayout::Bases;

/// `atom` over `groups`, repeated to fill `shape`; nullopt if that leaves a rest.
std::optional<TileLayout> fill(LinearLayout atom, std::vector<Group> groups, const std::vector<int64_t> &shape) {
  std::vector<int64_t> repeat(shape.size(), 1);
  for (const Group &group : groups)
    if (group.count < 1)
      return std::nullopt;
  std::vector<int64_t> part = TileLayout(atom, groups, repeat).shape();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 1 || shape[d] % part[d] != 0)
      return std::nullopt;
    repeat[d] = shape[d] / part[d];
  }
  return TileLayout(std::move(atom), std::move(groups), std::move(repeat));
}

/// {1, 2, ..., count / 2} times `unit` along dimension `dim` of two.
Bases doublings(int64_t count, int64_t unit, size_t dim) {
  Bases bases;
  for (int64_t step = 1; step < count; step *= 2) {
    bases.push_back({0, 0});
    bases.back()[dim] = step * unit;
  }
  return bases;
}

Bases concatenate(Bases low, const Bases &high) {
  low.insert(low.end(), high.begin(), high.end());
  return low;
}

/// Elements in one register of an operand; an f64 element has a register of its own.
int64_t elementsPerRegister(int64_t elementBits) { return std::max<int64_t>(1, 32 / elementBits); }

/// The lanes of all mma fragments: lane = 4 * row + column / perLane (g and q of the PTX figures).
Bases quadLanes(int64_t perLane) { return concatenate(doublings(4, perLane, 1), doublings(8, 1, 0)); }

/// D and C: pairs of neighbours, `rows` / 8 of them eight rows apart.
LinearLayout accumulatorAtom(int64_t rows, const Bases &warps) {
  Bases registers = concatenate(doublings(2, 1, 1), doublings(std::min<int64_t>(rows, 16) / 8, 8, 0));
  return LinearLayout({rows, 8}, registers, quadLanes(2), warps);
}

/// A or B: a register of neighbours along K, then (for A) the register eight rows lower, then the
/// next four registers' worth of K.
LinearLayout operandAtom(int64_t rows, int64_t atomK, int64_t elementBits, const Bases &warps) {
  int64_t perRegister = elementsPerRegister(elementBits), perQuad = 4 * perRegister;
  Bases registers = doublings(perRegister, 1, 1);
  registers = concatenate(registers, doublings(std::min<int64_t>(rows, 16) / 8, 8, 0));
  registers = concatenate(registers, doublings(atomK / perQuad, perQuad, 1));
  return LinearLayout({rows, atomK}, registers, quadLanes(perRegister), warps);
}

/// Whether mma.sync m16n8 has this K: one or two quads' worth, for f64 four too (PTX ISA 9.7.14.1).
bool isMmaK(int64_t elementBits, int64_t atomK) {
  if (elementBits == 64)
    return atomK == 4 || atomK == 8 || atomK == 16;
  if (elementBits != 4 && elementBits != 8 && elementBits != 16 && elementBits != 32)
    return false;
  int64_t perQuad = 4 * elementsPerRegister(elementBits);
  return atomK == perQuad || atomK == 2 * perQuad;
}

/// Whether mma.sync m8n8 has this K (PTX ISA 9.7.14.1).
bool isMma8x8K(int64_t elementBits, int64_t atomK) {
  return (elementBits == 64 && atomK == 4) || (elementBits == 8 && atomK == 16) || (elementBits == 4 && atomK == 32);
}

/// Groups of an accumulator (dims 0, 1), of A (0, -1), of B (-1, 0).
std::vector<Group> groupsOf(int64_t groupsM, int64_t dimM, int64_t groupsN, int64_t dimN) {
  return {{groupsM, dimM}, {groupsN, dimN}};
}

/// Four warps, sixteen rows each.
Bases warpgroupWarps() { return doublings(4, 16, 0); }

/// The largest power of two that divides `value`.
int64_t powerOfTwoPart(int64_t value) { return value & -value; }

} // namespace

std::optional<TileLayout> mmaAccumulator(int64_t rows, int64_t cols, int64_t groupsM, int64_t groupsN) {
  return fill(accumulatorAtom(16, {}), groupsOf(groupsM, 0, groupsN, 1), {rows, cols});
}

std::optional<TileLayout> mmaAccumulator8x8(int64_t rows, int64_t cols, int64_t groupsM, int64_t groupsN) {
  return fill(accumulatorAtom(8, {}), groupsOf(groupsM, 0, groupsN, 1), {rows, cols});
}

std::optional<TileLayout> mmaOperandA(int64_t rows, int64_t k, int64_t elementBits, int64_t atomK, int64_t groupsM,
                                      int64_t groupsN) {
  if (!isMmaK(elementBits, atomK))
    return std::nullopt;
  return fill(operandAtom(16, atomK, elementBits, {}), groupsOf(groupsM, 0, groupsN, -1), {rows, k});
}

std::optional<TileLayout> mmaOperandB(int64_t cols, int64_t k, int64_t elementBits, int64_t atomK, int64_t groupsM,
                                      int64_t groupsN) {
  if (!isMmaK(elementBits, atomK))
    return std::nullopt;
  return fill(operandAtom(8, atomK, elementBits, {}), groupsOf(groupsM, -1, groupsN, 0), {cols, k});
}

std::optional<TileLayout> mmaOperandA8(int64_t rows, int64_t k, int64_t elementBits, int64_t atomK, int64_t groupsM,
                                       int64_t groupsN) {
  if (!isMma8x8K(elementBits, atomK))
    return std::nullopt;
  return fill(operandAtom(8, atomK, elementBits, {}), groupsOf(groupsM, 0, groupsN, -1), {rows, k});
}

std::optional<TileLayout> mmaOperandB8(int64_t cols, int64_t k, int64_t elementBits, int64_t atomK, int64_t groupsM,
                                       int64_t groupsN) {
  if (!isMma8x8K(elementBits, atomK))
    return std::nullopt;
  return fill(operandAtom(8, atomK, elementBits, {}), groupsOf(groupsM, -1, groupsN, 0), {cols, k});
}

std::optional<TileLayout> wgmmaAccumulator(int64_t rows, int64_t cols, int64_t groupsM, int64_t groupsN) {
  return fill(accumulatorAtom(64, warpgroupWarps()), groupsOf(groupsM, 0, groupsN, 1), {rows, cols});
}

std::optional<TileLayout> wgmmaOperandA(int64_t rows, int64_t k, int64_t elementBits, int64_t groupsM,
                                        int64_t groupsN) {
  if (elementBits != 8 && elementBits != 16 && elementBits != 32)
    return std::nullopt;
  // One instruction spans 32 bytes of K (PTX ISA 9.7.15.2).
  return fill(operandAtom(64, 256 / elementBits, elementBits, warpgroupWarps()), groupsOf(groupsM, 0, groupsN, -1),
              {rows, k});
}

std::optional<TileLayout> tmemAccumulator(int64_t rows, int64_t cols, int64_t columnGroups) {
  if (rows != 128 || cols < 1 || columnGroups < 1 || cols % columnGroups != 0)
    return std::nullopt;
  int64_t atomColumns = powerOfTwoPart(cols / columnGroups);
  LinearLayout atom({rows, atomColumns}, doublings(atomColumns, 1, 1), doublings(32, 1, 0), doublings(4, 32, 0));
  return fill(std::move(atom), {{columnGroups, 1}}, {rows, cols});
}

namespace {

/// What lanes and warps have still to share of a tile, atom by atom.
struct AtomBuilder {
  explicit AtomBuilder(const std::vector<int64_t> &tile) : tile(tile), shape(tile.size(), 1) {}

  /// Gives up to `count` (a power of two) places to the dimensions of `order`, each in turn; returns what is left.
  int64_t take(int64_t count, const std::vector<int64_t> &order, Bases &bases) {
    for (int64_t dim : order) {
      size_t d = static_cast<size_t>(dim);
      for (; count > 1 && powerOfTwoPart(tile[d]) > shape[d]; count /= 2) {
        bases.emplace_back(tile.size(), 0);
        bases.back()[d] = shape[d];
        shape[d] *= 2;
      }
    }
    return count;
  }
  /// The same, and what is left over are replicas.
  void takeAll(int64_t count, const std::vector<int64_t> &order, Bases &bases) {
    for (int64_t rest = take(count, order, bases); rest > 1; rest /= 2)
      bases.emplace_back(tile.size(), 0);
  }
  /// The layout with the odd factor of `numWarps` as groups along the dimensions of `order`.
  TileLayout finish(int64_t numWarps, const std::vector<int64_t> &order) {
    takeAll(powerOfTwoPart(numWarps), order, warps);
    int64_t rest = numWarps / powerOfTwoPart(numWarps);
    std::vector<Group> groups;
    for (int64_t dim : order) {
      size_t d = static_cast<size_t>(dim);
      int64_t count = std::gcd(rest, tile[d] / shape[d]);
      if (count > 1)
        groups.push_back({count, dim});
      rest /= count;
    }
    if (rest > 1)
      groups.push_back({rest, -1});
    std::optional<TileLayout> layout = fill(LinearLayout(shape, registers, lanes, warps), groups, tile);
    assert(layout && "the atom and the groups divide the tile");
    return *layout;
  }

  std::vector<int64_t> tile, shape;
  Bases registers, lanes, warps;
};

/// All dimensions of a rank but one, the last first.
std::vector<int64_t> otherDims(int64_t rank, int64_t dim) {
  std::vector<int64_t> dims;
  for (int64_t d = rank; d-- > 0;)
    if (d != dim)
      dims.push_back(d);
  return dims;
}

} // namespace

std::optional<TileLayout> scannable(const std::vector<int64_t> &shape, int64_t numWarps, int64_t dim) {
  constexpr int64_t kRun = 4, kMostInThread = 256;
  std::vector<int64_t> others = otherDims(static_cast<int64_t>(shape.size()), dim), lanesOrder = {dim};
  lanesOrder.insert(lanesOrder.end(), others.begin(), others.end());
  AtomBuilder atom(shape);
  atom.take(kRun, {dim}, atom.registers);
  atom.takeAll(32, lanesOrder, atom.lanes);
  TileLayout layout = atom.finish(numWarps, others);
  int64_t run = int64_t(1) << atom.registers.size();
  if (layout.repeat()[static_cast<size_t>(dim)] * run > kMostInThread)
    return std::nullopt;
  return layout;
}

TileLayout blocked(const std::vector<int64_t> &shape, int64_t vector, int64_t numWarps, int64_t contiguousDim) {
  int64_t rank = static_cast<int64_t>(shape.size());
  assert(rank >= 1 && contiguousDim >= 0 && contiguousDim < rank && vector >= 1 && numWarps >= 1 &&
         "no such dimension");
  // Dimensions in the order in which lanes and warps take room.
  std::vector<int64_t> warpsOrder = otherDims(rank, contiguousDim), lanesOrder = {contiguousDim};
  lanesOrder.insert(lanesOrder.end(), warpsOrder.begin(), warpsOrder.end());
  warpsOrder.push_back(contiguousDim);
  int64_t largestVector = 1;
  while (2 * largestVector <= vector)
    largestVector *= 2;
  AtomBuilder atom(shape);
  atom.take(largestVector, {contiguousDim}, atom.registers);
  atom.takeAll(32, lanesOrder, atom.lanes);
  return atom.finish(numWarps, warpsOrder);
}

} // namespace headrace
