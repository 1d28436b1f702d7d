// The table of targets and the table of features. The feature rows and their least PTX versions are
// the cells of a trial of every instruction on every target with ptxas 13.0.
#include "headrace/Target/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <array>

namespace headrace {
namespace {

/// A set of targets, one bit each.
using TargetSet = uint32_t;

/// Bits of TargetSet, in the order of allTargets().
enum : TargetSet {
  k75 = 1u << 0,
  k80 = 1u << 1,
  k86 = 1u << 2,
  k89 = 1u << 3,
  k90 = 1u << 4,
  k90a = 1u << 5,
  k100 = 1u << 6,
  k100a = 1u << 7,
  k100f = 1u << 8,
  k103a = 1u << 9,
  k110a = 1u << 10,
  k120 = 1u << 11,
  k120a = 1u << 12,
  k120f = 1u << 13,
  k121a = 1u << 14,
};

constexpr TargetSet kHopper = k90 | k90a;
constexpr TargetSet kTmem = k100a | k100f | k103a | k110a;
constexpr TargetSet kDatacenterBlackwell = k100 | kTmem;
constexpr TargetSet kGeForceSuffixed = k120a | k120f | k121a;
constexpr TargetSet kGeForceBlackwell = k120 | kGeForceSuffixed;
constexpr TargetSet kBlackwell = kDatacenterBlackwell | kGeForceBlackwell;
constexpr TargetSet kHopperOn = kHopper | kBlackwell;
constexpr TargetSet kAdaOn = k89 | kHopperOn;
constexpr TargetSet kAmpereOn = k80 | k86 | kAdaOn;
constexpr TargetSet kAll = k75 | kAmpereOn;

struct FeatureRow {
  Feature feature;
  const char *name;
  TargetSet targets;
  int ptx;
};

// Cluster leaves out sm_120 and its family: ptxas takes the directives there, but CUTLASS limits
// those chips to one block. TmaMulticast leaves out the targets for which ptxas warns of reduced
// performance.
constexpr FeatureRow kFeatures[] = {
    {Feature::Fma, "multiply-add", kAll, 63},
    {Feature::MmaF16, "mma.sync f16", kAll, 65},
    {Feature::MmaF16K16, "mma.sync m16n8k16 f16", kAmpereOn, 70},
    {Feature::MmaS8, "mma.sync m8n8k16 s8", kAll, 65},
    {Feature::MmaS8K32, "mma.sync m16n8k32 s8", kAmpereOn, 70},
    {Feature::MmaBf16, "mma.sync bf16", kAmpereOn, 70},
    {Feature::MmaTf32, "mma.sync tf32", kAmpereOn, 70},
    {Feature::MmaF64, "mma.sync f64", kAmpereOn, 70},
    {Feature::MmaF64M16, "mma.sync m16n8k16 f64", kHopperOn, 78},
    {Feature::MmaF8, "mma.sync e4m3/e5m2", kAdaOn, 84},
    {Feature::MmaF8F6F4, "mma.sync kind::f8f6f4", kGeForceSuffixed, 87},
    {Feature::BlockScaledMma, "mma.sync block_scale", kGeForceSuffixed, 87},
    {Feature::Wgmma, "wgmma", k90a, 80},
    {Feature::Tcgen05, "tcgen05", kTmem, 86},
    {Feature::Tcgen05I8, "tcgen05.mma kind::i8", k100a | k110a, 86},
    {Feature::Tcgen05BlockScale, "tcgen05.mma block_scale", kTmem, 88},
    {Feature::CpAsync, "cp.async", kAmpereOn, 70},
    {Feature::Mbarrier, "mbarrier", kAmpereOn, 70},
    {Feature::MbarrierTryWait, "mbarrier.try_wait", kHopperOn, 80},
    {Feature::Tma, "cp.async.bulk.tensor", kHopperOn, 80},
    {Feature::CpAsyncBulkSharedCta, "cp.async.bulk to shared::cta", kHopperOn, 86},
    {Feature::TmaMulticast, "cp.async.bulk multicast::cluster", k90a | kTmem, 80},
    {Feature::TmaCtaGroup, "cp.async.bulk.tensor cta_group", kTmem, 86},
    {Feature::TmaGather4, "cp.async.bulk.tensor tile::gather4", kTmem, 86},
    {Feature::TensormapReplace, "tensormap.replace", k90a | kTmem | kGeForceSuffixed, 83},
    {Feature::WideGlobal, "256-bit ld.global", kBlackwell, 88},
    {Feature::CacheEviction, "L1 eviction priority", kAll, 74},
    {Feature::L2CacheHint, "L2::cache_hint", kAmpereOn, 74},
    {Feature::Ldmatrix, "ldmatrix", kAll, 65},
    {Feature::LdmatrixB8, "ldmatrix b8", kTmem | kGeForceSuffixed, 86},
    {Feature::Stmatrix, "stmatrix", kHopperOn, 78},
    {Feature::Movmatrix, "movmatrix", kAll, 78},
    {Feature::SetMaxNReg, "setmaxnreg", k90a | kTmem | kGeForceSuffixed, 80},
    {Feature::Cluster, "cluster", kHopper | kDatacenterBlackwell, 78},
    {Feature::ElectSync, "elect.sync", kHopperOn, 80},
    {Feature::GridDependency, "griddepcontrol", kHopperOn, 78},
    {Feature::ClusterLaunchControl, "clusterlaunchcontrol", kBlackwell, 86},
    {Feature::TanhApprox, "tanh.approx", kAll, 70},
    {Feature::Bf16Convert, "cvt.rn.bf16x2.f32", kAmpereOn, 70},
    {Feature::Bf16Arithmetic, "bf16 arithmetic", kHopperOn, 78},
    {Feature::F8Convert, "cvt e4m3x2/e5m2x2", kAdaOn, 81},
    {Feature::F4Convert, "cvt e2m1x2", kTmem | kGeForceSuffixed, 86},
    {Feature::F32x2, "f32x2 arithmetic", kBlackwell, 86},
    {Feature::Redux, "redux.sync", kAmpereOn, 70},
    {Feature::ReduxF32, "redux.sync f32", k100a | k100f | k103a, 86},
};
static_assert(std::size(kFeatures) == kNumFeatures, "one row per feature");

constexpr bool rowsAreInOrder() {
  for (int i = 0; i < kNumFeatures; ++i)
    if (static_cast<int>(kFeatures[i].feature) != i)
      return false;
  return true;
}
static_assert(rowsAreInOrder(), "rows are in the order of the enumeration");

const FeatureRow &row(Feature feature) { return kFeatures[static_cast<int>(feature)]; }

/// Memory and residency limits of a chip. CUDA Programming Guide 13.1, compute capability tables.
struct Limits {
  int64_t sharedPerBlock, sharedPerSM, reservedPerBlock, threadsPerSM;
};
constexpr Limits kLimits75{65536, 65536, 0, 1024};
constexpr Limits kLimits80{166912, 167936, 1024, 2048};
constexpr Limits kLimits86{101376, 102400, 1024, 1536};
constexpr Limits kLimits90{232448, 233472, 1024, 2048};
constexpr Limits kLimits110{232448, 233472, 1024, 1536};

TargetInfo makeTarget(const char *name, int sm, char suffix, const Limits &limits, int ptx) {
  TargetInfo target;
  target.name = name;
  target.sm = sm;
  target.suffix = suffix;
  target.sharedPerBlock = limits.sharedPerBlock;
  target.sharedPerSM = limits.sharedPerSM;
  target.reservedPerBlock = limits.reservedPerBlock;
  target.threadsPerSM = limits.threadsPerSM;
  target.registersPerSM = 65536;
  target.ptxVersion = ptx;
  return target;
}

/// Bit of the target, 0 for one that is not known.
TargetSet bitOf(llvm::StringRef name) {
  const std::vector<TargetInfo> &targets = allTargets();
  auto it = llvm::find_if(targets, [&](const TargetInfo &t) { return t.name == name; });
  return it == targets.end() ? 0 : 1u << (it - targets.begin());
}

std::vector<TargetInfo> makeTargets() {
  // Last column: sm_75 ldmatrix; sm_80 cache hints; sm_89 fp8 mma.sync; from sm_90 on bulk copies
  // to shared::cta or the first version that knows the name (PTX ISA 11.1.2).
  std::vector<TargetInfo> targets = {
      makeTarget("sm_75", 75, 0, kLimits75, 65),       makeTarget("sm_80", 80, 0, kLimits80, 74),
      makeTarget("sm_86", 86, 0, kLimits86, 74),       makeTarget("sm_89", 89, 0, kLimits86, 84),
      makeTarget("sm_90", 90, 0, kLimits90, 86),       makeTarget("sm_90a", 90, 'a', kLimits90, 86),
      makeTarget("sm_100", 100, 0, kLimits90, 86),     makeTarget("sm_100a", 100, 'a', kLimits90, 86),
      makeTarget("sm_100f", 100, 'f', kLimits90, 88),  makeTarget("sm_103a", 103, 'a', kLimits90, 88),
      makeTarget("sm_110a", 110, 'a', kLimits110, 90), makeTarget("sm_120", 120, 0, kLimits86, 87),
      makeTarget("sm_120a", 120, 'a', kLimits86, 87),  makeTarget("sm_120f", 120, 'f', kLimits86, 88),
      makeTarget("sm_121a", 121, 'a', kLimits86, 88)};
  for (auto [index, target] : llvm::enumerate(targets))
    target.tmemColumns = (row(Feature::Tcgen05).targets >> index & 1) ? 512 : 0;
  return targets;
}

} // namespace

const std::vector<TargetInfo> &allTargets() {
  static const std::vector<TargetInfo> targets = makeTargets();
  return targets;
}

bool TargetInfo::has(Feature feature) const { return (row(feature).targets & bitOf(name)) != 0; }

std::optional<TargetInfo> parseTarget(llvm::StringRef name, std::string &whyNot) {
  for (const TargetInfo &target : allTargets())
    if (target.name == name)
      return target;
  whyNot = "unknown target '" + name.str() +
           "'; known: " + llvm::join(llvm::map_range(allTargets(), [](const TargetInfo &t) { return t.name; }), ", ");
  return std::nullopt;
}

llvm::StringRef featureName(Feature feature) { return row(feature).name; }

int featurePtxVersion(Feature feature) { return row(feature).ptx; }

std::vector<llvm::StringRef> targetsWith(Feature feature) {
  std::vector<llvm::StringRef> names;
  for (auto [index, target] : llvm::enumerate(allTargets()))
    if (row(feature).targets >> index & 1)
      names.push_back(target.name);
  return names;
}

std::string missingFeature(Feature feature, const TargetInfo &target) {
  std::vector<llvm::StringRef> names = targetsWith(feature);
  std::string needed = names.back().str();
  if (names.size() > 1)
    needed = llvm::join(names.begin(), names.end() - 1, ", ") + " or " + needed;
  return featureName(feature).str() + " needs " + needed + ", the target is " + target.name;
}

std::string formatPtxVersion(int version) { return std::to_string(version / 10) + "." + std::to_string(version % 10); }

} // namespace headrace
