// mma.sync: a warp multiplies fragments in its registers (PTX ISA 9.7.14.5.14).
#include "Factories.h"

#include "headrace/Sim/Matrix/BlockProduct.h"
#include "headrace/Sim/Matrix/Fragments.h"
#include "headrace/Sim/Matrix/MmaForm.h"
#include "headrace/Sim/Numerics/Float.h"

#include <array>
#include <memory>

namespace headrace::sim {

namespace {

constexpr size_t kMaxRegistersOfC = 4;

/// Scale factors of block-scaled mma: four bytes in a register, of some lanes.
struct ScaleOperand {
  Source data;
  Source byteId;
  Source threadId;
};

class WarpMma {
public:
  WarpMma(Decoder &decode, const WarpMmaForm &form);

  void run(Lanes &lanes) const;

private:
  using Places = std::vector<uint16_t>; // small, since every mma of a program has its own

  void tabulate();
  void readOperand(const Lanes &lanes, const std::vector<Source> &registers, const WordPacking &packing,
                   const Places &places, std::vector<double> &into) const;
  void readScales(const Lanes &lanes, BlockProduct &product) const;
  float scaleOf(const Lanes &lanes, const ScaleOperand &operand, int lane, int block) const;
  bool selectorsAreLegal(const Lanes &lanes, const ScaleOperand &operand, uint64_t threads) const;
  void multiply(Lanes &lanes, BlockProduct &product) const;
  void accumulateF64(Lanes &lanes, BlockProduct &product) const;

  WarpMmaForm form;
  Addition addition;
  std::vector<Dest> d;
  std::vector<Source> a, b, c;
  ScaleOperand scaleA, scaleB;
  // Places in a BlockProduct: of element i of register r of a lane at (r * 32 + lane) * elements + i; of element i of C
  // at lane * elements + i.
  Places placesOfA, placesOfB, placesOfC;
};

ScaleOperand scaleOperand(Decoder &decode, size_t index) {
  std::vector<Source> selectors = decode.sources(index + 1);
  if (selectors.size() != 2) {
    decode.fail("expected {byte-id, thread-id} behind scale factors");
    return {};
  }
  return {decode.source(index), selectors[0], selectors[1]};
}

WarpMma::WarpMma(Decoder &decode, const WarpMmaForm &form) : form(form) {
  addition = additionOf(MatrixUnit::Mma, form.a.element, form.b.element, form.accumulator, form.kind.empty());
  d = decode.dests(0);
  a = decode.sources(1);
  b = decode.sources(2);
  c = decode.sources(3);
  if (form.scales) {
    scaleA = scaleOperand(decode, 4);
    scaleB = scaleOperand(decode, 6);
  }
  tabulate();
}

void WarpMma::tabulate() {
  const MatrixShape &shape = form.shape;
  BlockProduct product(shape.m, shape.n, shape.k);
  for (int reg = 0; reg < form.registersOfA(); ++reg)
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < form.a.perWord(); ++i) {
        MatrixPlace inA = placeInA(shape.m, form.a.perWord(), reg, i, lane);
        placesOfA.push_back(static_cast<uint16_t>(product.placeOfA(inA.row, inA.column)));
      }
  for (int reg = 0; reg < form.registersOfB(); ++reg)
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < form.b.perWord(); ++i) {
        MatrixPlace inB = placeInB(form.b.perWord(), reg, i, lane);
        placesOfB.push_back(static_cast<uint16_t>(product.placeOfB(inB.row, inB.column)));
      }
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < shape.m / 4; ++i) {
      MatrixPlace inC = placeInC(shape.m, i, lane);
      placesOfC.push_back(static_cast<uint16_t>(product.placeOfSum(inC.row, inC.column)));
    }
}

void WarpMma::readOperand(const Lanes &lanes, const std::vector<Source> &registers, const WordPacking &packing,
                          const Places &places, std::vector<double> &into) const {
  constexpr int kMaxPerWord = 32;
  std::array<double, kLanes * kMaxPerWord> values;
  const size_t count = static_cast<size_t>(kLanes) * packing.perWord();
  for (size_t reg = 0; reg < registers.size(); ++reg) {
    if (packing.element == MatrixElement::F64) {
      for (int lane = 0; lane < kLanes; ++lane)
        values[lane] = doubleOfBits(registers[reg](lanes, lane));
    } else {
      std::array<uint32_t, kLanes> words;
      for (int lane = 0; lane < kLanes; ++lane)
        words[lane] = static_cast<uint32_t>(registers[reg](lanes, lane));
      unpackWords(packing, words.data(), kLanes, values.data());
    }
    for (size_t i = 0; i < count; ++i)
      into[places[reg * count + i]] = values[i];
  }
}

/// Reports a selector that the ISA forbids; `threads` is the number of thread-ids.
bool WarpMma::selectorsAreLegal(const Lanes &lanes, const ScaleOperand &operand, uint64_t threads) const {
  const int lane = lanes.leader();
  uint64_t byteId = operand.byteId(lanes, lane), threadId = operand.threadId(lanes, lane);
  if (byteId < 4 && byteId % form.scales == 0 && threadId < threads)
    return true;
  lanes.report(lane, FindingKind::Operand,
               "expected a byte-id below 4 that is a multiple of " + std::to_string(form.scales) +
                   " and a thread-id below " + std::to_string(threads) + ", got " + std::to_string(byteId) + " and " +
                   std::to_string(threadId));
  return false;
}

