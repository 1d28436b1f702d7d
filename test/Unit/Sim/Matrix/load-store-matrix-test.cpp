// ldmatrix, stmatrix and movmatrix on shared memory.
#include "MatrixMachine.h"

#include <cstring>

using namespace headrace::sim;

namespace {

constexpr int64_t kBase = 4096;

/// Puts row addresses into %r0: lane l has the row at `place(l)` bytes from kBase.
template <typename Place> void setAddresses(MatrixMachine &machine, Place place) {
  for (int lane = 0; lane < kLanes; ++lane)
    machine.cells("%r0")[lane] = static_cast<uint64_t>(kBase + place(lane));
  machine.define("%r0");
}

/// 16-bit element i of shared memory from kBase on is i.
void fillShared(MatrixMachine &machine) {
  std::vector<uint16_t> elements(1024);
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = static_cast<uint16_t>(i);
  machine.writeShared(kBase, elements.data(), 2048);
}

TEST(Ldmatrix, GivesTheFragmentOfMma) {
  // A 16 x 16 tile, row-major: the recipe of hardware.md 5.3.
  MatrixMachine machine("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r0];", {});
  ASSERT_EQ(machine.error, "");
  fillShared(machine);
  setAddresses(machine, [](int lane) { return (lane & 15) * 32 + 16 * (lane >> 4); });
  machine.run();
  machine.expectNoFindings();
  for (int lane = 0; lane < kLanes; ++lane)
    for (int r = 0; r < 4; ++r) {
      uint32_t row = lane / 4 + 8 * (r & 1), column = 2 * (lane % 4) + 8 * (r >> 1), first = row * 16 + column;
      EXPECT_EQ(machine.cells("%r" + std::to_string(1 + r))[lane], first | (first + 1) << 16);
    }
}

TEST(Ldmatrix, Transposes) {
  MatrixMachine machine("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%r1, %r2}, [%r0+16];", {});
  ASSERT_EQ(machine.error, "");
  fillShared(machine);
  setAddresses(machine, [](int lane) { return lane * 16 - 16; });
  machine.run();
  machine.expectNoFindings();
  for (int lane = 0; lane < kLanes; ++lane)
    for (int r = 0; r < 2; ++r) {
      uint32_t row = 8 * r + 2 * (lane % 4), column = lane / 4;
      EXPECT_EQ(machine.cells("%r" + std::to_string(1 + r))[lane], (row * 8 + column) | ((row + 1) * 8 + column) << 16);
    }
}

TEST(Ldmatrix, UnpacksSmallElements) {
  // Row r, element c of 4 bits: (r + c) % 16. The padding is never written, and nobody must miss it.
  MatrixMachine machine("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r1}, [%r0];"
                        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b4x16_p64 {%r2, %r3}, [%r0];",
                        {1, "sm_120a"});
  ASSERT_EQ(machine.error, "");
  for (int r = 0; r < 16; ++r) {
    uint8_t row[8];
    for (int c = 0; c < 16; c += 2)
      row[c / 2] = static_cast<uint8_t>((r + c) % 16 | (r + c + 1) % 16 << 4);
    machine.writeShared(kBase + 16 * r, row, 8);
  }
  setAddresses(machine, [](int lane) { return lane * 16; });
  machine.run();
  machine.expectNoFindings();
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < 4; ++i) {
      const int g = lane / 4, q = lane % 4;
      EXPECT_EQ(machine.cells("%r1")[lane] >> (8 * i) & 0xFF, static_cast<uint64_t>((g + 4 * q + i) % 16));
      EXPECT_EQ(machine.cells("%r2")[lane] >> (8 * i) & 0xFF, static_cast<uint64_t>((4 * q + i + g) % 16));
      EXPECT_EQ(machine.cells("%r3")[lane] >> (8 * i) & 0xFF, static_cast<uint64_t>((4 * q + i + g + 8) % 16));
    }
}

TEST(Ldmatrix, ChecksAddresses) {
  MatrixMachine machine("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];", {});
  fillShared(machine);
  setAddresses(machine, [](int lane) { return lane * 16 + 8 * (lane == 5); });
  machine.run();
  machine.expectFinding("misaligned: expected the address of a matrix row to be a multiple of 16, got 0x1058");
}

