// Tensor memory as an operation of tcgen05 reaches it: allocated columns only, and every access checked.
#ifndef HEADRACE_LIB_SIM_TENSORMEMORY_TENSORACCESS_H
#define HEADRACE_LIB_SIM_TENSORMEMORY_TENSORACCESS_H

#include "headrace/Sim/Instructions/Decoder.h"

#include <string>

namespace headrace::sim::tcgen05 {

/// A tensor memory address: lane << 16 | column (PTX ISA 9.7.16.2.3).
struct TensorAddress {
  explicit TensorAddress(uint32_t bits) : lane(static_cast<int>(bits >> 16)), column(static_cast<int>(bits & 0xFFFF)) {}
  int lane;
  int column;
};

/// The tensor memory of one CTA during one operation.
class TensorAccess {
public:
  TensorAccess(AsyncContext &ctx, Cta &cta) : ctx(ctx), cta(cta), agent(ctx.agent) { agent.view = View::Tensor; }

  /// Whether columns [first, first + count) exist and are allocated; a finding if not.
  bool reaches(int first, int count) const;

  /// Words of one lane. Requires: reaches(column, count), and a lane below Cta::kTensorLanes.
  void read(int lane, int column, int count, uint32_t *out) const;
  /// As read, but words that nobody has written are no finding: `written` becomes all ones for the others, 0 for them.
  void readAny(int lane, int column, int count, uint32_t *out, uint32_t *written) const;
  void write(int lane, int column, int count, const uint32_t *in) const;

private:
  AsyncContext &ctx;
  Cta &cta;
  Agent agent;
};

/// The one lane that issues an instruction of Scope::Thread; a finding if there are more.
int singleIssuer(const Lanes &lanes);

/// Rank of the first of the CTAs that an instruction of `.cta_group::ctaGroup` works on: the pair's even one, or the
/// executing CTA. -1 after a finding: there is no pair.
int firstRankOf(const Lanes &lanes, int ctaGroup);

/// The shared::cluster address of a place in the shared memory of the CTA of rank `rank`.
uint32_t addressInCta(uint32_t rank, uint32_t offset);

/// Of operations that one thread's tensor core performs in the order of their issue (PTX ISA 9.7.16.6).
uint64_t tensorCoreOrder(const Lanes &lanes, int lane);

/// Issues an operation of the lane's tensor core stream.
void issueToTensorCore(const Lanes &lanes, int lane, const char *what, std::string description,
                       std::function<void(AsyncContext &)> perform);

/// "0x004000c0".
std::string hex(uint32_t value);

} // namespace headrace::sim::tcgen05

#endif