float WarpMma::scaleOf(const Lanes &lanes, const ScaleOperand &operand, int lane, int block) const {
  uint64_t byte = operand.byteId(lanes, lanes.leader()) + static_cast<uint64_t>(block);
  auto bits = static_cast<uint8_t>(operand.data(lanes, lane) >> (8 * byte));
  return form.fractionalScales ? ue4m3ToFloat(bits) : ue8m0ToFloat(bits);
}

/// Scales the elements: their product with a factor is still exact, and so is the product of two such products.
void WarpMma::readScales(const Lanes &lanes, BlockProduct &product) const {
  if (!selectorsAreLegal(lanes, scaleA, 2) || !selectorsAreLegal(lanes, scaleB, 4))
    return;
  const int selectorA = static_cast<int>(scaleA.threadId(lanes, lanes.leader()));
  const int selectorB = static_cast<int>(scaleB.threadId(lanes, lanes.leader()));
  const int length = product.depth / form.scales;
  for (int row = 0; row < product.rows; ++row)
    for (int k = 0; k < product.depth; ++k)
      product.a[product.placeOfA(row, k)] *= scaleOf(lanes, scaleA, laneOfScaleA(row, selectorA), k / length);
  for (int column = 0; column < product.columns; ++column)
    for (int k = 0; k < product.depth; ++k)
      product.b[product.placeOfB(k, column)] *= scaleOf(lanes, scaleB, laneOfScaleB(column, selectorB), k / length);
}

void WarpMma::multiply(Lanes &lanes, BlockProduct &product) const {
  const int perRegister = form.elementsPerRegisterOfC(), perLane = form.shape.m / 4;
  // All of C is read before any of D is written: they may be the same registers in another order.
  std::array<std::array<uint32_t, kLanes>, kMaxRegistersOfC> before;
  for (size_t reg = 0; reg < c.size(); ++reg)
    for (int lane = 0; lane < kLanes; ++lane)
      before[reg][lane] = static_cast<uint32_t>(c[reg](lanes, lane));
  if (addition.takesAccumulator()) {
    for (size_t reg = 0; reg < c.size(); ++reg)
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int i = 0; i < perRegister; ++i)
          product.sums[placesOfC[lane * perLane + reg * perRegister + i]] =
              accumulatorValue(form.accumulator, before[reg][lane] >> (16 * i));
        before[reg][lane] = 0; // the sums have it
      }
  }
  product.multiply(addition);
  for (size_t reg = 0; reg < d.size(); ++reg) {
    lanes.forEach([&](int lane) {
      uint32_t after = 0;
      for (int i = 0; i < perRegister; ++i) {
        double sum = product.sums[placesOfC[lane * perLane + reg * perRegister + i]];
        if (form.countsDifferences)
          sum = (form.shape.k - sum) / 2;
        after |= accumulated(form.accumulator, before[reg][lane] >> (16 * i), sum) << (16 * i);
      }
      d[reg].set(lanes, lane, after);
    });
  }
}

void WarpMma::accumulateF64(Lanes &lanes, BlockProduct &product) const {
  const size_t perLane = d.size();
  for (int lane = 0; lane < kLanes; ++lane)
    for (size_t reg = 0; reg < perLane; ++reg)
      product.sums[placesOfC[lane * perLane + reg]] = doubleOfBits(c[reg](lanes, lane));
  product.multiplyFused();
  lanes.forEach([&](int lane) {
    for (size_t reg = 0; reg < perLane; ++reg)
      d[reg].set(lanes, lane, bitsOfDouble(product.sums[placesOfC[lane * perLane + reg]]));
  });
}

void WarpMma::run(Lanes &lanes) const {
  requireWholeWarp(lanes);
  BlockProduct product(form.shape.m, form.shape.n, form.shape.k);
  readOperand(lanes, a, form.a, placesOfA, product.a);
  readOperand(lanes, b, form.b, placesOfB, product.b);
  if (form.accumulator == MmaAccumulator::F64)
    return accumulateF64(lanes, product);
  if (form.scales)
    readScales(lanes, product);
  multiply(lanes, product);
}

} // namespace

Evaluator makeMma(Decoder &decode) {
  std::string error;
  std::optional<WarpMmaForm> form = parseMma(decode.instruction.opcode, error);
  if (!form) {
    decode.fail(error);
    return {};
  }
  if (!expectRegisters(decode, 0, form->registersOfC(), "D") ||
      !expectRegisters(decode, 1, form->registersOfA(), "A") ||
      !expectRegisters(decode, 2, form->registersOfB(), "B") || !expectRegisters(decode, 3, form->registersOfC(), "C"))
    return {};
  size_t expected = form->scales ? 8 : 4;
  if (decode.numOperands() != expected) {
    decode.fail("expected " + std::to_string(expected) + " operands, got " + std::to_string(decode.numOperands()));
    return {};
  }
  decode.executedBy(Scope::Warp);
  auto mma = std::make_shared<const WarpMma>(decode, *form);
  return [mma](Lanes &lanes) {
    mma->run(lanes);
    return Step::Done;
  };
}

} // namespace headrace::sim
