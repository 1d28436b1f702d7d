// ldmatrix and stmatrix: which words share an instruction, and the address of each lane's row.
#include "MatrixAccess.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

constexpr int64_t kLanes = 32;
constexpr int64_t kLaneBits = 5;

MatrixAccess::MatrixAccess(const TileLayout &layout, const SharedLayout &shared, bool transposed, Value slot,
                           Value lane, Value warp)
    : layout(layout), shared(shared), transposed(transposed), slot(slot), lane(lane), warp(warp) {}

std::optional<MatrixAccess::LaneBases> MatrixAccess::laneBases(ArrayRef<Word> words) const {
  MatrixPlan plan;
  plan.transposed = transposed;
  plan.instructions.push_back({std::vector<Word>(words.begin(), words.end())});
  std::vector<int64_t> origin = layout.registerOffset(words.front().front());
  auto rowOf = [&](int64_t lane) {
    auto [reg, source] = rowAddressSource(plan, 0, lane);
    std::vector<int64_t> row = layout.coordinate(reg, source, 0);
    for (size_t d = 0; d < row.size(); ++d)
      row[d] -= origin[d];
    return row;
  };
  LaneBases bases;
  for (int64_t bit = 0; bit < kLaneBits; ++bit)
    bases.push_back(rowOf(int64_t(1) << bit));
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    std::vector<int64_t> row = rowOf(lane);
    for (size_t d = 0; d < row.size(); ++d) {
      int64_t sum = 0;
      for (int64_t bit = 0; bit < kLaneBits; ++bit)
        sum += (lane >> bit & 1) * bases[bit][d];
      if (sum != row[d] || row[d] < 0)
        return std::nullopt;
    }
  }
  return bases;
}

bool MatrixAccess::accepts(ArrayRef<Word> words) const {
  return llvm::all_of(words, [&](const Word &word) { return laneBases(llvm::ArrayRef<Word>(word)).has_value(); });
}

/// The sum over the bits of `lane` of their entries in `bases`; runs of doublings move together.
static Value applyBases(OpBuilder &builder, Location loc, ArrayRef<int64_t> bases, Value lane, Value sum) {
  for (size_t bit = 0; bit < bases.size();) {
    size_t end = bit + 1;
    while (bases[bit] && end < bases.size() && bases[end] == bases[bit] << (end - bit))
      ++end;
    if (bases[bit]) {
      Value term = lane;
      if (bit)
        term = arith::ShRUIOp::create(builder, loc, term, constI32(builder, loc, bit));
      if (end < bases.size())
        term = arith::AndIOp::create(builder, loc, term, constI32(builder, loc, (int64_t(1) << (end - bit)) - 1));
      sum = arith::AddIOp::create(builder, loc, sum, multiply(builder, loc, term, bases[bit]));
    }
    bit = end;
  }
  return sum;
}

SlotAddresses &MatrixAccess::addressesFor(OpBuilder &builder, Location loc, const LaneBases &bases) {
  auto found = addresses.find(bases);
  if (found != addresses.end())
    return found->second;
  // The part of the warp, and on top of it the row of the lane.
  SmallVector<Value> place = coordinateOf(builder, loc, layout, constI32(builder, loc, 0), warp);
  for (auto [d, value] : llvm::enumerate(place)) {
    SmallVector<int64_t> along =
        llvm::map_to_vector(bases, [d = d](const std::vector<int64_t> &basis) { return basis[d]; });
    value = applyBases(builder, loc, along, lane, value);
  }
  int64_t placeBits = 0;
  for (int64_t w = 0; w < layout.numWarps(); ++w)
    for (int64_t l = 0; l < kLanes; ++l) {
      std::vector<int64_t> coordinate = layout.threadOffset(0, w);
      for (int64_t bit = 0; bit < kLaneBits; ++bit)
        for (size_t d = 0; d < coordinate.size(); ++d)
          coordinate[d] += (l >> bit & 1) * bases[bit][d];
      placeBits |= denseOffset(shared, coordinate);
    }
  return addresses.emplace(bases, SlotAddresses(builder, loc, shared, slot, place, placeBits)).first->second;
}

std::pair<size_t, SlotAddresses::Address> MatrixAccess::next(OpBuilder &builder, Location loc, ArrayRef<Word> words) {
  for (size_t matrices : {4, 2, 1}) {
    if (matrices > words.size())
      continue;
    std::optional<LaneBases> bases = laneBases(words.take_front(matrices));
    if (!bases)
      continue;
    std::vector<int64_t> first = layout.registerOffset(words.front().front());
    return {matrices, addressesFor(builder, loc, *bases).at(builder, loc, first)};
  }
  llvm_unreachable("accepts() holds for each word");
}

std::string MatrixAccess::mnemonic(StringRef name, size_t matrices) const {
  return (name + ".sync.aligned.m8n8.x" + Twine(matrices) + (transposed ? ".trans" : "") + ".shared.b16 ").str();
}

SmallVector<Value> MatrixAccess::load(OpBuilder &builder, Location loc, ArrayRef<Word> words) {
  SmallVector<Value> values;
  while (!words.empty()) {
    auto [matrices, address] = next(builder, loc, words);
    std::string text = mnemonic("ldmatrix", matrices) + operandList(0, matrices) + ", " +
                       addressOperand(matrices, address.offset) + ";";
    SmallVector<Type> types(matrices, builder.getI32Type());
    llvm::append_range(values, ptx(builder, loc, text, types, address.base));
    words = words.drop_front(matrices);
  }
  return values;
}

void MatrixAccess::store(OpBuilder &builder, Location loc, ArrayRef<Word> words, ValueRange values) {
  while (!words.empty()) {
    auto [matrices, address] = next(builder, loc, words);
    SmallVector<Value> operands = {address.base};
    llvm::append_range(operands, values.take_front(matrices));
    std::string text =
        mnemonic("stmatrix", matrices) + addressOperand(0, address.offset) + ", " + operandList(1, matrices) + ";";
    ptx(builder, loc, text, {}, operands);
    words = words.drop_front(matrices);
    values = values.drop_front(matrices);
  }
}
