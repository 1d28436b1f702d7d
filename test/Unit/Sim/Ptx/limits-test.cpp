// Hostile texts: short ones that ask for much, and long ones that must not take long.
#include "Parsing.h"

#include <chrono>

using namespace headrace::sim::ptx;

namespace {

std::string repeated(const std::string &text, size_t count) {
  std::string result;
  result.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i)
    result += text;
  return result;
}

TEST(Limits, Registers) {
  EXPECT_EQ(errorOf(kernelWith(".reg .b32 %x<4000000000>;")),
            "6:11: expected at most 1048576 registers in the module, got 4000000000 more in '%x'");
  EXPECT_NE(errorOf(kernelWith(".reg .b32 %x<18446744073709551615>;")), "");
  // The limit is that of all kernels together.
  EXPECT_EQ(errorOf(kModuleHead + ".entry a() { .reg .b32 %x<700000>; }\n.entry b() { .reg .b32 %x<700000>; }"),
            "5:24: expected at most 1048576 registers in the module, got 700000 more in '%x'");
  EXPECT_EQ(errorOf(kernelWith(".reg .b32 " + std::string(65, 'x') + "<9>;")),
            "6:11: expected at most 64 characters for the name of numbered registers, got 65");
}

TEST(Limits, Sizes) {
  auto error = [](const std::string &text) { return errorOf(kModuleHead + text); };
  EXPECT_EQ(parsed(kModuleHead + ".global .b8 x[4294967296];").variables[0].bytes, int64_t(1) << 32);
  EXPECT_EQ(error(".global .b16 x[4294967296];"), "4:15: expected at most 4294967296 bytes for 'x', got more");
  EXPECT_EQ(error(".global .b8 x[4294967296][4294967296];"),
            "4:26: expected at most 4294967296 bytes for 'x', got more");
  EXPECT_EQ(error(".global .b8 x[4294967296] = {1};"), "4:13: expected less than 64 MiB of initial values, got more");
  EXPECT_NE(error(".global .b8 x[99999999999999999999];"), "");
  EXPECT_EQ(error(".global .align 131072 .b8 x;"), "4:16: expected an alignment from 1 to 65536, got '131072'");
}

TEST(Limits, Depth) {
  Function function = parsedBody(repeated("{", 63) + "bra L;" + repeated("}", 63) + "L:");
  EXPECT_EQ(function.instructions[0].operands[0].target, 1u);
  EXPECT_EQ(errorOf(kernelWith(repeated("{", 64))), "6:64: expected at most 64 scopes in one another, got '{'");
  EXPECT_NE(errorOf(kernelWith(repeated("{", 1000000))), "");
  EXPECT_NE(errorOf(kernelWith("mov.b32 %r1, " + repeated("{", 1000000))), "");
  EXPECT_NE(errorOf(kernelWith("mov.b32 %r1, " + repeated("[", 1000000))), "");
  EXPECT_NE(errorOf(kernelWith("mov.b32 %r1, " + repeated("-", 1000000))), "");
}

TEST(Limits, Names) {
  std::string longest(1024, 'x');
  EXPECT_EQ(parsedBody(".reg .b32 " + longest + ";").registers.back().name, longest);
  EXPECT_EQ(errorOf(kernelWith(".reg .b32 " + longest + "x;")).substr(0, 62),
            "6:11: expected the name of a register, got a name of more than");
}

TEST(Limits, BranchTargets) {
  std::string list = "ts: .branchtargets " + repeated("L, ", 999) + "L; L: ";
  EXPECT_EQ(parsedBody(list + repeated("brx.idx %r1, ts;\n", 65)).instructions.size(), 65u);
  EXPECT_NE(errorOf(kernelWith(list + repeated("brx.idx %r1, ts;\n", 66))).find("at most 65536 targets"),
            std::string::npos);
}

/// Each of these takes well under a second unless something is quadratic.
TEST(Limits, LongTextsAreReadInLinearTime) {
  constexpr size_t kCount = 50000;
  auto start = std::chrono::steady_clock::now();
  parsedBody(repeated("{ .reg .pred p; W: bra W; @p bra D; D: }\n", kCount));
  parsedBody(repeated("{", 60) + repeated("bra L;", kCount) + repeated("}", 60) + "L:");
  parsedBody("op " + repeated("{%r1, %r2}, ", kCount) + "_;");
  parsedBody("op [%r1" + repeated("+1", kCount) + repeated(", 1", kCount) + "];");
  parsedBody("ret" + repeated(".x", kCount) + ";");
  parsed(kModuleHead + repeated("/* * / */ // /*\n\n", kCount));
  parsed(kModuleHead + ".global .b8 x[] = {" + repeated("1, ", kCount) + "1};");
  EXPECT_NE(errorOf(kModuleHead + repeated("/* ", kCount)), "");
  EXPECT_NE(errorOf(kernelWith("mov.b64 %rd1, " + repeated("1", kCount) + ";")), "");
  EXPECT_NE(errorOf(kernelWith("mov.b64 %rd1, 1." + repeated("1", kCount) + "e99999;")), "");
  EXPECT_NE(errorOf(kernelWith(repeated("L", kCount) + ":")), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

} // namespace
