// mma.sync run on random matrices, against a product of the matrices.
#include "MatrixMachine.h"
#include "MatrixValues.h"

#include "headrace/Sim/Matrix/Fragments.h"
#include "headrace/Sim/Matrix/MmaForm.h"

using namespace headrace::sim;

namespace {

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// One mma with its matrices. Registers: D and C 0.., A 10.., B 20.., scale factors 30 and 31; %d of f64 alike.
class MmaRun {
public:
  explicit MmaRun(const std::string &opcode) : opcode(opcode) {
    std::string error;
    form = *parseMma(split(opcode), error);
    isDouble = form.accumulator == MmaAccumulator::F64;
    prefix = isDouble ? "%d" : "%r";
    std::string d = registerList(prefix, 0, form.registersOfC());
    text = opcode + " " + d + ", " + registerList(prefix, 10, form.registersOfA()) + ", " +
           registerList(prefix, 20, form.registersOfB()) + ", " + d;
  }

  MatrixMachine machine() const { return {text + ";", {}}; }
  MatrixMachine machine(const std::string &scales) const { return {text + scales + ";", {}}; }

  void draw(MatrixMachine &machine, int seed) {
    std::mt19937 random(seed);
    const MatrixShape &shape = form.shape;
    a.resize(shape.m * shape.k);
    b.resize(shape.k * shape.n);
    c.resize(shape.m * shape.n);
    for (double &value : a)
      value = drawValue(form.a.element, random);
    for (double &value : b)
      value = drawValue(form.b.element, random);
    for (double &value : c)
      value = static_cast<int>(random() % 64) - 32;
    for (int reg = 0; reg < form.registersOfA(); ++reg)
      for (int lane = 0; lane < kLanes; ++lane)
        for (int i = 0; i < form.a.perWord(); ++i) {
          MatrixPlace place = placeInA(shape.m, form.a.perWord(), reg, i, lane);
          put(machine, 10 + reg, lane, form.a, i, a[place.row * shape.k + place.column]);
        }
    for (int reg = 0; reg < form.registersOfB(); ++reg)
      for (int lane = 0; lane < kLanes; ++lane)
        for (int i = 0; i < form.b.perWord(); ++i) {
          MatrixPlace place = placeInB(form.b.perWord(), reg, i, lane);
          put(machine, 20 + reg, lane, form.b, i, b[place.row * shape.n + place.column]);
        }
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < shape.m / 4; ++i) {
        MatrixPlace place = placeInC(shape.m, i, lane);
        put(machine, i / form.elementsPerRegisterOfC(), lane, packingOfC(), i % form.elementsPerRegisterOfC(),
            c[place.row * shape.n + place.column]);
      }
  }

  /// What D must be, with factors for rows of A and columns of B at each k.
  template <typename ScaleA, typename ScaleB> double expected(int row, int column, ScaleA scaleA, ScaleB scaleB) const {
    const MatrixShape &shape = form.shape;
    double sum = c[row * shape.n + column];
    for (int k = 0; k < shape.k; ++k) {
      double x = a[row * shape.k + k], y = b[k * shape.n + column];
      sum += form.countsDifferences ? (x != y ? 1 : 0) : x * scaleA(row, k) * y * scaleB(column, k);
    }
    return sum;
  }
  template <typename ScaleA, typename ScaleB>
  void expectProduct(MatrixMachine &machine, ScaleA scaleA, ScaleB scaleB) const {
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < form.shape.m / 4; ++i) {
        MatrixPlace place = placeInC(form.shape.m, i, lane);
        int per = form.elementsPerRegisterOfC();
        uint64_t word = machine.cells(prefix + std::to_string(i / per))[lane];
        uint64_t got = per == 2 ? word >> (16 * (i % 2)) & 0xFFFF : word;
        ASSERT_EQ(got, patternOf(packingOfC(), expected(place.row, place.column, scaleA, scaleB)))
            << opcode << " at " << place.row << ", " << place.column;
      }
    machine.expectNoFindings();
  }
  void expectProduct(MatrixMachine &machine) const {
    auto one = [](int, int) { return 1.0; };
    expectProduct(machine, one, one);
  }

  WarpMmaForm form;
  std::vector<double> a, b, c; // row-major

