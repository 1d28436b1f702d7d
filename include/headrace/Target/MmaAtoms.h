// The matmul instructions of every generation as one table, and the question a lowering asks of it:
// which of them multiply these element types on this target.
#ifndef HEADRACE_TARGET_MMAATOMS_H
#define HEADRACE_TARGET_MMAATOMS_H

#include "headrace/Target/TargetInfo.h"

#include <vector>

namespace headrace {

/// Ways to multiply, slowest first.
enum class MmaFamily { Fma, MmaSync, Wgmma, Tcgen05 };

/// Element types of operands and accumulators. S32 and F64 accumulate; TF32 is f32 storage read as
/// tf32.
enum class ElemType { F16, BF16, TF32, F32, F64, E4M3, E5M2, S8, S32 };

/// One matmul instruction: D[m, n] += A[m, k] * B[k, n].
struct MmaAtom {
  MmaFamily family;
  int m, n, k; ///< wgmma and tcgen05: n is the largest, see acceptsN
  ElemType a, b, acc;
  Feature needs;
  bool mnMajorA, mnMajorB; ///< the operand may be M- or N-contiguous in shared memory as it is
  int minPtx;              ///< least PTX ISA version, 10 * major + minor
  const char *isa;         ///< section of PTX ISA 9.1
};

/// All atoms, grouped by family. Operand types that mix (e4m3 with e5m2) have one entry per pair.
const std::vector<MmaAtom> &mmaAtoms();

/// The atoms that the target accepts for these types: fastest family first, then larger k, then
/// larger m. Ensures: pointers into mmaAtoms(); empty if the types cannot be multiplied on the
/// target.
std::vector<const MmaAtom *> atomsFor(const TargetInfo &target, ElemType a, ElemType b, ElemType acc);

/// Whether the atom may be issued with `n` columns. wgmma: multiples of 8, for s8 8, 16, 24 and
/// multiples of 16 (PTX ISA 9.7.15.2); tcgen05 with m = 128: multiples of 16 (what CUTLASS accepts
/// of PTX ISA 9.7.16.2.1); else its own n.
bool acceptsN(const MmaAtom &atom, int n);

/// Largest n <= `limit` that the atom accepts, 0 if none.
int largestN(const MmaAtom &atom, int limit);

/// "mma.sync", "wgmma", ...
llvm::StringRef familyName(MmaFamily family);

/// "bf16", "e4m3", ...
llvm::StringRef elemTypeName(ElemType type);

/// Bits of one element in memory; 32 for tf32.
int bitWidth(ElemType type);

} // namespace headrace

#endif // HEADRACE_TARGET_MMAATOMS_H
