// What one GPU target has: its limits, and which features its instruction set accepts. Everything
// that depends on the target is asked here by feature, never by comparing architecture numbers,
// which do not order features.
#ifndef HEADRACE_TARGET_TARGETINFO_H
#define HEADRACE_TARGET_TARGETINFO_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace {

/// A thing that some targets accept and others reject. One row of the table in TargetInfo.cpp each.
enum class Feature {
  // Matmul, in registers.
  Fma,            ///< multiply-add on the CUDA cores
  MmaF16,         ///< mma.sync m16n8k8 f16
  MmaF16K16,      ///< mma.sync m16n8k16 f16
  MmaS8,          ///< mma.sync m8n8k16 s8
  MmaS8K32,       ///< mma.sync m16n8k16 and m16n8k32 s8
  MmaBf16,        ///< mma.sync m16n8k8 and m16n8k16 bf16
  MmaTf32,        ///< mma.sync m16n8k4 and m16n8k8 tf32
  MmaF64,         ///< mma.sync m8n8k4 f64
  MmaF64M16,      ///< mma.sync m16n8k4, k8 and k16 f64
  MmaF8,          ///< mma.sync m16n8k32 e4m3 and e5m2
  MmaF8F6F4,      ///< mma.sync kind::f8f6f4, the 6- and 4-bit types
  BlockScaledMma, ///< mma.sync with .block_scale
  // Matmul, asynchronous.
  Wgmma,             ///< wgmma
  Tcgen05,           ///< tcgen05 and tensor memory, without the two below
  Tcgen05I8,         ///< tcgen05.mma kind::i8
  Tcgen05BlockScale, ///< tcgen05.mma .block_scale in the .block16/.block32 spelling
  // Copies and their completion.
  CpAsync,              ///< cp.async
  Mbarrier,             ///< mbarrier.init, arrive, test_wait
  MbarrierTryWait,      ///< mbarrier.try_wait and transaction bytes
  Tma,                  ///< cp.async.bulk and cp.async.bulk.tensor
  CpAsyncBulkSharedCta, ///< the same with a shared::cta destination
  TmaMulticast,         ///< .multicast::cluster at full speed
  TmaCtaGroup,          ///< .cta_group::N on tensor copies
  TmaGather4,           ///< tile::gather4 to shared::cluster, tile::scatter4
  TensormapReplace,     ///< tensormap.replace
  WideGlobal,           ///< 256-bit ld.global and st.global
  CacheEviction,        ///< L1 eviction priorities
  L2CacheHint,          ///< .L2::cache_hint with a policy
  // Shared memory and registers.
  Ldmatrix,   ///< ldmatrix m8n8 b16
  LdmatrixB8, ///< ldmatrix m16n16 b8, stmatrix m16n8 b8
  Stmatrix,   ///< stmatrix m8n8 b16
  Movmatrix,  ///< movmatrix m8n8 b16
  SetMaxNReg, ///< setmaxnreg
  // Control.
  Cluster,              ///< clusters of more than one block
  ElectSync,            ///< elect.sync
  GridDependency,       ///< griddepcontrol
  ClusterLaunchControl, ///< clusterlaunchcontrol.try_cancel
  // Arithmetic.
  TanhApprox,     ///< tanh.approx.f32
  Bf16Convert,    ///< cvt.rn.bf16x2.f32
  Bf16Arithmetic, ///< add, mul and atomic add of bf16
  F8Convert,      ///< cvt to and from e4m3x2 and e5m2x2
  F4Convert,      ///< cvt to and from e2m1x2, e2m3x2, e3m2x2, ue8m0x2
  F32x2,          ///< add, mul and fma of two packed f32
  Redux,          ///< redux.sync of integers
  ReduxF32,       ///< redux.sync of f32
};

/// Number of features; Feature values are 0 .. kNumFeatures - 1.
constexpr int kNumFeatures = static_cast<int>(Feature::ReduxF32) + 1;

/// One GPU target. Sizes are in bytes.
struct TargetInfo {
  std::string name;           ///< as given to ptxas, "sm_90a"
  int sm = 0;                 ///< 75, 80, 86, 89, 90, 100, 103, 110, 120, 121
  char suffix = 0;            ///< 0, 'a' (this chip only) or 'f' (this family)
  int64_t sharedPerBlock = 0; ///< largest shared memory of a block, static plus dynamic
  int64_t sharedPerSM = 0;
  int64_t reservedPerBlock = 0; ///< shared memory that the system takes per resident block
  int64_t threadsPerSM = 0;
  int64_t registersPerSM = 0; ///< 32-bit registers
  int64_t tmemColumns = 0;    ///< 512, or 0 without tensor memory
  int ptxVersion = 0;         ///< least PTX ISA version for what Headrace always uses here, 10 * major + minor

  /// Whether the target accepts the feature. Requires: the TargetInfo comes from parseTarget.
  bool has(Feature feature) const;
};

/// The target called `name`; on failure nothing, and `whyNot` lists the known names.
std::optional<TargetInfo> parseTarget(llvm::StringRef name, std::string &whyNot);

/// All known targets, oldest first.
const std::vector<TargetInfo> &allTargets();

/// The feature's name in messages, "wgmma".
llvm::StringRef featureName(Feature feature);

/// Least PTX ISA version that has the feature, 10 * major + minor. PTX ISA, section "Target ISA
/// Notes" of each.
int featurePtxVersion(Feature feature);

/// Names of the targets that accept the feature, oldest first.
std::vector<llvm::StringRef> targetsWith(Feature feature);

/// "wgmma needs sm_90a, the target is sm_90". Requires: !target.has(feature).
std::string missingFeature(Feature feature, const TargetInfo &target);

/// "8.6" for 86.
std::string formatPtxVersion(int version);

} // namespace headrace

#endif // HEADRACE_TARGET_TARGETINFO_H
