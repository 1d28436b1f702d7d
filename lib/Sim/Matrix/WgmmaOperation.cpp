// Operands of wgmma.mma_async (PTX ISA 9.7.15.5.2), and its arithmetic.
#include "WgmmaOperation.h"

#include "Factories.h"

#include "headrace/Sim/Matrix/Fragments.h"

namespace headrace::sim {

namespace {

constexpr int kPieceBytes = 16;
constexpr int kPieceWords = 4;
constexpr int kWarpRows = 16;

/// An immediate that is one of two values.
int64_t choice(Decoder &decode, size_t index, int64_t one, int64_t other) {
  int64_t value = decode.integer(index);
  if (value != one && value != other)
    decode.fail("expected " + std::to_string(one) + " or " + std::to_string(other) + " as operand " +
                std::to_string(index + 1) + ", got " + std::to_string(value));
  return value;
}

/// The registers of a vector operand. Fails where some element is something else.
std::vector<ptx::RegId> registersAt(Decoder &decode, size_t index) {
  std::vector<ptx::RegId> result;
  for (const Source &source : decode.sources(index)) {
    if (!source.isRegister())
      decode.fail("expected registers only in operand " + std::to_string(index + 1));
    result.push_back(source.registerId());
  }
  return result;
}

} // namespace

WgmmaOperation::WgmmaOperation(Decoder &decode, const WgmmaForm &form) : form(form) {
  bool fromRegisters = decode.numOperands() > 1 && decode.instruction.operands[1].kind == ptx::Operand::Kind::Vector;
  size_t expected = 4 + (form.hasSigns() ? 2 : 0) + (form.hasTransposes() ? (fromRegisters ? 1 : 2) : 0);
  if (decode.numOperands() != expected) {
    decode.fail("expected " + std::to_string(expected) + " operands, got " + std::to_string(decode.numOperands()));
    return;
  }
  if (!expectRegisters(decode, 0, form.registersOfD(), "D") ||
      (fromRegisters && !expectRegisters(decode, 1, WgmmaForm::kRegistersOfA, "A")))
    return;
  addition = additionOf(MatrixUnit::Wgmma, form.a.element, form.b.element, form.accumulator);
  d = registersAt(decode, 0);
  if (fromRegisters)
    a = registersAt(decode, 1);
  else
    aMatrix = decode.source(1);
  bMatrix = decode.source(2);
  scaleD = decode.source(3);
  size_t next = 4;
  for (int i = 0; form.hasSigns() && i < 2; ++i)
    sign *= static_cast<int>(choice(decode, next++, 1, -1));
  if (form.hasTransposes() && !fromRegisters)
    transposesA = choice(decode, next++, 0, 1) != 0;
  if (form.hasTransposes())
    transposesB = choice(decode, next++, 0, 1) != 0;
  tabulate();
}

void WgmmaOperation::tabulate() {
  BlockProduct product(WgmmaForm::kRows, form.shape.n, form.shape.k);
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < form.shape.n / 2; ++i) {
      MatrixPlace place = placeInWarpgroupD(0, i, lane);
      placesOfD.push_back(product.placeOfSum(place.row, place.column));
    }
  }
}

/// Calls `put(row, k, value)` for each element; a row is one of A, or a column of B.
template <typename Put>
void WgmmaOperation::readShared(AsyncContext &context, uint32_t shared, const SharedOperand &operand, Put put) const {
  const int perPiece = kPieceWords * operand.packing.perWord();
  const int lines = operand.mnMajor ? form.shape.k : operand.rows;
  const int pieces = (operand.mnMajor ? operand.rows : form.shape.k) / perPiece;
  std::vector<double> values(perPiece);
  for (int line = 0; line < lines; ++line) {
    for (int piece = 0; piece < pieces; ++piece) {
      uint32_t words[kPieceWords];
      context.readShared(shared + operand.matrix.address(operand.mnMajor, line, piece), kPieceBytes, words);
      unpackWords(operand.packing, words, kPieceWords, values.data());
      for (int i = 0; i < perPiece; ++i) {
        int along = piece * perPiece + i;
        put(operand.mnMajor ? along : line, operand.mnMajor ? line : along, values[i]);
      }
    }
  }
}

