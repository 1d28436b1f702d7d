// A wgmma with its matrices, laid out in shared memory as TMA would, or A in registers.
#ifndef HEADRACE_TEST_UNIT_SIM_MATRIX_WGMMARUN_H
#define HEADRACE_TEST_UNIT_SIM_MATRIX_WGMMARUN_H

#include "MatrixMachine.h"
#include "MatrixValues.h"

#include "headrace/Sim/Matrix/Fragments.h"
#include "headrace/Sim/Matrix/WgmmaForm.h"

#include <algorithm>
#include <cmath>

namespace headrace::sim {

inline const std::string kWgmmaFence = "wgmma.fence.sync.aligned;\n";
inline const std::string kWgmmaCommit = "wgmma.commit_group.sync.aligned;\n";
inline const std::string kWgmmaWait = "wgmma.wait_group.sync.aligned 0;\n";

/// How an operand lies in shared memory.
struct OperandLayout {
  uint32_t swizzle = 128; // 0, 32, 64, 128
  bool mnMajor = false;
  uint32_t base = 0x2000;
};

/// An operand: its values, and its place. Rows are those of M or N.
class WgmmaOperand {
public:
  WgmmaOperand(WordPacking packing, int rows, int depth, OperandLayout layout)
      : packing(packing), rows(rows), depth(depth), layout(layout), values(rows * depth) {}

  double &at(int row, int k) { return values[row * depth + k]; }
  double at(int row, int k) const { return values[row * depth + k]; }
  void draw(std::mt19937 &random) {
    for (double &value : values)
      value = drawValue(packing.element, random);
  }

  /// Bytes from one 8-row core (or panel of M or N) to the next, and from the first 16 bytes of K to the next ones.
  uint64_t descriptor() const {
    const uint64_t codes[] = {0, 3, 2, 0, 1}; // by swizzle / 32
    uint32_t leading, stride;
    if (layout.swizzle == 0) {
      leading = layout.mnMajor ? 128 : rows * 16; // the next 8 of k; the next 16 bytes of K
      stride = layout.mnMajor ? depth * 16 : 128; // the next 16 bytes of MN; the next 8 rows
    } else {
      leading = depth * layout.swizzle;
      stride = 8 * layout.swizzle;
    }
    return layout.base >> 4 | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 |
           codes[layout.swizzle / 32] << 62;
  }

  /// Writes the values where the descriptor says.
  void store(MatrixMachine &machine, uint32_t rank = 0) const {
    std::vector<uint8_t> image(1 << 16);
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < depth; ++k) {
        int inner = layout.mnMajor ? row : k, outer = layout.mnMajor ? k : row;
        uint32_t address = layout.base + placeOf(inner * packing.bits / 8, outer), width = layout.swizzle;
        if (width)
          address ^= (address >> 7 & (width / 16 - 1)) << 4;
        uint64_t pattern = patternOf(packing, at(row, k)) << (inner * packing.bits % 8);
        for (int byte = 0; byte < (packing.bits + 7) / 8; ++byte)
          image[address - layout.base + byte] |= static_cast<uint8_t>(pattern >> (8 * byte));
      }
    machine.writeShared(layout.base, image.data(), layout.base >= 0x10000 ? 0x10000 : 0x10000 - layout.base, rank);
  }

  WordPacking packing;
  int rows;
  int depth;
  OperandLayout layout;

private:
  /// Offset of byte `byte` of a line along the contiguous dimension, before the swizzle.
  uint32_t placeOf(uint32_t byte, uint32_t line) const {
    uint32_t panel = layout.swizzle ? layout.swizzle : 16, lines = layout.mnMajor ? depth : rows;
    return byte / panel * (lines * panel) + line * panel + byte % panel;
  }

  std::vector<double> values;
};

class WgmmaRun {
public:
  /// `rest`: "m64n8k16.f32.bf16.bf16".
  WgmmaRun(const std::string &rest, OperandLayout layoutOfA, OperandLayout layoutOfB)
      : form(parse(rest)), a(form.a, 64, form.shape.k, layoutOfA), b(form.b, form.shape.n, form.shape.k, layoutOfB),
        opcode("wgmma.mma_async.sync.aligned." + rest) {
    std::mt19937 random(form.shape.n);
    a.draw(random);
    b.draw(random);
    c.resize(64 * form.shape.n);
    for (double &value : c)
      value = static_cast<int>(random() % 64) - 32;
  }

