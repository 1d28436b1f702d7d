// Runs a few instructions in a kernel of one block and looks at what each thread leaves behind.
#ifndef HEADRACE_TEST_UNIT_SIM_SCALAR_RUNNING_H
#define HEADRACE_TEST_UNIT_SIM_SCALAR_RUNNING_H

#include "headrace/Sim/Machine/Cluster.h"
#include "headrace/Sim/Machine/Program.h"
#include "headrace/Sim/Ptx/Parser.h"

#include "gtest/gtest.h"

#include <cstring>
#include <string>
#include <vector>

namespace headrace::sim {

/// A run of `body`. Registers: %p<16>, %c<8> (8 bits), %h<16>, %r<32>, %d<32>, %q<4> (128 bits), %f<16>, %g<16> (f64).
/// %r30 is the lane; %d30 the device address of 64 KB that start as zeros, also parameter `out`; `in` is a parameter of
/// 12345678; `sh` are 256 bytes of shared memory. The result of a thread is what it leaves in %d31.
class Snippet {
public:
  explicit Snippet(const std::string &body, uint32_t threads = 32, uint32_t ctas = 1) : global(65536) {
    const std::string text = ".version 9.0\n.target sm_100a\n.address_size 64\n"
                             ".visible .entry k(.param .u64 out, .param .u32 in) {\n"
                             ".reg .pred %p<16>;\n.reg .b8 %c<8>;\n.reg .b16 %h<16>;\n.reg .b32 %r<32>;\n"
                             ".reg .b64 %d<32>;\n.reg .b128 %q<4>;\n.reg .f32 %f<16>;\n.reg .f64 %g<16>;\n"
                             ".shared .align 16 .b8 sh[256];\n"
                             "ld.param.u64 %d30, [out];\nmov.u32 %r30, %laneid;\nmov.u32 %r29, %tid.x;\n"
                             "mov.b64 %d31, 0;\n" +
                             body +
                             "\nmul.wide.u32 %d29, %r29, 8;\nadd.s64 %d29, %d29, %d30;\n"
                             "st.global.b64 [%d29+32768], %d31;\nret;\n}\n";
    ptx::ParseError parseError;
    module = ptx::parse(text, "test.ptx", parseError);
    EXPECT_TRUE(module) << parseError.message << " in " << body;
    if (!module)
      return;
    program = Program::decode(*module, "k", error);
    if (program)
      execute(threads, ctas);
  }

  std::string error; // why it could not be decoded
  std::vector<uint8_t> global;
  Findings findings;

  uint64_t result(int thread = 0) const { return word<uint64_t>(32768 + 8 * static_cast<size_t>(thread)); }
  template <typename T> T word(size_t offset) const {
    T value;
    std::memcpy(&value, global.data() + offset, sizeof value);
    return value;
  }
  /// The messages of all findings, a line each: "misaligned: expected ...".
  std::string messages() const {
    std::string text;
    for (const Findings::Entry &entry : findings.sorted())
      text += std::string(nameOf(entry.finding.kind)) + ": " + entry.finding.message + "\n";
    return text;
  }

private:
  void execute(uint32_t threads, uint32_t ctas) {
    GlobalMemory memory;
    Launch launch;
    launch.grid = launch.cluster = {ctas, 1, 1};
    launch.block = {threads, 1, 1};
    launch.memory = &memory;
    launch.parameters.resize(static_cast<size_t>(program->parameterBytes));
    const uint64_t out = memory.map("out", global.data(), static_cast<int64_t>(global.size()));
    const uint32_t in = 12345678;
    std::memcpy(launch.parameters.data(), &out, 8);
    std::memcpy(launch.parameters.data() + 8, &in, 4);
    Cluster cluster(*program, launch, 0, 1, findings);
    Cluster::State state = Cluster::State::Running;
    for (int turns = 0; turns < 100 && state == Cluster::State::Running; ++turns)
      state = cluster.run(10000);
    EXPECT_TRUE(state == Cluster::State::Finished || state == Cluster::State::Stuck);
  }

  std::optional<ptx::Module> module;
  std::optional<Program> program;
};

/// What thread 0 leaves in %d31 without any finding.
inline uint64_t resultOf(const std::string &body) {
  Snippet run(body);
  EXPECT_EQ(run.error, "") << body;
  EXPECT_EQ(run.messages(), "") << body;
  return run.result();
}

/// Requires: `instruction` writes %r31.
inline uint32_t wordOf(const std::string &instruction) {
  return static_cast<uint32_t>(resultOf(instruction + "\ncvt.u64.u32 %d31, %r31;"));
}
/// Requires: `instruction` writes %h15.
inline uint16_t shortOf(const std::string &instruction) {
  return static_cast<uint16_t>(resultOf(instruction + "\ncvt.u64.u16 %d31, %h15;"));
}
/// Requires: `instruction` writes %p15.
inline bool predicateOf(const std::string &instruction) {
  return resultOf(instruction + "\nselp.b64 %d31, 1, 0, %p15;") != 0;
}
/// Why it is refused, or "".
inline std::string refusalOf(const std::string &body) { return Snippet(body).error; }

} // namespace headrace::sim

#endif
