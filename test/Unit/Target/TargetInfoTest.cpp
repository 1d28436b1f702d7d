// Target names, limits and feature cells, and the choice of a PTX version (cases D02 and D03).
#include "headrace/Target/TargetInfo.h"
#include "headrace/Target/Ptxas.h"

#include "gtest/gtest.h"

using namespace headrace;

namespace {

TargetInfo target(llvm::StringRef name) {
  std::string whyNot;
  std::optional<TargetInfo> found = parseTarget(name, whyNot);
  EXPECT_TRUE(found) << whyNot;
  return found.value_or(TargetInfo());
}

TEST(TargetInfo, ParsesEveryKnownName) {
  ASSERT_EQ(allTargets().size(), 15u);
  for (const TargetInfo &known : allTargets()) {
    TargetInfo parsed = target(known.name);
    std::string suffix = parsed.suffix ? std::string(1, parsed.suffix) : "";
    EXPECT_EQ(parsed.name, "sm_" + std::to_string(parsed.sm) + suffix);
    EXPECT_EQ(parsed.registersPerSM, 65536);
    EXPECT_LE(parsed.sharedPerBlock + parsed.reservedPerBlock, parsed.sharedPerSM);
  }
}

TEST(TargetInfo, UnknownNameListsTheKnownOnes) {
  for (llvm::StringRef name : {"sm_91", "", "sm_", "90a", "sm_90A", "sm_90a ", "sm_900"}) {
    std::string whyNot;
    EXPECT_FALSE(parseTarget(name, whyNot));
    EXPECT_EQ(whyNot, "unknown target '" + name.str() +
                          "'; known: sm_75, sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_100a, "
                          "sm_100f, sm_103a, sm_110a, sm_120, sm_120a, sm_120f, sm_121a");
  }
}

TEST(TargetInfo, Limits) {
  EXPECT_EQ(target("sm_75").sharedPerBlock, 65536);
  EXPECT_EQ(target("sm_75").reservedPerBlock, 0);
  EXPECT_EQ(target("sm_80").sharedPerBlock, 166912);
  EXPECT_EQ(target("sm_86").sharedPerBlock, 101376);
  EXPECT_EQ(target("sm_90a").sharedPerBlock, 232448);
  EXPECT_EQ(target("sm_90a").sharedPerSM, 233472);
  EXPECT_EQ(target("sm_120a").sharedPerBlock, 101376);
  EXPECT_EQ(target("sm_89").threadsPerSM, 1536);
  EXPECT_EQ(target("sm_110a").threadsPerSM, 1536);
  EXPECT_EQ(target("sm_100a").tmemColumns, 512);
  EXPECT_EQ(target("sm_100").tmemColumns, 0);
  EXPECT_EQ(target("sm_120a").tmemColumns, 0);
}

/// Names of the targets that have the feature, one space between.
std::string with(Feature feature) {
  std::string names;
  for (const TargetInfo &known : allTargets())
    if (known.has(feature))
      names += (names.empty() ? "" : " ") + known.name.substr(3);
  return names;
}

TEST(TargetInfo, FeatureCells) {
  EXPECT_EQ(with(Feature::Wgmma), "90a");
  EXPECT_EQ(with(Feature::SetMaxNReg), "90a 100a 100f 103a 110a 120a 120f 121a");
  EXPECT_EQ(with(Feature::Tcgen05), "100a 100f 103a 110a");
  EXPECT_EQ(with(Feature::Tcgen05I8), "100a 110a");
  EXPECT_EQ(with(Feature::BlockScaledMma), "120a 120f 121a");
  EXPECT_EQ(with(Feature::CpAsync), "80 86 89 90 90a 100 100a 100f 103a 110a 120 120a 120f 121a");
  EXPECT_EQ(with(Feature::MmaF8), "89 90 90a 100 100a 100f 103a 110a 120 120a 120f 121a");
  EXPECT_EQ(with(Feature::Tma), "90 90a 100 100a 100f 103a 110a 120 120a 120f 121a");
  EXPECT_EQ(with(Feature::Cluster), "90 90a 100 100a 100f 103a 110a");
  EXPECT_EQ(with(Feature::ReduxF32), "100a 100f 103a");
  EXPECT_EQ(with(Feature::F32x2), "100 100a 100f 103a 110a 120 120a 120f 121a");
}

TEST(TargetInfo, EveryFeatureHasANameAndATarget) {
  for (int i = 0; i < kNumFeatures; ++i) {
    EXPECT_FALSE(featureName(Feature(i)).empty());
    EXPECT_FALSE(targetsWith(Feature(i)).empty()) << i;
  }
}

TEST(TargetInfo, MissingFeatureNamesFeatureAndNeededTarget) {
  EXPECT_EQ(missingFeature(Feature::Wgmma, target("sm_90")), "wgmma needs sm_90a, the target is sm_90");
  EXPECT_EQ(missingFeature(Feature::Tcgen05, target("sm_120a")),
            "tcgen05 needs sm_100a, sm_100f, sm_103a or sm_110a, the target is sm_120a");
  EXPECT_EQ(missingFeature(Feature::Tcgen05I8, target("sm_103a")),
            "tcgen05.mma kind::i8 needs sm_100a or sm_110a, the target is sm_103a");
  EXPECT_EQ(missingFeature(Feature::BlockScaledMma, target("sm_120")),
            "mma.sync block_scale needs sm_120a, sm_120f or sm_121a, the target is sm_120");
}

TEST(ChoosePtxVersion, LeastThatIsEnough) {
  std::string whyNot;
  EXPECT_EQ(choosePtxVersion(target("sm_75"), 84, whyNot), 65);
  EXPECT_EQ(choosePtxVersion(target("sm_80"), 84, whyNot), 74);
  EXPECT_EQ(choosePtxVersion(target("sm_89"), 84, whyNot), 84);
  EXPECT_EQ(choosePtxVersion(target("sm_90a"), 87, whyNot), 86);
  EXPECT_EQ(choosePtxVersion(target("sm_100a"), 87, whyNot), 86);
  EXPECT_EQ(choosePtxVersion(target("sm_100a"), 90, whyNot, featurePtxVersion(Feature::Tcgen05BlockScale)), 88);
  EXPECT_EQ(choosePtxVersion(target("sm_120a"), 91, whyNot), 87);
  EXPECT_EQ(choosePtxVersion(target("sm_110a"), 91, whyNot), 90);
  EXPECT_EQ(whyNot, "");
}

TEST(ChoosePtxVersion, RefusalHasBothNumbers) {
  std::string whyNot;
  EXPECT_FALSE(choosePtxVersion(target("sm_90a"), 84, whyNot));
  EXPECT_EQ(whyNot, "sm_90a code needs PTX ISA 8.6, ptxas takes up to 8.4; CUDA 12.7 or newer has it");
  EXPECT_FALSE(choosePtxVersion(target("sm_90a"), 85, whyNot));
  EXPECT_EQ(whyNot, "sm_90a code needs PTX ISA 8.6, ptxas takes up to 8.5; CUDA 12.7 or newer has it");
  EXPECT_FALSE(choosePtxVersion(target("sm_110a"), 87, whyNot));
  EXPECT_EQ(whyNot, "sm_110a code needs PTX ISA 9.0, ptxas takes up to 8.7; CUDA 13.0 or newer has it");
  EXPECT_FALSE(choosePtxVersion(target("sm_90a"), 91, whyNot, /*needed=*/91));
  EXPECT_EQ(whyNot, "sm_90a code needs PTX ISA 9.1, LLVM writes up to 9.0");
}

// What a target always uses must be writable by LLVM, and by a ptxas that knows the target.
TEST(ChoosePtxVersion, EveryTargetWorksWithTheNewestPtxas) {
  for (const TargetInfo &known : allTargets()) {
    std::string whyNot;
    EXPECT_EQ(choosePtxVersion(known, 91, whyNot), known.ptxVersion) << whyNot;
  }
}

} // namespace
