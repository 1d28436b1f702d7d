// Which matmul instruction each target has for which types.
#include "headrace/Target/MmaAtoms.h"

#include "gtest/gtest.h"

#include <set>
#include <tuple>

using namespace headrace;
using E = ElemType;

namespace {

/// The atoms found, as "family mxnxk" lines.
std::string found(llvm::StringRef name, E a, E b, E acc) {
  std::string whyNot, text;
  std::optional<TargetInfo> target = parseTarget(name, whyNot);
  EXPECT_TRUE(target) << whyNot;
  for (const MmaAtom *atom : atomsFor(*target, a, b, acc))
    text += familyName(atom->family).str() + " " + std::to_string(atom->m) + "x" + std::to_string(atom->n) + "x" +
            std::to_string(atom->k) + "\n";
  return text;
}

const MmaAtom &first(llvm::StringRef name, E a, E acc) {
  std::string whyNot;
  return *atomsFor(*parseTarget(name, whyNot), a, a, acc).front();
}

TEST(MmaAtoms, FastestFamilyFirstThenLargerK) {
  EXPECT_EQ(found("sm_75", E::F16, E::F16, E::F32), "mma.sync 16x8x8\nfma 1x1x1\n");
  EXPECT_EQ(found("sm_80", E::F16, E::F16, E::F32), "mma.sync 16x8x16\nmma.sync 16x8x8\nfma 1x1x1\n");
  EXPECT_EQ(found("sm_90a", E::BF16, E::BF16, E::F32),
            "wgmma 64x256x16\nmma.sync 16x8x16\nmma.sync 16x8x8\nfma 1x1x1\n");
  EXPECT_EQ(found("sm_90", E::BF16, E::BF16, E::F32), "mma.sync 16x8x16\nmma.sync 16x8x8\nfma 1x1x1\n");
  EXPECT_EQ(found("sm_100a", E::BF16, E::BF16, E::F32),
            "tcgen05.mma 128x256x16\nmma.sync 16x8x16\nmma.sync 16x8x8\nfma 1x1x1\n");
  EXPECT_EQ(found("sm_120a", E::BF16, E::BF16, E::F32), "mma.sync 16x8x16\nmma.sync 16x8x8\nfma 1x1x1\n");
}

TEST(MmaAtoms, Integers) {
  EXPECT_EQ(found("sm_75", E::S8, E::S8, E::S32), "mma.sync 8x8x16\nfma 1x1x1\n");
  EXPECT_EQ(found("sm_80", E::S8, E::S8, E::S32), "mma.sync 16x8x32\nmma.sync 16x8x16\nmma.sync 8x8x16\nfma 1x1x1\n");
  EXPECT_EQ(found("sm_100a", E::S8, E::S8, E::S32).substr(0, 23), "tcgen05.mma 128x256x32\n");
  // D03: the chip has tcgen05, but not for integers.
  EXPECT_EQ(found("sm_103a", E::S8, E::S8, E::S32).substr(0, 17), "mma.sync 16x8x32\n");
}

TEST(MmaAtoms, Float8Mixes) {
  EXPECT_EQ(found("sm_86", E::E4M3, E::E5M2, E::F32), "");
  EXPECT_EQ(found("sm_89", E::E4M3, E::E5M2, E::F32), "mma.sync 16x8x32\nmma.sync 16x8x16\n");
  EXPECT_EQ(found("sm_90a", E::E5M2, E::E4M3, E::F32).substr(0, 16), "wgmma 64x256x32\n");
}

TEST(MmaAtoms, Doubles) {
  EXPECT_EQ(found("sm_75", E::F64, E::F64, E::F64), "fma 1x1x1\n");
  EXPECT_EQ(found("sm_80", E::F64, E::F64, E::F64), "mma.sync 8x8x4\nfma 1x1x1\n");
  EXPECT_EQ(found("sm_90a", E::F64, E::F64, E::F64),
            "mma.sync 16x8x16\nmma.sync 16x8x8\nmma.sync 16x8x4\nmma.sync 8x8x4\nfma 1x1x1\n");
}

TEST(MmaAtoms, TypesThatNothingMultiplies) {
  EXPECT_EQ(found("sm_90a", E::F16, E::BF16, E::F32), "");
  EXPECT_EQ(found("sm_90a", E::S8, E::S8, E::F32), "");
  EXPECT_EQ(found("sm_75", E::TF32, E::TF32, E::F32), "");
}

TEST(MmaAtoms, MnMajorOperands) {
  EXPECT_TRUE(first("sm_90a", E::BF16, E::F32).mnMajorB);
  EXPECT_FALSE(first("sm_90a", E::TF32, E::F32).mnMajorA);
  EXPECT_FALSE(first("sm_90a", E::E4M3, E::F32).mnMajorB);
  EXPECT_TRUE(first("sm_100a", E::E4M3, E::F32).mnMajorB);
  EXPECT_TRUE(first("sm_100a", E::S8, E::S32).mnMajorA);
  EXPECT_FALSE(first("sm_100a", E::TF32, E::F32).mnMajorB);
}

TEST(MmaAtoms, ColumnsThatAreAccepted) {
  const MmaAtom &bf16 = first("sm_90a", E::BF16, E::F32);
  EXPECT_TRUE(acceptsN(bf16, 8) && acceptsN(bf16, 176) && acceptsN(bf16, 256));
  EXPECT_FALSE(acceptsN(bf16, 0) || acceptsN(bf16, 12) || acceptsN(bf16, 264));
  const MmaAtom &s8 = first("sm_90a", E::S8, E::S32);
  EXPECT_TRUE(acceptsN(s8, 8) && acceptsN(s8, 24) && acceptsN(s8, 32) && acceptsN(s8, 48));
  EXPECT_FALSE(acceptsN(s8, 40) || acceptsN(s8, 56));
  const MmaAtom &tcgen05 = first("sm_100a", E::BF16, E::F32);
  EXPECT_TRUE(acceptsN(tcgen05, 16) && acceptsN(tcgen05, 256));
  EXPECT_FALSE(acceptsN(tcgen05, 8) || acceptsN(tcgen05, 24));
  EXPECT_EQ(largestN(s8, 47), 32);
  EXPECT_EQ(largestN(bf16, 1000), 256);
  EXPECT_EQ(largestN(tcgen05, 15), 0);
}

// One instruction of the asynchronous families spans 32 bytes of k.
TEST(MmaAtoms, AsynchronousAtomsSpan32Bytes) {
  for (const MmaAtom &atom : mmaAtoms())
    if (atom.family == MmaFamily::Wgmma || atom.family == MmaFamily::Tcgen05) {
      EXPECT_EQ(atom.k * bitWidth(atom.a), 256);
    }
}

TEST(MmaAtoms, NoTwoAtomsAreTheSame) {
  std::set<std::tuple<MmaFamily, int, int, int, E, E, E>> seen;
  for (const MmaAtom &atom : mmaAtoms())
    EXPECT_TRUE(seen.insert({atom.family, atom.m, atom.n, atom.k, atom.a, atom.b, atom.acc}).second);
}

TEST(MmaAtoms, NoAtomIsOlderThanItsFeature) {
  for (const MmaAtom &atom : mmaAtoms())
    EXPECT_GE(atom.minPtx, featurePtxVersion(atom.needs));
}

} // namespace
