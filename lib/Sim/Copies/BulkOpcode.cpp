// Opcodes of bulk copies: first the parts, each on its own, then whether they go together.
#include "headrace/Sim/Copies/BulkOpcode.h"

#include <algorithm>

namespace headrace::sim {

namespace {

using Kind = BulkOpcode::Kind;

class BulkOpcodeReader {
public:
  BulkOpcodeReader(const std::vector<std::string> &parts, std::string &error) : parts(parts), error(error) {}

  std::optional<BulkOpcode> read() {
    readPrefix();
    for (; next < parts.size() && error.empty(); ++next)
      if (std::count(parts.begin(), parts.end(), parts[next]) > 1)
        fail("expected '." + parts[next] + "' once");
      else
        readPart(parts[next]);
    if (error.empty())
      findKind();
    if (error.empty())
      checkKind();
    if (error.empty() && reduces)
      checkReduction();
    return error.empty() ? std::optional<BulkOpcode>(result) : std::nullopt;
  }

private:
  void readPrefix();
  void readPart(const std::string &part);
  bool readFlag(const std::string &part);
  void findKind();
  void checkKind();
  void checkReduction();
  void fail(std::string message) {
    if (error.empty())
      error = std::move(message);
  }
  bool hasSpaces(const char *to, const char *from) const {
    return spaces.size() == 2 && spaces[0] == to && spaces[1] == from;
  }

  const std::vector<std::string> &parts;
  std::string &error;
  BulkOpcode result;
  size_t next = 0;