// On sm_75 also the lanes whose rows are not loaded need an address.
TEST(Ldmatrix, OldChipsReadUnusedAddresses) {
  for (const char *target : {"sm_75", "sm_80"}) {
    MatrixMachine machine("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];", {1, target});
    fillShared(machine);
    setAddresses(machine, [](int lane) { return lane < 8 ? lane * 16 : 0xFFFFF0; });
    machine.run();
    if (std::string(target) == "sm_75")
      machine.expectFinding("expected a valid address also in lane 8");
    else
      machine.expectNoFindings();
  }
}

TEST(Stmatrix, IsTheMirrorOfLdmatrix) {
  for (const char *layout : {"m8n8.x4.shared.b16", "m8n8.x4.trans.shared.b16"}) {
    std::string list = "{%r1, %r2, %r3, %r4}", back = "{%r5, %r6, %r7, %r8}";
    MatrixMachine machine("stmatrix.sync.aligned." + std::string(layout) + " [%r0], " + list +
                              ";bar.warp.sync 0xffffffff;ldmatrix.sync.aligned." + layout + " " + back + ", [%r0];",
                          {});
    ASSERT_EQ(machine.error, "");
    setAddresses(machine, [](int lane) { return lane * 48; });
    for (int r = 1; r <= 4; ++r) {
      for (int lane = 0; lane < kLanes; ++lane)
        machine.cells("%r" + std::to_string(r))[lane] = static_cast<uint64_t>(r * 1000 + lane) * 65537;
      machine.define("%r" + std::to_string(r));
    }
    machine.run();
    machine.expectNoFindings();
    for (int r = 1; r <= 4; ++r)
      for (int lane = 0; lane < kLanes; ++lane)
        EXPECT_EQ(machine.cells("%r" + std::to_string(r + 4))[lane], static_cast<uint64_t>(r * 1000 + lane) * 65537);
  }
}

// Bytes of a C fragment: element (row, column) of a 16 x 8 matrix goes to byte `row` of row `column`.
TEST(Stmatrix, StoresBytesTransposed) {
  MatrixMachine machine("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r0], {%r1};", {1, "sm_120a"});
  ASSERT_EQ(machine.error, "");
  setAddresses(machine, [](int lane) { return lane * 16; });
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t word = 0;
    for (int i = 0; i < 4; ++i) {
      int row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
      word |= static_cast<uint32_t>(row * 8 + column) << (8 * i);
    }
    machine.cells("%r1")[lane] = word;
  }
  machine.define("%r1");
  machine.run();
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column)
      EXPECT_EQ(*machine.cluster->ctas[0]->shared.peek(kBase + column * 16 + row), row * 8 + column);
}

TEST(Movmatrix, Transposes) {
  MatrixMachine machine("movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r1;", {});
  ASSERT_EQ(machine.error, "");
  auto word = [](int lane, bool transposed) {
    uint32_t result = 0;
    for (int i = 0; i < 2; ++i) {
      int row = lane / 4, column = 2 * (lane % 4) + i;
      result |= static_cast<uint32_t>(transposed ? column * 8 + row : row * 8 + column) << (16 * i);
    }
    return result;
  };
  for (int lane = 0; lane < kLanes; ++lane)
    machine.cells("%r1")[lane] = word(lane, false);
  machine.define("%r1");
  machine.run();
  for (int lane = 0; lane < kLanes; ++lane)
    EXPECT_EQ(machine.cells("%r1")[lane], word(lane, true));
}

TEST(Ldmatrix, RefusesForms) {
  for (const char *opcode :
       {"ldmatrix.sync.aligned.m8n8.x1.shared.b8", "ldmatrix.sync.aligned.m16n16.x1.shared.b8",
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8", "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16",
        "ldmatrix.sync.aligned.m8n8.x1.trans.trans.shared.b16", "ldmatrix.aligned.m8n8.x1.shared.b16"})
    EXPECT_NE(MatrixMachine(std::string(opcode) + " {%r1}, [%r0];", {}).error, "") << opcode;
  EXPECT_NE(MatrixMachine("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [%r0];", {}).error, "");
  EXPECT_NE(MatrixMachine("stmatrix.sync.aligned.m16n8.x1.shared.b8 [%r0], {%r1};", {}).error, "");
}

} // namespace
