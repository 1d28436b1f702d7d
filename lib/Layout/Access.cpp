// Access to shared memory derived from layouts: vector widths, ldmatrix / stmatrix plans,
// conflicts.
#include "headrace/Layout/Access.h"

#include <algorithm>
#include <cassert>
#include <map>

namespace headrace {

namespace {

using Word = std::vector<int64_t>;

constexpr int64_t kRowBytes = 16;
constexpr int64_t kBanks = 32;
constexpr int64_t kBankBytes = 4;

/// shared.offset(layout.coordinate(...)) with the offsets of registers and threads computed once.
class SharedOffsets {
public:
  SharedOffsets(const TileLayout &layout, const SharedLayout &shared)
      : shared(shared), lanes(layout.atom().size(InDim::Lane)), warps(layout.numWarps()) {
    assert(layout.shape() == shared.shape() && "the layouts describe one tile");
    for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
      ofRegister.push_back(layout.registerOffset(reg));
    for (int64_t warp = 0; warp < warps; ++warp)
      for (int64_t lane = 0; lane < lanes; ++lane)
        ofThread.push_back(layout.threadOffset(lane, warp));
  }

  int64_t numLanes() const { return lanes; }
  int64_t numWarps() const { return warps; }

  int64_t at(int64_t reg, int64_t lane, int64_t warp) {
    const std::vector<int64_t> &first = ofRegister[static_cast<size_t>(reg)];
    const std::vector<int64_t> &thread = ofThread[static_cast<size_t>(warp * lanes + lane)];
    element.resize(first.size());
    for (size_t d = 0; d < first.size(); ++d)
      element[d] = first[d] + thread[d];
    return shared.offset(element);
  }

private:
  const SharedLayout &shared;
  int64_t lanes;
  int64_t warps;
  std::vector<std::vector<int64_t>> ofRegister;
  std::vector<std::vector<int64_t>> ofThread;
  std::vector<int64_t> element; ///< of the last call: a tile has many elements, and each would allocate
};

/// Registers grouped into 32-bit words of elements contiguous along `dim`, ordered by the first
/// register; nullopt if some register has no place in such a word.
std::optional<std::vector<Word>> wordsAlong(const TileLayout &layout, int64_t dim, int64_t perWord) {
  std::map<std::vector<int64_t>, int64_t> registerAt;
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
    registerAt.emplace(layout.registerOffset(reg), reg);
  std::vector<Word> words;
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
    std::vector<int64_t> offset = layout.registerOffset(reg);
    int64_t &along = offset[static_cast<size_t>(dim)];
    if (along % perWord != 0)
      continue;
    Word word;
    for (int64_t i = 0; i < perWord; ++i, ++along) {
      auto found = registerAt.find(offset);
      if (found == registerAt.end())
        return std::nullopt;
      word.push_back(found->second);
    }
    words.push_back(std::move(word));
  }
  if (static_cast<int64_t>(words.size()) * perWord != layout.numRegisters())
    return std::nullopt;
  return words;
}

/// Registers grouped into pairs of neighbours.
std::optional<std::vector<Word>> wordsOfPairs(const TileLayout &layout) {
  if (layout.numRegisters() % 2 != 0)
    return std::nullopt;
  std::vector<Word> words;
  for (int64_t reg = 0; reg < layout.numRegisters(); reg += 2)
    words.push_back({reg, reg + 1});
  return words;
}

/// The (register, lane) of the first element of row `row` of the matrix that moves `word`.
std::pair<int64_t, int64_t> rowStart(bool transposed, const Word &word, int64_t row) {
  // Element 0 of a row belongs to the first lane of quad `row`; transposed, to lane row / 2 of the
  // first quad, even rows in the low half.
  if (transposed)
    return {word[static_cast<size_t>(row & 1)], row >> 1};
  return {word[0], row << 2};
}

/// The definition of ldmatrix m8n8 .b16 (PTX ISA 9.7.14.5.15): the row and the byte in it of
/// element `i` of the 32-bit word that lane `lane` gets.
std::pair<int64_t, int64_t> matrixElement(bool transposed, int64_t lane, int64_t i, int64_t elementBytes) {
  if (transposed)
    return {2 * (lane & 3) + i, (lane >> 2) * elementBytes};
  return {lane >> 2, 4 * (lane & 3) + i * elementBytes};
}

/// True if every element of `word`, in every lane and warp, lies where the instruction takes it.
bool isMatrix(SharedOffsets &offsets, const Word &word, bool transposed, int64_t elementBytes) {
  for (int64_t warp = 0; warp < offsets.numWarps(); ++warp) {
    int64_t rowOffset[8];
    for (int64_t row = 0; row < 8; ++row) {
      auto [reg, lane] = rowStart(transposed, word, row);
      rowOffset[row] = offsets.at(reg, lane, warp);
      if (rowOffset[row] % kRowBytes != 0)
        return false;
    }
    for (int64_t lane = 0; lane < 32; ++lane) {
      for (size_t i = 0; i < word.size(); ++i) {
        auto [row, byte] = matrixElement(transposed, lane, static_cast<int64_t>(i), elementBytes);
        if (offsets.at(word[i], lane, warp) != rowOffset[row] + byte)
          return false;
      }
    }
  }
  return true;
}

/// The words of shared memory that one phase of an access touches.
class PhaseWords {
public:
  /// Adds the words of `bytes` bytes at `offset`.
  void add(int64_t offset, int64_t bytes) {
    for (int64_t word = offset / kBankBytes; word * kBankBytes < offset + bytes; ++word)
      words.push_back(word);
  }

