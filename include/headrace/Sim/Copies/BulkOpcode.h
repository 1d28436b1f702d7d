// The opcodes of bulk and tensor copies: cp{.reduce}.async.bulk{.prefetch}{.tensor}, PTX ISA 9.7.9.25.4 and 9.7.9.27.1.
//
// ptxas takes the parts after `tensor.Nd` in any order, and so does this.
#ifndef HEADRACE_SIM_COPIES_BULKOPCODE_H
#define HEADRACE_SIM_COPIES_BULKOPCODE_H

#include "headrace/Sim/Copies/Reduction.h"

#include <optional>
#include <string>
#include <vector>

namespace headrace::sim {

struct BulkOpcode {
  /// Load: global to shared memory. Peer: shared memory to that of another CTA. Store: shared to global memory.
  enum class Kind { Load, Peer, Store, Prefetch };
  Kind kind = Kind::Load;
  int rank = 0;           // of a tensor copy, 1 to 5; 0: without a tensor map
  bool fourRows = false;  // .tile::gather4, .tile::scatter4
  bool toOwnCta = false;  // a load to .shared::cta
  bool multicast = false; // .multicast::cluster
  bool pair = false;      // .cta_group::2
  bool cacheHint = false; // .L2::cache_hint
  bool byteMask = false;  // .cp_mask
  std::optional<ReductionOp> reduction;
  ReductionType type = ReductionType::U32; // of a reduction without a tensor map
};

/// Reads the parts of an opcode. Requires: the first are cp.async.bulk or cp.reduce.async.bulk.
/// Ensures: without a value `error` says what is not understood, or what the ISA does not have.
std::optional<BulkOpcode> parseBulkOpcode(const std::vector<std::string> &parts, std::string &error);

} // namespace headrace::sim

#endif
