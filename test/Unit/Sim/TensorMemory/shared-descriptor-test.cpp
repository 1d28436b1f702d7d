// Descriptors of matrices in shared memory: golden values, and every address of every canonical layout.
#include "headrace/Sim/TensorMemory/SharedDescriptor.h"

#include "gtest/gtest.h"

#include <set>

using namespace headrace::sim;

namespace {

SharedDescriptor decoded(uint64_t bits) {
  std::string error;
  auto result = decodeSharedDescriptor(bits, error);
  EXPECT_TRUE(result) << error;
  return result.value_or(SharedDescriptor());
}

uint64_t encode(uint64_t start, uint64_t leading, uint64_t stride, uint64_t swizzle) {
  return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | uint64_t(1) << 46 | swizzle << 61;
}

TEST(SharedDescriptor, Golden) { // hardware.md 7.5
  SharedDescriptor kMajor = decoded(0x4000404000010040);
  EXPECT_EQ(kMajor.canonical.start, 0x400u);
  EXPECT_EQ(kMajor.canonical.leading, 16u);
  EXPECT_EQ(kMajor.canonical.stride, 1024u);
  EXPECT_EQ(kMajor.canonical.swizzle, 128u);
  EXPECT_FALSE(kMajor.units32);
  SharedDescriptor mnMajor = decoded(0x4000404002000040);
  EXPECT_EQ(mnMajor.canonical.leading, 8192u);
}

TEST(SharedDescriptor, SwizzleCodes) {
  const uint32_t widths[] = {0, 128, 128, 0, 64, 0, 32, 0};
  for (uint64_t code : {0, 1, 2, 4, 6}) {
    EXPECT_EQ(decoded(encode(0, 16, 1024, code)).canonical.swizzle, widths[code]);
    EXPECT_EQ(decoded(encode(0, 16, 1024, code)).units32, code == 1);
  }
  std::string error;
  for (uint64_t code : {3, 5, 7})
    EXPECT_FALSE(decodeSharedDescriptor(encode(0, 16, 1024, code), error));
}

TEST(SharedDescriptor, Errors) {
  std::string error;
  EXPECT_FALSE(decodeSharedDescriptor(0x4000004000010040, error)); // of wgmma
  EXPECT_EQ(error, "shared memory descriptor: expected bits 48:46 to be 1, got 0");
  EXPECT_FALSE(decodeSharedDescriptor(0x4000404000010040 | uint64_t(1) << 50, error));
  EXPECT_FALSE(decodeSharedDescriptor(0x4000404000010040 | uint64_t(1) << 52, error));
}

/// The 128-byte swizzle of a tile of rows of 128 bytes at a multiple of 1024, by its formula (hardware.md 4.2).
uint32_t swizzle128(uint32_t base, uint32_t row, uint32_t byte) { return base + row * 128 + (byte ^ (row & 7) << 4); }

TEST(SharedDescriptor, KMajor128) {
  for (uint32_t step = 0; step < 4; ++step) { // four instructions of 32 bytes in a row of 128
    SharedDescriptor matrix = decoded(encode(0x2000 + 32 * step, 16, 1024, 2));
    for (int row = 0; row < 128; ++row)
      for (int piece = 0; piece < 2; ++piece)
        EXPECT_EQ(matrix.address(false, row, piece), swizzle128(0x2000, row, 32 * step + 16 * piece));
  }
}

TEST(SharedDescriptor, MnMajor128) {
  constexpr int kDepth = 64; // blocks of 64 elements of 16 bits by 64 depths
  SharedDescriptor matrix = decoded(encode(0x2000, kDepth * 128, 1024, 2));
  for (int k = 0; k < 16; ++k)
    for (int piece = 0; piece < 16; ++piece)
      EXPECT_EQ(matrix.address(true, k, piece), swizzle128(0x2000 + piece / 8 * kDepth * 128, k, piece % 8 * 16));
}

TEST(SharedDescriptor, NoSwizzle) {
  SharedDescriptor panels = decoded(encode(0, 128 * 16, 128, 0)); // columns of 16 bytes
  SharedDescriptor cores = decoded(encode(0, 128, 1024, 0));      // cores next to each other along K
  for (uint32_t row = 0; row < 128; ++row)
    for (uint32_t piece = 0; piece < 2; ++piece) {
      EXPECT_EQ(panels.address(false, row, piece), piece * 128 * 16 + row * 16);
      EXPECT_EQ(cores.address(false, row, piece), row / 8 * 1024 + piece * 128 + row % 8 * 16);
    }
}

TEST(SharedDescriptor, Units32) {
  // 32 elements of 32 bits by 8 depths: pairs of pieces change places with the depth modulo 4.
  SharedDescriptor matrix = decoded(encode(0, 4096, 512, 1));
  for (uint32_t k = 0; k < 8; ++k)
    for (uint32_t piece = 0; piece < 16; ++piece)
      EXPECT_EQ(matrix.address(true, k, piece), piece / 8 * 4096 + k * 128 + (piece % 8 * 16 ^ (k % 4) << 5));
}

TEST(SharedDescriptor, EveryPieceHasItsOwnPlace) {
  for (uint64_t code : {0, 1, 2, 4, 6}) {
    // Strides that pack 64 lines of `width` bytes without gaps.
    const uint64_t width = code == 0 ? 16 : code == 4 ? 64 : code == 6 ? 32 : 128;
    for (bool mnMajor : {false, true}) {
      if (code == 1 && !mnMajor)
        continue;
      const uint64_t block = 64 * width, group = (code == 1 ? 4 : 8) * width;
      const bool leadingIsGroup = mnMajor && code == 0;
      SharedDescriptor matrix =
          decoded(encode(0x400, leadingIsGroup ? group : block, leadingIsGroup ? block : group, code));
      std::set<uint32_t> places;
      const int pieces = mnMajor ? 8 : 2;
      for (int line = 0; line < 32; ++line)
        for (int piece = 0; piece < pieces; ++piece)
          places.insert(matrix.address(mnMajor, line, piece));
      EXPECT_EQ(places.size(), 32u * pieces) << "code " << code << " mn " << mnMajor;
      EXPECT_EQ(*places.begin() % 16, 0u);
    }
  }
}

} // namespace
