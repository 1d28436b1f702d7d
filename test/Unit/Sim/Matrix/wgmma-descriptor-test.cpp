// Matrix descriptors of wgmma: fields, and the canonical layouts of PTX ISA 9.7.15.5.1.2.1.3 on all points.
#include "headrace/Sim/Matrix/WgmmaDescriptor.h"

#include "gtest/gtest.h"

#include <set>

using namespace headrace::sim;

namespace {

uint64_t bits(uint32_t start, uint32_t leading, uint32_t stride, uint64_t swizzleCode, uint64_t baseOffset = 0) {
  return start >> 4 | static_cast<uint64_t>(leading >> 4) << 16 | static_cast<uint64_t>(stride >> 4) << 32 |
         baseOffset << 49 | swizzleCode << 62;
}

/// Exchanges pieces as TMA does, by absolute address (hardware.md 4.2).
uint32_t swizzled(uint32_t address, uint32_t swizzle) {
  uint32_t mask = swizzle / 16 - 1;
  return swizzle ? address ^ (address >> 7 & mask) << 4 : address;
}

const struct {
  uint32_t width;
  uint64_t code;
} kSwizzles[] = {{128, 1}, {64, 2}, {32, 3}};

TEST(WgmmaDescriptor, Fields) {
  // The golden descriptors of hardware.md 6.4.
  WgmmaDescriptor kMajor = WgmmaDescriptor::decode(0x4000004000010040);
  EXPECT_EQ(kMajor.start, 0x400u);
  EXPECT_EQ(kMajor.leading, 16u);
  EXPECT_EQ(kMajor.stride, 1024u);
  EXPECT_EQ(kMajor.swizzle, 128u);
  EXPECT_EQ(kMajor.baseOffset, 0u);
  WgmmaDescriptor mnMajor = WgmmaDescriptor::decode(0x4000004002000040);
  EXPECT_EQ(mnMajor.leading, 8192u);
  EXPECT_EQ(mnMajor.stride, 1024u);
  EXPECT_EQ(WgmmaDescriptor::decode(bits(0x3FFF0, 0, 0, 3, 5)).start, 0x3FFF0u);
  EXPECT_EQ(WgmmaDescriptor::decode(bits(0, 0, 0, 3, 5)).swizzle, 32u);
  EXPECT_EQ(WgmmaDescriptor::decode(bits(0, 0, 0, 2, 5)).baseOffset, 5u);
  EXPECT_EQ(WgmmaDescriptor::decode(bits(0, 0, 0, 0)).swizzle, 0u);
}

TEST(WgmmaDescriptor, UnusedBits) {
  EXPECT_EQ(WgmmaDescriptor::invalid(0x4000004000010040), "");
  EXPECT_EQ(WgmmaDescriptor::invalid(bits(0x3FFF0, 0x3FFF0, 0x3FFF0, 1, 7)), "");
  for (int bit : {14, 15, 30, 31, 46, 47, 48, 52, 53, 60, 61})
    EXPECT_NE(WgmmaDescriptor::invalid(0x4000004000010040 | uint64_t(1) << bit), "") << bit;
  EXPECT_NE(WgmmaDescriptor::invalid(bits(0x400, 0, 0, 0, 1)), "");
}

TEST(WgmmaDescriptor, KMajorWithoutSwizzle) {
  // Panels of 16 bytes of K, each 256 rows.
  WgmmaDescriptor matrix = WgmmaDescriptor::decode(bits(0x800, 256 * 16, 128, 0));
  for (int row = 0; row < 256; ++row)
    for (int piece = 0; piece < 2; ++piece)
      EXPECT_EQ(matrix.address(false, row, piece), 0x800u + row * 16 + piece * 4096);
  // Cores of 8 rows packed along K first: 4 of them.
  matrix = WgmmaDescriptor::decode(bits(0x800, 128, 512, 0));
  for (int row = 0; row < 64; ++row)
    for (int piece = 0; piece < 2; ++piece)
      EXPECT_EQ(matrix.address(false, row, piece), 0x800u + row % 8 * 16 + row / 8 * 512 + piece * 128);
}

// A tile as TMA writes it, box {S / 2 of K, rows}: all steps of 32 bytes along K inside a row of the tile.
TEST(WgmmaDescriptor, KMajorReadsTiles) {
  for (auto [width, code] : kSwizzles) {
    for (uint32_t base : {0x400u, 0x2000u, 0x2C00u}) {
      std::set<uint32_t> seen;
      for (uint32_t step = 0; step < width / 32; ++step) {
        WgmmaDescriptor matrix = WgmmaDescriptor::decode(bits(base + 32 * step, 16, 8 * width, code));
        for (int row = 0; row < 64; ++row)
          for (int piece = 0; piece < 2; ++piece) {
            uint32_t address = matrix.address(false, row, piece);
            EXPECT_EQ(address, swizzled(base + row * width + step * 32 + piece * 16, width));
            seen.insert(address);
          }
      }
      EXPECT_EQ(seen.size(), 64 * width / 16); // every piece of the tile once
    }
  }
}

TEST(WgmmaDescriptor, KMajorIgnoresLeading) {
  for (int row = 0; row < 64; ++row)
    EXPECT_EQ(WgmmaDescriptor::decode(bits(0x400, 0x1230, 1024, 1)).address(false, row, 1),
              WgmmaDescriptor::decode(bits(0x400, 16, 1024, 1)).address(false, row, 1));
}

TEST(WgmmaDescriptor, MnMajorWithoutSwizzle) {
  WgmmaDescriptor matrix = WgmmaDescriptor::decode(bits(0x400, 0x800, 0x100, 0));
  for (int k = 0; k < 16; ++k)
    for (int piece = 0; piece < 8; ++piece)
      EXPECT_EQ(matrix.address(true, k, piece), 0x400u + k % 8 * 16 + k / 8 * 0x800 + piece * 0x100);
}

// K rows of 256 elements of 16 bits, in panels of the swizzle's width and 64 rows of K.
TEST(WgmmaDescriptor, MnMajorReadsPanels) {
  for (auto [width, code] : kSwizzles) {
    const uint32_t base = 0x400, panel = 64 * width;
    std::set<uint32_t> seen;
    for (int step = 0; step < 4; ++step) {
      WgmmaDescriptor matrix = WgmmaDescriptor::decode(bits(base + step * 16 * width, panel, 8 * width, code));
      for (int k = 0; k < 16; ++k)
        for (int piece = 0; piece < 32; ++piece) {
          uint32_t address = matrix.address(true, k, piece), byte = piece * 16;
          EXPECT_EQ(address, swizzled(base + byte / width * panel + (step * 16 + k) * width + byte % width, width));
          seen.insert(address);
        }
    }
    EXPECT_EQ(seen.size(), 64u * 32);
  }
}

// A pattern that starts at any line reads as one at line 0, when the descriptor says so.
TEST(WgmmaDescriptor, BaseOffsetMovesThePattern) {
  for (auto [width, code] : kSwizzles) {
    WgmmaDescriptor aligned = WgmmaDescriptor::decode(bits(0x400, 16, 8 * width, code));
    for (uint32_t line = 0; line < 8; ++line) {
      uint32_t moved = 0x400 + line * 128;
      WgmmaDescriptor matrix = WgmmaDescriptor::decode(bits(moved, 16, 8 * width, code, moved >> 7 & 7));
      for (int row = 0; row < 32; ++row)
        for (int piece = 0; piece < 2; ++piece)
          EXPECT_EQ(matrix.address(false, row, piece) - moved, aligned.address(false, row, piece) - 0x400);
    }
  }
}

} // namespace