private:
  WordPacking packingOfC() const {
    switch (form.accumulator) {
    case MmaAccumulator::F16:
      return densePacking(MatrixElement::F16);
    case MmaAccumulator::F64:
      return densePacking(MatrixElement::F64);
    case MmaAccumulator::F32:
      return {MatrixElement::F16, 32, 0}; // not a type of elements: see put and patternOf below
    default:
      return {MatrixElement::S8, 32, 0};
    }
  }
  static uint64_t patternOf(const WordPacking &packing, double value) {
    bool isFloat = packing.element == MatrixElement::F16 && packing.bits == 32;
    return isFloat ? bitsOfFloat(static_cast<float>(value)) : headrace::sim::patternOf(packing, value);
  }
  void put(MatrixMachine &machine, int reg, int lane, const WordPacking &packing, int i, double value) const {
    std::string name = prefix + std::to_string(reg);
    uint64_t &cell = machine.cells(name)[lane];
    int shift = packing.bits < 32 ? i * packing.bits : 0;
    uint64_t mask = packing.bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << packing.bits) - 1;
    cell = (cell & ~(mask << shift)) | patternOf(packing, value) << shift;
    machine.define(name);
  }

  std::string opcode, text, prefix;
  bool isDouble;
};

TEST(Mma, MultipliesInAllForms) {
  for (const char *rest : {"m16n8k8.row.col.f32.f16.f16.f32",
                           "m16n8k16.row.col.f32.f16.f16.f32",
                           "m16n8k8.row.col.f16.f16.f16.f16",
                           "m16n8k16.row.col.f16.f16.f16.f16",
                           "m16n8k8.row.col.f32.bf16.bf16.f32",
                           "m16n8k16.row.col.f32.bf16.bf16.f32",
                           "m16n8k4.row.col.f32.tf32.tf32.f32",
                           "m16n8k8.row.col.f32.tf32.tf32.f32",
                           "m8n8k16.row.col.s32.s8.u8.s32",
                           "m16n8k16.row.col.s32.u8.s8.s32",
                           "m16n8k32.row.col.satfinite.s32.s8.s8.s32",
                           "m16n8k32.row.col.s32.u8.u8.s32",
                           "m8n8k32.row.col.s32.s4.u4.s32",
                           "m16n8k32.row.col.s32.u4.s4.s32",
                           "m16n8k64.row.col.s32.s4.s4.s32",
                           "m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
                           "m16n8k128.row.col.s32.b1.b1.s32.and.popc",
                           "m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
                           "m16n8k256.row.col.s32.b1.b1.s32.and.popc",
                           "m8n8k4.row.col.f64.f64.f64.f64",
                           "m16n8k4.row.col.f64.f64.f64.f64",
                           "m16n8k8.row.col.f64.f64.f64.f64",
                           "m16n8k16.row.col.f64.f64.f64.f64",
                           "m16n8k16.row.col.f32.e4m3.e5m2.f32",
                           "m16n8k32.row.col.f32.e5m2.e4m3.f32",
                           "m16n8k32.row.col.f16.e4m3.e4m3.f16",
                           "m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32",
                           "m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e4m3.f32",
                           "m16n8k32.row.col.kind::f8f6f4.f16.e2m1.e5m2.f16"}) {
    for (int seed = 0; seed < 3; ++seed) {
      MmaRun run(std::string("mma.sync.aligned.") + rest);
      MatrixMachine machine = run.machine();
      ASSERT_EQ(machine.error, "") << rest;
      run.draw(machine, seed);
      machine.run();
      run.expectProduct(machine);
    }
  }
}

