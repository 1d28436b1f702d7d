// Matrix descriptors against values worked out from the PTX ISA and found in CUTLASS: docs of the
// fields are in MatrixDescriptor.h.
#include "MatrixDescriptor.h"

#include "gtest/gtest.h"

using namespace headrace;
using namespace headrace::lowering;

namespace {

/// The descriptor that starts at a constant address, as buildDescriptor makes it at run time.
uint64_t at(MatrixDescriptor descriptor, uint64_t address) { return descriptor.fixed + (address >> 4); }

TEST(MatrixDescriptor, GoldenKMajor128) {
  SharedLayout layout({128, 64}, 16, 1, 128);
  EXPECT_EQ(at(wgmmaDescriptor(layout, true), 0x400), 0x4000004000010040u);
  EXPECT_EQ(at(tcgen05Descriptor(layout, true), 0x400), 0x4000404000010040u);
}

TEST(MatrixDescriptor, GoldenMnMajor128) {
  SharedLayout layout({64, 128}, 16, 1, 128);
  EXPECT_EQ(at(wgmmaDescriptor(layout, false), 0x400), 0x4000004002000040u);
  EXPECT_EQ(at(tcgen05Descriptor(layout, false), 0x400), 0x4000404002000040u);
}

/// Encoded leading and stride distances and the swizzle code of wgmma.
struct Fields {
  uint64_t leading, stride, swizzle;
};
bool operator==(const Fields &a, const Fields &b) {
  return a.leading == b.leading && a.stride == b.stride && a.swizzle == b.swizzle;
}
Fields fieldsOf(const SharedLayout &layout, bool kMajor) {
  uint64_t fixed = wgmmaDescriptor(layout, kMajor).fixed;
  EXPECT_EQ(tcgen05Descriptor(layout, kMajor).fixed, fixed | uint64_t(1) << 46);
  return {fixed >> 16 & 0x3FFF, fixed >> 32 & 0x3FFF, fixed >> 62};
}

TEST(MatrixDescriptor, KMajorFields) {
  int64_t rows = 96;
  EXPECT_TRUE(fieldsOf(SharedLayout({rows, 64}, 16, 1, 128), true) == (Fields{1, 64, 1}));
  EXPECT_TRUE(fieldsOf(SharedLayout({rows, 64}, 16, 1, 64), true) == (Fields{1, 32, 2}));
  EXPECT_TRUE(fieldsOf(SharedLayout({rows, 64}, 16, 1, 32), true) == (Fields{1, 16, 3}));
  EXPECT_TRUE(fieldsOf(SharedLayout({rows, 64}, 16, 1, 16), true) == (Fields{uint64_t(rows), 8, 0}));
}

TEST(MatrixDescriptor, MnMajorFields) {
  uint64_t k = 64;
  EXPECT_TRUE(fieldsOf(SharedLayout({64, 128}, 16, 1, 128), false) == (Fields{k * 128 / 16, 64, 1}));
  EXPECT_TRUE(fieldsOf(SharedLayout({64, 128}, 16, 1, 64), false) == (Fields{k * 64 / 16, 32, 2}));
  EXPECT_TRUE(fieldsOf(SharedLayout({64, 128}, 16, 1, 32), false) == (Fields{k * 32 / 16, 16, 3}));
  // Without a swizzle the fields change places: a step of 8 along k leads, a panel of 8 elements
  // strides.
  EXPECT_TRUE(fieldsOf(SharedLayout({64, 24}, 16, 1, 16), false) == (Fields{8, k, 0}));
}

TEST(OperandStart, StepsAlongK) {
  // The table of hardware facts: 32 bytes further within a panel, then the next panel.
  SharedLayout k128({128, 128}, 16, 1, 128), k64({128, 64}, 16, 1, 64), none({128, 64}, 16, 1, 16);
  EXPECT_EQ(operandStart(k128, true, 0, 64, 16), 32);
  EXPECT_EQ(operandStart(k128, true, 0, 64, 64), 128 * 128);
  EXPECT_EQ(operandStart(k64, true, 0, 64, 16), 32);
  EXPECT_EQ(operandStart(k64, true, 0, 64, 32), 128 * 64);
  EXPECT_EQ(operandStart(none, true, 0, 64, 16), 2 * 128 * 16);
  SharedLayout mn128({64, 128}, 16, 1, 128), mn32({64, 128}, 16, 1, 32);
  EXPECT_EQ(operandStart(mn128, false, 0, 64, 16), 2048);
  EXPECT_EQ(operandStart(mn32, false, 0, 64, 16), 512);
}

TEST(OperandStart, StepsAlongRows) {
  SharedLayout kMajor({128, 64}, 16, 1, 128), mnMajor({64, 128}, 16, 1, 128);
  EXPECT_EQ(operandStart(kMajor, true, 64, 64, 0), 64 * 128);
  EXPECT_EQ(operandStart(kMajor, true, 4, 64, 0), std::nullopt);
  EXPECT_EQ(operandStart(mnMajor, false, 64, 64, 0), 64 * 128);
  EXPECT_EQ(operandStart(mnMajor, false, 32, 32, 0), 64);
  EXPECT_EQ(operandStart(mnMajor, false, 32, 64, 0), std::nullopt);
}

TEST(OperandStart, TransposedStorageIsTheSame) {
  // [K, M] with M contiguous and [M, K] with M contiguous are the same bytes.
  SharedLayout km({64, 128}, 16, 1, 128), mk({128, 64}, 16, 0, 128);
  EXPECT_EQ(operandStart(km, false, 64, 64, 16), operandStart(mk, false, 64, 64, 16));
  EXPECT_EQ(wgmmaDescriptor(km, false).fixed, wgmmaDescriptor(mk, false).fixed);
}

} // namespace