  /// The most distinct words that one bank serves, less one. Starts the next phase.
  int64_t extraWavefronts() {
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    int64_t perBank[kBanks] = {};
    int64_t most = 1;
    for (int64_t word : words)
      most = std::max(most, ++perBank[word % kBanks]);
    words.clear();
    return most - 1;
  }

private:
  std::vector<int64_t> words;
};

} // namespace

int64_t sharedVectorBytes(const TileLayout &layout, const SharedLayout &shared) {
  assert(layout.shape() == shared.shape() && "the layouts describe one tile");
  int64_t bytes = layout.contiguous(shared.major()) * shared.elementBits() / 8;
  bytes = std::min(bytes, kRowBytes);
  // Chunks of 16 bytes are never torn; plain rows may start anywhere.
  if (shared.swizzle() == 0 && shared.rows() > 1)
    while (bytes > 1 && shared.rowBytes() % bytes != 0)
      bytes /= 2;
  return bytes;
}

std::optional<MatrixPlan> planMatrixAccess(const TileLayout &layout, const SharedLayout &shared) {
  int64_t bits = shared.elementBits();
  if ((bits != 8 && bits != 16 && bits != 32) || layout.atom().numBits(InDim::Lane) != 5)
    return std::nullopt;
  SharedOffsets offsets(layout, shared);
  for (bool transposed : {false, true}) {
    if (transposed && bits != 16)
      continue;
    std::optional<std::vector<Word>> words =
        transposed ? wordsOfPairs(layout) : wordsAlong(layout, shared.major(), 32 / bits);
    if (!words || !std::all_of(words->begin(), words->end(),
                               [&](const Word &word) { return isMatrix(offsets, word, transposed, bits / 8); }))
      continue;
    MatrixPlan plan;
    plan.transposed = transposed;
    for (auto next = words->begin(); next != words->end();) {
      int64_t left = words->end() - next;
      int64_t matrices = left >= 4 ? 4 : left >= 2 ? 2 : 1;
      plan.instructions.push_back({std::vector<Word>(next, next + matrices)});
      next += matrices;
    }
    return plan;
  }
  return std::nullopt;
}

std::pair<int64_t, int64_t> rowAddressSource(const MatrixPlan &plan, int64_t instruction, int64_t lane) {
  assert(lane >= 0 && lane < 32 && "no such lane");
  const auto &words = plan.instructions[static_cast<size_t>(instruction)].registers;
  return rowStart(plan.transposed, words[static_cast<size_t>(lane >> 3) % words.size()], lane & 7);
}

int64_t bankConflicts(const TileLayout &layout, const SharedLayout &shared, int64_t vectorBytes) {
  int64_t elements = vectorBytes * 8 / shared.elementBits();
  assert(elements >= 1 && layout.numRegisters() % elements == 0 && "vectors divide the registers");
  SharedOffsets offsets(layout, shared);
  int64_t lanesPerPhase = std::min(offsets.numLanes(), vectorBytes > 4 ? 128 / vectorBytes : 32);
  PhaseWords words;
  int64_t worst = 0;
  for (int64_t warp = 0; warp < offsets.numWarps(); ++warp) {
    for (int64_t reg = 0; reg < layout.numRegisters(); reg += elements) {
      for (int64_t first = 0; first < offsets.numLanes(); first += lanesPerPhase) {
        for (int64_t lane = first; lane < first + lanesPerPhase; ++lane)
          words.add(offsets.at(reg, lane, warp), vectorBytes);
        worst = std::max(worst, words.extraWavefronts());
      }
    }
  }
  return worst;
}

int64_t matrixBankConflicts(const MatrixPlan &plan, const TileLayout &layout, const SharedLayout &shared) {
  SharedOffsets offsets(layout, shared);
  PhaseWords words;
  int64_t worst = 0;
  for (int64_t warp = 0; warp < offsets.numWarps(); ++warp) {
    for (const MatrixPlan::Instruction &instruction : plan.instructions) {
      for (const Word &word : instruction.registers) {
        for (int64_t row = 0; row < 8; ++row) {
          auto [reg, lane] = rowStart(plan.transposed, word, row);
          words.add(offsets.at(reg, lane, warp), kRowBytes);
        }
        worst = std::max(worst, words.extraWavefronts());
      }
    }
  }
  return worst;
}

} // namespace headrace