struct Scaling {
  const char *opcode;
  int scales;
  bool fractional;
};

TEST(Mma, ScalesBlocks) {
  const Scaling kinds[] = {
      {"m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e2m1.f32.ue8m0", 1, false},
      {"m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", 2, false},
      {"m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", 4, true}};
  for (const Scaling &kind : kinds)
    for (int byte = 0; byte < 4; byte += kind.scales)
      for (int threadA = 0; threadA < 2; ++threadA)
        for (int threadB = 0; threadB < 4; ++threadB) {
          MmaRun run(std::string("mma.sync.aligned.") + kind.opcode);
          std::string selectors = ", {" + std::to_string(byte) + ", ";
          MatrixMachine machine = run.machine(", %r30" + selectors + std::to_string(threadA) + "}, %r31" + selectors +
                                              std::to_string(threadB) + "}");
          ASSERT_EQ(machine.error, "");
          run.draw(machine, byte);
          std::mt19937 random(threadA + 2 * threadB);
          for (const char *name : {"%r30", "%r31"}) {
            for (int lane = 0; lane < kLanes; ++lane) {
              uint32_t word = 0;
              for (int i = 0; i < 4; ++i) {
                int power = static_cast<int>(random() % 3) - 1;
                word |= (kind.fractional ? (7 + power) << 3 : 127 + power) << (8 * i);
              }
              machine.cells(name)[lane] = word;
            }
            machine.define(name);
          }
          machine.run();
          auto scale = [&](const char *name, int lane, int k) {
            int block = k / (run.form.shape.k / kind.scales);
            auto bits = static_cast<uint8_t>(machine.cells(name)[lane] >> (8 * (byte + block)));
            return kind.fractional ? ue4m3ToFloat(bits) : ue8m0ToFloat(bits);
          };
          run.expectProduct(
              machine, [&](int row, int k) { return scale("%r30", 4 * (row % 8) + 2 * threadA + row / 8, k); },
              [&](int column, int k) { return scale("%r31", 4 * column + threadB, k); });
        }
}

TEST(Mma, RefusesSelectors) {
  MmaRun run("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0");
  MatrixMachine machine = run.machine(", %r30, {1, 0}, %r31, {0, 0}");
  ASSERT_EQ(machine.error, "");
  run.draw(machine, 0);
  machine.setAll("%r30", 0x7F7F7F7F);
  machine.setAll("%r31", 0x7F7F7F7F);
  machine.run();
  machine.expectFinding("expected a byte-id below 4 that is a multiple of 2");
}

TEST(Mma, ReadsAllOfCBeforeItWritesD) {
  // D is C with its registers in reverse.
  MatrixMachine machine("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%r3, %r2, %r1, %r0}, {%r10, %r11}, "
                        "{%r12}, {%r0, %r1, %r2, %r3};",
                        {});
  ASSERT_EQ(machine.error, "");
  for (int i = 0; i < 4; ++i)
    machine.setAll("%r" + std::to_string(i), bitsOfFloat(static_cast<float>(i)));
  for (const char *name : {"%r10", "%r11", "%r12"})
    machine.setAll(name, 0);
  machine.run();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(machine.cells("%r" + std::to_string(i))[7], bitsOfFloat(static_cast<float>(3 - i)));
}

TEST(Mma, RefusesOperands) {
  EXPECT_NE(MatrixMachine("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r0, %r1, %r2, %r3}, {%r4, %r5}, "
                          "{%r6, %r7}, {%r0, %r1, %r2, %r3};",
                          {})
                .error.find("expected 4 registers of A, got 2"),
            std::string::npos);
  EXPECT_NE(MatrixMachine("mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r0, %r1, %r2, %r3}, {%r4, %r5}, "
                          "{%r6, %r7}, {%r0, %r1, %r2, %r3}, %r8, 0;",
                          {})
                .error.find("got 'sp'"),
            std::string::npos);
}

} // namespace
