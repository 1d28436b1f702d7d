// How large a program may be. A short text can ask for much memory (`.reg .b32 %r<4000000000>`); these are the ways.
#ifndef HEADRACE_LIB_SIM_PTX_LIMITS_H
#define HEADRACE_LIB_SIM_PTX_LIMITS_H

#include <cstddef>
#include <cstdint>

namespace headrace::sim::ptx {

/// Lines and columns are ints.
constexpr size_t kMaxTextBytes = size_t(1) << 28;
/// PTX ISA 4.4 asks for at least 1024.
constexpr size_t kMaxNameBytes = 1024;
/// Of the prefix `%r` in `%r<12>`, which is copied 12 times.
constexpr size_t kMaxPrefixBytes = 64;
/// Scopes within scopes.
constexpr size_t kMaxDepth = 64;
constexpr uint64_t kMaxVariableBytes = uint64_t(1) << 32;
constexpr uint64_t kMaxAlignment = uint64_t(1) << 16;
/// Of one kernel: PTX ISA 11.2, .entry.
constexpr int64_t kMaxParameterBytes = 32764;

/// What the rest of a text may still use.
struct Budget {
  int64_t registers = int64_t(1) << 20;
  int64_t initialBytes = int64_t(1) << 26;
  /// Labels in the lists of all brx.idx, of which each has its own copy.
  int64_t branchTargets = int64_t(1) << 16;
};

} // namespace headrace::sim::ptx

#endif