  /// The instruction with its accumulators from %r`first` on, `aText` and the rest of the operands.
  std::string text(const std::string &aText = "%d0", const std::string &rest = "", int first = 0) const {
    std::string tail = rest.empty() ? ", 1" + std::string(form.hasSigns() ? ", 1, 1" : "") + transposes(aText) : rest;
    return opcode + " " + registerList("%r", first, form.registersOfD()) + ", " + aText + ", %d1" + tail + ";\n";
  }
  std::string transposes(const std::string &aText) const {
    if (!form.hasTransposes())
      return "";
    std::string ofB = b.layout.mnMajor ? ", 1" : ", 0";
    return aText[0] == '{' ? ofB : (a.layout.mnMajor ? ", 1" : ", 0") + ofB;
  }

  /// Gives the machine the operands: matrices, descriptors %d0 and %d1, A in %r200.., C in %r`first`...
  void load(MatrixMachine &machine, int first = 0, uint32_t rank = 0) const {
    a.store(machine, rank);
    b.store(machine, rank);
    machine.setAll("%d0", a.descriptor());
    machine.setAll("%d1", b.descriptor());
    for (int warp = 0; warp < 4; ++warp)
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int reg = 0; reg < 4; ++reg)
          machine.cells("%r" + std::to_string(200 + reg), warp, rank)[lane] = wordOfA(warp, reg, lane);
        for (int reg = 0; reg < form.registersOfD(); ++reg)
          machine.cells("%r" + std::to_string(first + reg), warp, rank)[lane] = word(warp, reg, lane, c);
      }
    for (int reg = 0; reg < 4; ++reg)
      machine.define("%r" + std::to_string(200 + reg));
    for (int reg = 0; reg < form.registersOfD(); ++reg)
      machine.define("%r" + std::to_string(first + reg));
  }

  /// Expects D = factor * A * B + scaleOfC * C in %r`first`...
  void expectProduct(MatrixMachine &machine, double factor = 1, double scaleOfC = 1, int first = 0,
                     uint32_t rank = 0) const {
    std::vector<double> d(c.size());
    for (int row = 0; row < 64; ++row)
      for (int column = 0; column < form.shape.n; ++column) {
        double sum = 0;
        for (int k = 0; k < form.shape.k; ++k)
          sum += a.at(row, k) * b.at(column, k);
        d[row * form.shape.n + column] = factor * sum + scaleOfC * c[row * form.shape.n + column];
      }
    for (int warp = 0; warp < 4; ++warp)
      for (int reg = 0; reg < form.registersOfD(); ++reg)
        for (int lane = 0; lane < kLanes; ++lane)
          ASSERT_EQ(machine.cells("%r" + std::to_string(first + reg), warp, rank)[lane], word(warp, reg, lane, d))
              << opcode << " warp " << warp << " register " << reg << " lane " << lane;
  }

  WgmmaForm form;
  WgmmaOperand a, b;
  std::vector<double> c;

private:
  static WgmmaForm parse(const std::string &rest) {
    std::vector<std::string> parts = {"wgmma", "mma_async", "sync", "aligned", ""};
    for (char character : rest) {
      if (character == '.')
        parts.emplace_back();
      else
        parts.back() += character;
    }
    std::string error;
    return *parseWgmma(parts, error);
  }
  uint64_t wordOfA(int warp, int reg, int lane) const {
    uint64_t result = 0;
    for (int i = 0; i < form.a.perWord(); ++i) {
      MatrixPlace place = placeInWarpgroupA(warp, form.a.perWord(), reg, i, lane);
      result |= patternOf(form.a, a.at(place.row, place.column)) << (i * form.a.bits);
    }
    return result;
  }
  uint64_t word(int warp, int reg, int lane, const std::vector<double> &matrix) const {
    uint64_t result = 0;
    int per = form.elementsPerRegisterOfD();
    for (int i = 0; i < per; ++i) {
      MatrixPlace place = placeInWarpgroupD(warp, reg * per + i, lane);
      double value = matrix[place.row * form.shape.n + place.column];
      uint64_t bits = form.accumulator == MmaAccumulator::F16   ? encodeFloat(value, kF16)
                      : form.accumulator == MmaAccumulator::F32 ? bitsOfFloat(static_cast<float>(value))
                                                                : static_cast<uint32_t>(static_cast<int32_t>(value));
      result |= bits << (16 * i);
    }
    return result;
  }

  std::string opcode;
};

} // namespace headrace::sim

#endif
