// NVIDIA's assembler as a function: find it, ask which PTX it takes, turn PTX into a cubin, and
// read what it says about registers, spills and serialised instructions. Only sentences of ours
// reach `error`; its own words go to `raw`.
#ifndef HEADRACE_TARGET_PTXAS_H
#define HEADRACE_TARGET_PTXAS_H

#include "headrace/Target/TargetInfo.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace {

/// Newest PTX ISA version that LLVM 22.1 can write, 10 * major + minor.
constexpr int kLlvmMaxPtx = 90;

/// Path of ptxas: $HEADRACE_PTXAS, $CUDA_HOME/bin, PATH, then the pip package nvidia-cuda-nvcc. On
/// failure nothing, and `whyNot` says how to get one. A $HEADRACE_PTXAS that is not a program is a
/// failure, not skipped.
std::optional<std::string> findPtxas(std::string &whyNot);

/// Newest PTX ISA version that the ptxas at `path` takes, 10 * major + minor (runs `ptxas
/// --version` once per path).
std::optional<int> ptxasIsaVersion(llvm::StringRef path, std::string &whyNot);

/// The same from the text that `ptxas --version` prints; releases newer than the table get its last
/// entry.
std::optional<int> isaVersionFromVersionText(llvm::StringRef text);

/// The PTX ISA version to declare: the least that is enough for the target, and for `needed` (10 *
/// major + minor) where the kernel uses a feature beyond TargetInfo::ptxVersion (see
/// featurePtxVersion). On failure nothing, and `whyNot` has both numbers.
std::optional<int> choosePtxVersion(const TargetInfo &target, int ptxasIsa, std::string &whyNot, int needed = 0,
                                    int llvmMax = kLlvmMaxPtx);

/// How to assemble.
struct PtxasOptions {
  std::string path;            ///< of ptxas; empty: findPtxas
  int optLevel = 3;            ///< -O
  bool lineInfo = false;       ///< -lineinfo
  int maxRegisters = 0;        ///< --maxrregcount, 0: none
  unsigned timeoutSeconds = 0; ///< 0: wait for ever
};

/// A remark of ptxas that costs speed: "C7510" and its text, or code "spill" and the numbers.
struct PtxasNote {
  std::string code;
  std::string text;
};

/// What became of one PTX module. Counts are over all its kernels: the largest, for spills the sum.
struct PtxasResult {
  bool ok = false;
  std::vector<char> cubin;
  int registers = 0;
  int64_t spillStores = 0, spillLoads = 0; ///< bytes
  int64_t stackBytes = 0;
  int64_t sharedBytes = 0;            ///< static shared memory
  std::vector<std::string> notes;     ///< every (Cxxxx) line, advisory and warning, in ptxas's order
  std::vector<PtxasNote> performance; ///< C7508 .. C7520, C7602 and spills
  std::string error;                  ///< one sentence, empty if ok
  std::string raw;                    ///< all that ptxas printed, for a bug report; never shown to a user
};

/// Assembles `ptx` for `target`.
PtxasResult assemble(llvm::StringRef ptx, const TargetInfo &target, const PtxasOptions &options = {});

/// Reads what `ptxas -v` printed into everything but `cubin` and `ok`. `error` becomes non-empty if
/// the text has an error.
void parsePtxasOutput(llvm::StringRef text, const TargetInfo &target, PtxasResult &result);

} // namespace headrace

#endif // HEADRACE_TARGET_PTXAS_H
