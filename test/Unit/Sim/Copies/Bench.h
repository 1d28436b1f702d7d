// A cluster on which single instructions are run, without a program around them.
#ifndef HEADRACE_TEST_UNIT_SIM_COPIES_BENCH_H
#define HEADRACE_TEST_UNIT_SIM_COPIES_BENCH_H

#include "headrace/Sim/Instructions/Decoder.h"
#include "headrace/Sim/Machine/Program.h"
#include "headrace/Sim/Ptx/Parser.h"

#include "gtest/gtest.h"

#include <cstring>
#include <deque>

namespace headrace::sim {

/// CTAs of one warp with 16 KB of shared memory each. Registers: predicate %p1.
class Bench {
public:
  static constexpr int64_t kSharedBytes = 16384;

  explicit Bench(Policy policy = Policy::Late, uint32_t ctas = 1) {
    addCopyInstructions(registry);
    launch.grid = launch.cluster = {ctas, 1, 1};
    launch.block = {32, 1, 1};
    launch.sharedBytes = kSharedBytes;
    launch.memory = &memory;
    launch.policy = policy;
    program.function = &instructionOf("ret").function;
    program.architecture = 100;
    cluster = std::make_unique<Cluster>(program, launch, 0, 1, findings);
  }

  /// Why the instruction cannot be decoded, or "".
  std::string refusal(const std::string &text) {
    const Parsed &parsed = instructionOf(text);
    Decoder decoder(parsed.instruction(), parsed.function, program.symbols);
    registry.find(parsed.instruction().opcode.front())(decoder);
    return decoder.error;
  }

  /// Runs an instruction in lanes of a CTA.
  Step run(const std::string &text, uint32_t rank = 0, LaneMask mask = 1) {
    const Parsed &parsed = instructionOf(text);
    Decoder decoder(parsed.instruction(), parsed.function, program.symbols);
    Evaluator evaluator = registry.find(parsed.instruction().opcode.front())(decoder);
    EXPECT_EQ(decoder.error, "") << text;
    if (decoder.failed())
      return Step::Done;
    Lanes lanes = lanesOf(rank, mask, parsed.instruction());
    return evaluator(lanes);
  }

  Lanes lanesOf(uint32_t rank, LaneMask mask, const ptx::Instruction &instruction) {
    Cta &cta = *cluster->ctas[rank];
    return Lanes(*cluster, cta, *cta.warps[0], mask, instruction);
  }
  /// Lanes that do something else than a copy.
  Lanes lanesOf(uint32_t rank = 0, LaneMask mask = 1) {
    return lanesOf(rank, mask, instructionOf("ret").instruction());
  }

  void setPredicate(bool value) { cluster->ctas[0]->warps[0]->cells(0)[0] = value; }

  /// Makes an mbarrier as thread 0 of its CTA would.
  Mbarrier &addMbarrier(uint32_t offset, uint32_t arrivals = 1, uint32_t rank = 0) {
    Cta &cta = *cluster->ctas[rank];
    Epoch never; // everybody comes after its initialisation
    cta.mbarriers.emplace(offset, Mbarrier(cluster->newComponent(), arrivals, never));
    return cta.mbarriers.at(offset);
  }

  /// Performs all that is in flight.
  void finish() {
    while (cluster->engine.performOne())
      ;
  }

  const uint8_t *shared(uint32_t offset, uint32_t rank = 0) { return cluster->ctas[rank]->shared.peek(offset); }
  void store(uint32_t offset, const std::vector<uint8_t> &bytes, uint32_t rank = 0) {
    lanesOf(rank).storeShared(0, rank << 24 | offset, static_cast<int64_t>(bytes.size()), bytes.data());
  }
  /// What fence.proxy.async does for thread 0.
  void fenceProxy(uint32_t rank = 0) {
    Lanes lanes = lanesOf(rank);
    lanes.clock(0).async.join(lanes.state(0).clock->generic);
    lanes.clock(0).async.raise(lanes.epoch(0));
  }

  /// The messages of all findings of a kind.
  std::vector<std::string> messages(FindingKind kind) const {
    std::vector<std::string> result;
    for (const Findings::Entry &entry : findings.sorted())
      if (entry.finding.kind == kind)
        result.push_back(entry.finding.message);
    return result;
  }

  GlobalMemory memory;
  Launch launch;
  Program program;
  Findings findings;
  std::unique_ptr<Cluster> cluster;

private:
  struct Parsed {
    ptx::Function function;
    const ptx::Instruction &instruction() const { return function.instructions.front(); }
  };

  const Parsed &instructionOf(const std::string &text) {
    ptx::ParseError error;
    std::optional<ptx::Module> module =
        ptx::parse(".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{ .reg .pred %p1;\n" + text +
                       ";\nret;\n}\n",
                   "bench.ptx", error);
    EXPECT_TRUE(module) << text << ": " << error.message;
    parsed.push_back({module ? module->functions.front() : ptx::Function()});
    return parsed.back();
  }

  Registry registry;
  std::deque<Parsed> parsed;
};

} // namespace headrace::sim

#endif