void WgmmaOperation::readRegisters(const WgmmaInputs &inputs, BlockProduct &product) const {
  const int perWord = form.a.perWord();
  std::vector<double> values(static_cast<size_t>(kLanes) * perWord);
  for (int warp = 0; warp < 4; ++warp) {
    for (int reg = 0; reg < WgmmaForm::kRegistersOfA; ++reg) {
      const uint64_t *cells = inputs.warps[warp]->cells(a[reg]);
      std::array<uint32_t, kLanes> words;
      for (int lane = 0; lane < kLanes; ++lane)
        words[lane] = static_cast<uint32_t>(cells[lane]);
      unpackWords(form.a, words.data(), kLanes, values.data());
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int i = 0; i < perWord; ++i) {
          MatrixPlace place = placeInWarpgroupA(warp, perWord, reg, i, lane);
          product.a[product.placeOfA(place.row, place.column)] = values[lane * perWord + i];
        }
      }
    }
  }
}

void WgmmaOperation::readAccumulators(const WgmmaInputs &inputs, BlockProduct &product) const {
  const int perRegister = form.elementsPerRegisterOfD(), perLane = form.shape.n / 2;
  for (int warp = 0; warp < 4; ++warp) {
    double *sums = &product.sums[product.placeOfSum(kWarpRows * warp, 0)];
    for (size_t reg = 0; reg < d.size(); ++reg) {
      const uint64_t *cells = inputs.warps[warp]->cells(d[reg]);
      for (int lane = 0; lane < kLanes; ++lane)
        for (int i = 0; i < perRegister; ++i)
          sums[placesOfD[lane * perLane + reg * perRegister + i]] =
              accumulatorValue(form.accumulator, static_cast<uint32_t>(cells[lane]) >> (16 * i));
    }
  }
}

/// Adds the sums, or puts them in place of the accumulators that they have taken in.
void WgmmaOperation::writeAccumulators(const WgmmaInputs &inputs, const BlockProduct &product) const {
  const bool adds = inputs.accumulates && !addition.takesAccumulator();
  const int perRegister = form.elementsPerRegisterOfD(), perLane = form.shape.n / 2;
  for (int warp = 0; warp < 4; ++warp) {
    const double *sums = &product.sums[product.placeOfSum(kWarpRows * warp, 0)];
    for (size_t reg = 0; reg < d.size(); ++reg) {
      uint64_t *cells = inputs.warps[warp]->cells(d[reg]);
      for (int lane = 0; lane < kLanes; ++lane) {
        uint32_t before = adds ? static_cast<uint32_t>(cells[lane]) : 0, after = 0;
        for (int i = 0; i < perRegister; ++i) {
          double sum = sums[placesOfD[lane * perLane + reg * perRegister + i]];
          after |= accumulated(form.accumulator, before >> (16 * i), sum) << (16 * i);
        }
        cells[lane] = after;
      }
    }
  }
}

void WgmmaOperation::perform(AsyncContext &context, const WgmmaInputs &inputs) const {
  BlockProduct product(WgmmaForm::kRows, form.shape.n, form.shape.k);
  if (a.empty())
    readShared(context, inputs.shared, {inputs.a, form.a, transposesA, WgmmaForm::kRows},
               [&](int row, int k, double value) { product.a[product.placeOfA(row, k)] = value; });
  else
    readRegisters(inputs, product);
  readShared(context, inputs.shared, {inputs.b, form.b, transposesB, form.shape.n},
             [&](int column, int k, double value) { product.b[product.placeOfB(k, column)] = value; });
  if (sign < 0)
    for (double &value : product.a)
      value = -value;
  if (inputs.accumulates && addition.takesAccumulator())
    readAccumulators(inputs, product);
  product.multiply(addition);
  writeAccumulators(inputs, product);
}

} // namespace headrace::sim
