// Runs a few matrix instructions on one CTA, with register contents and shared memory of the test's choice.
#ifndef HEADRACE_TEST_UNIT_SIM_MATRIX_MATRIXMACHINE_H
#define HEADRACE_TEST_UNIT_SIM_MATRIX_MATRIXMACHINE_H

#include "headrace/Sim/Machine/Cluster.h"
#include "headrace/Sim/Machine/Program.h"
#include "headrace/Sim/Ptx/Parser.h"

#include "gtest/gtest.h"

#include <memory>
#include <string>
#include <vector>

namespace headrace::sim {

class MatrixMachine {
public:
  struct Options {
    uint32_t warps = 1;
    std::string target = "sm_90a";
    Policy policy = Policy::Early;
    uint32_t clusterSize = 1;
  };

  static constexpr int64_t kSharedBytes = 1 << 17;

  /// `body` may use %r0 .. %r299 (32 bits), %d0 .. %d39 (64), %h0 .. %h7 (16) and %p0 .. %p3.
  MatrixMachine(const std::string &body, const Options &options) {
    std::string text = ".version 9.0\n.target " + options.target +
                       "\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<4>;\n.reg .b16 %h<8>;\n"
                       ".reg .b32 %r<300>;\n.reg .b64 %d<40>;\n" +
                       body + "\n}\n";
    ptx::ParseError wrong;
    module = ptx::parse(text, "test.ptx", wrong);
    if (!module) {
      error = wrong.message;
      return;
    }
    program = Program::decode(*module, "k", error);
    if (!program)
      return;
    launch.block[0] = 32 * options.warps;
    launch.grid[0] = launch.cluster[0] = options.clusterSize;
    launch.sharedBytes = kSharedBytes;
    launch.policy = options.policy;
    launch.memory = &memory;
    cluster = std::make_unique<Cluster>(*program, launch, 0, /*seed=*/1, findings);
  }

  ptx::RegId reg(const std::string &name) const {
    const std::vector<ptx::RegisterInfo> &registers = program->function->registers;
    for (ptx::RegId i = 0; i < registers.size(); ++i)
      if (registers[i].name == name)
        return i;
    ADD_FAILURE() << "no register " << name;
    return 0;
  }
  Warp &warp(int index = 0, uint32_t rank = 0) { return *cluster->ctas[rank]->warps[index]; }
  uint64_t *cells(const std::string &name, int index = 0, uint32_t rank = 0) {
    return warp(index, rank).cells(reg(name));
  }
  /// Gives a register one value everywhere.
  void setAll(const std::string &name, uint64_t value) {
    for (auto &cta : cluster->ctas)
      for (auto &warp : cta->warps) {
        std::fill_n(warp->cells(reg(name)), kLanes, value);
        warp->define(reg(name), ~LaneMask(0));
      }
  }
  /// For registers written through cells().
  void define(const std::string &name) {
    for (auto &cta : cluster->ctas)
      for (auto &warp : cta->warps)
        warp->define(reg(name), ~LaneMask(0));
  }
  /// Writes shared memory as if long ago, for everybody to see.
  void writeShared(int64_t offset, const void *data, int64_t count, uint32_t rank = 0) {
    Agent ancestor;
    ancestor.view = View::Async;
    ancestor.seen = std::make_shared<Clock>();
    cluster->ctas[rank]->shared.write(ancestor, offset, count, data);
  }

  /// Runs to the end.
  void run() {
    for (int turn = 0; turn < 100; ++turn)
      if (cluster->run(1 << 12) == Cluster::State::Finished)
        return;
    ADD_FAILURE() << "the program does not end";
  }
  /// "misaligned: expected the address ..." for each finding.
  std::vector<std::string> messages() const {
    std::vector<std::string> result;
    for (const Findings::Entry &entry : findings.sorted())
      result.push_back(std::string(nameOf(entry.finding.kind)) + ": " + entry.finding.message);
    return result;
  }
  void expectNoFindings() const {
    for (const std::string &message : messages())
      ADD_FAILURE() << message;
  }
  void expectFinding(const std::string &part) const {
    std::string all;
    for (const std::string &message : messages()) {
      if (message.find(part) != std::string::npos)
        return;
      all += message + "\n";
    }
    ADD_FAILURE() << "no finding with '" << part << "', but\n" << all;
  }

  std::string error; // of parsing and decoding
  Findings findings;
  std::unique_ptr<Cluster> cluster;

private:
  std::optional<ptx::Module> module;
  std::optional<Program> program;
  GlobalMemory memory;
  Launch launch;
};

/// "{%r4, %r5, %r6}".
inline std::string registerList(const std::string &prefix, int first, int count) {
  std::string result = "{";
  for (int i = 0; i < count; ++i)
    result += (i ? ", " : "") + prefix + std::to_string(first + i);
  return result + "}";
}

} // namespace headrace::sim

#endif