  std::vector<std::string> spaces; // destination, source
  bool reduces = false, prefetches = false, toL2 = false;
  bool onMbarrier = false, inBulkGroup = false;
  bool gathers = false, scatters = false;
  bool noFtz = false, hasCtaGroup = false, hasType = false;
};

/// cp{.reduce}.async.bulk{.prefetch}{.tensor.Nd}
void BulkOpcodeReader::readPrefix() {
  reduces = parts[1] == "reduce";
  next = reduces ? 4 : 3;
  if (next < parts.size() && parts[next] == "prefetch") {
    prefetches = true;
    ++next;
  }
  if (next >= parts.size() || parts[next] != "tensor")
    return;
  ++next;
  std::string dim = next < parts.size() ? parts[next] : "";
  if (dim.size() != 2 || dim[0] < '1' || dim[0] > '5' || dim[1] != 'd')
    return fail("expected .1d to .5d after .tensor, got '." + dim + "'");
  result.rank = dim[0] - '0';
  ++next;
}

void BulkOpcodeReader::readPart(const std::string &part) {
  if (part == "global" || part == "shared::cta" || part == "shared::cluster")
    return spaces.push_back(part);
  if (readFlag(part))
    return;
  if (part.rfind("im2col", 0) == 0)
    return fail("'." + part + "' is not supported by the simulator");
  std::optional<ReductionType> type = reductionTypeNamed(part);
  if (reduces && !result.rank && type) {
    if (hasType)
      return fail("expected one type, got a second, '." + part + "'");
    hasType = true;
    result.type = *type;
    return;
  }
  std::optional<ReductionOp> op = reductionOpNamed(part);
  if (!reduces || !op)
    return fail("'." + part + "' is not understood in a bulk copy");
  if (result.reduction)
    return fail("expected one operation, got a second, '." + part + "'");
  result.reduction = op;
}

/// Parts that are there or not. Result: whether it is one.
bool BulkOpcodeReader::readFlag(const std::string &part) {
  bool *flag = nullptr;
  if (part == "mbarrier::complete_tx::bytes")
    flag = &onMbarrier;
  else if (part == "bulk_group")
    flag = &inBulkGroup;
  else if (part == "L2::cache_hint")
    flag = &result.cacheHint;
  else if (part == "multicast::cluster")
    flag = &result.multicast;
  else if (part == "cp_mask")
    flag = &result.byteMask;
  else if (part == "noftz")
    flag = &noFtz;
  else if (part == "L2" && prefetches)
    flag = &toL2;
  else if (part == "tile::gather4" && result.rank)
    flag = &gathers;
  else if (part == "tile::scatter4" && result.rank)
    flag = &scatters;
  else if ((part == "cta_group::1" || part == "cta_group::2") && !hasCtaGroup) {
    flag = &hasCtaGroup;
    result.pair = part == "cta_group::2";
  } else if (part == "tile" && result.rank)
    return true;
  if (flag)
    *flag = true;
  return flag;
}

void BulkOpcodeReader::findKind() {
  bool loads = hasSpaces("shared::cta", "global") || hasSpaces("shared::cluster", "global");
  if (prefetches && toL2 && spaces.size() == 1 && spaces[0] == "global" && !onMbarrier && !inBulkGroup && !reduces)
    result.kind = Kind::Prefetch;
  else if (!prefetches && loads && onMbarrier && !inBulkGroup && !reduces)
    result.toOwnCta = spaces[0] == "shared::cta"; // Kind::Load
  else if (!prefetches && !result.rank && hasSpaces("shared::cluster", "shared::cta") && onMbarrier && !inBulkGroup)
    result.kind = Kind::Peer;
  else if (!prefetches && hasSpaces("global", "shared::cta") && inBulkGroup && !onMbarrier)
    result.kind = Kind::Store;
  else
    fail("expected a bulk copy of global to shared memory or of shared::cta to shared::cluster with "
         "mbarrier::complete_tx::bytes, or of shared::cta to global memory with bulk_group");
}

void BulkOpcodeReader::checkKind() {
  bool toCluster = result.kind == Kind::Load && !result.toOwnCta;
  if (result.multicast && !toCluster)
    return fail("expected .multicast::cluster only from global memory to shared::cluster");
  if (hasCtaGroup && (result.kind != Kind::Load || !result.rank))
    return fail("expected .cta_group only in tensor copies to shared memory");
  if (result.byteMask && (result.kind != Kind::Store || result.rank || reduces))
    return fail("expected .cp_mask only in cp.async.bulk of shared::cta to global memory");
  if (result.cacheHint && result.kind == Kind::Peer)
    return fail("expected .L2::cache_hint only in copies from or to global memory");
  if (noFtz && !reduces)
    return fail("expected .noftz only in reductions");
  result.fourRows = gathers || scatters;
  bool fits = scatters ? result.kind == Kind::Store && !reduces && !gathers : result.kind != Kind::Store;
  if (result.fourRows && (!fits || result.rank != 2))
    return fail("expected .tile::gather4 in 2d loads and prefetches, .tile::scatter4 in 2d stores");
}

void BulkOpcodeReader::checkReduction() {
  if (!result.reduction)
    return fail("expected an operation: .add, .min, .max, .inc, .dec, .and, .or or .xor");
  if (result.rank)
    return noFtz ? fail("expected .noftz only without a tensor map") : void();
  if (!hasType)
    return fail("expected a type of the elements");
  bool isShortSum = *result.reduction == ReductionOp::Add &&
                    (result.type == ReductionType::F16 || result.type == ReductionType::BF16);
  if (isShortSum != noFtz)
    return fail(noFtz ? "expected .noftz only in .add of .f16 and .bf16" : "expected .noftz in .add of .f16 and .bf16");
  ReductionTarget target = result.kind == Kind::Peer ? ReductionTarget::Shared : ReductionTarget::Global;
  if (!exists({*result.reduction, result.type}, target))
    fail("there is no such reduction of this type (PTX ISA 9.7.9.25.4.2)");
}

} // namespace

std::optional<BulkOpcode> parseBulkOpcode(const std::vector<std::string> &parts, std::string &error) {
  error.clear();
  return BulkOpcodeReader(parts, error).read();
}

} // namespace headrace::sim
