// Names and scopes: shadowing, labels forward and backward, lists of branch targets.
#include "Parsing.h"

using namespace headrace::sim::ptx;

namespace {

/// Where the branches of a body lead, in order.
std::vector<size_t> targetsOf(const std::string &body) {
  std::vector<size_t> targets;
  for (const Instruction &instruction : parsedBody(body).instructions)
    for (const Operand &operand : instruction.operands)
      if (operand.kind == Operand::Kind::Label)
        targets.push_back(operand.target);
  return targets;
}

using Targets = std::vector<size_t>;

TEST(Labels, ForwardAndBackward) {
  EXPECT_EQ(targetsOf("A: bra B; bra A; B: ret;"), (Targets{2, 0}));
  EXPECT_EQ(targetsOf("A: B: C: bra.uni A; bra.uni B; @%p1 bra C; ret;"), (Targets{0, 0, 0}));
}

TEST(Labels, AtTheEnd) {
  EXPECT_EQ(targetsOf("bra E; { bra D; D: } E:"), (Targets{2, 2}));
  EXPECT_EQ(targetsOf("bra E; E:"), (Targets{1}));
}

TEST(Labels, SameNamesInSiblingScopes) {
  std::string wait = "{ .reg .pred p; W: mbarrier.try_wait.b64 p, [%r1], %r2; @!p bra W; @p bra D; D: }\n";
  EXPECT_EQ(targetsOf(wait + wait + wait), (Targets{0, 3, 3, 6, 6, 9}));
}

TEST(Labels, InnermostWinsEvenIfItComesLater) {
  EXPECT_EQ(targetsOf("L: ret; { bra L; ret; L: ret; } bra L;"), (Targets{3, 0}));
  EXPECT_EQ(targetsOf("{ { bra L; } ret; L: ret; } L: ret;"), (Targets{2}));
  EXPECT_EQ(targetsOf("{ { bra L; } ret; } ret; L: ret;"), (Targets{3}));
}

TEST(Labels, NeverMixedUpWithRegistersOfOtherScopes) {
  EXPECT_EQ(targetsOf(".reg .pred q; { bra q; q: ret; }"), (Targets{1}));
}

TEST(Labels, Errors) {
  auto error = [](const std::string &body) { return errorOf(kernelWith(body)); };
  EXPECT_EQ(error("ret; bra L;"), "6:10: expected a label, got 'L', which no scope here declares");
  EXPECT_EQ(error("bra L; { L: ret; }"), "6:5: expected a label, got 'L', which no scope here declares");
  EXPECT_EQ(error("{ { bra L; } }"), "6:9: expected a label, got 'L', which no scope here declares");
  EXPECT_EQ(error("L: ret;\nL: ret;"), "7:1: expected a new name, got 'L', a label of line 6");
  EXPECT_EQ(error("%r1: ret;"), "6:1: expected a new name, got '%r1', a register of line 5");
  EXPECT_EQ(error("bra %r1;"), "6:5: expected a label, got '%r1', a register of line 5");
  EXPECT_EQ(error("L: mov.b32 %r1, L;"), "6:17: expected an operand, got 'L', a label of line 6");
  EXPECT_EQ(error("bra 5;"), "6:5: expected a label, got '5'");
  EXPECT_EQ(error("L::x ret;"), "6:3: expected a statement, got ':'");
}

TEST(BranchTargets, AreAVectorOfLabels) {
  Function function = parsedBody("ts: .branchtargets A, B, A; { brx.idx %r1, ts; A: ret; } A: ret; B: ret;");
  ASSERT_EQ(function.instructions.size(), 4u);
  const Operand &list = function.instructions[0].operands[1];
  ASSERT_EQ(list.kind, Operand::Kind::Vector);
  Targets targets;
  for (const Operand &element : list.elements) {
    EXPECT_EQ(element.kind, Operand::Kind::Label);
    targets.push_back(element.target);
  }
  EXPECT_EQ(targets, (Targets{1, 3, 1}));
}

TEST(BranchTargets, Errors) {
  auto error = [](const std::string &body) { return errorOf(kernelWith(body)); };
  EXPECT_EQ(error("brx.idx %r1, ts; ts: .branchtargets A; A:"), "6:14: expected a list of branch targets, got 'ts'");
  EXPECT_EQ(error("ts: .branchtargets A; brx.idx %r1, ts;"),
            "6:20: expected a label, got 'A', which no scope here declares");
  EXPECT_EQ(error("ts: .branchtargets A; A: bra ts;"), "6:30: expected a label, got 'ts', a list of branch targets of "
                                                       "line 6");
  EXPECT_EQ(error("ts: .calltargets A;"), "6:5: expected a statement, got '.calltargets'");
}

TEST(Registers, InnerOnesShadowAndAreNew) {
  Function function = parsedBody("mov.b32 %r1, 1; { .reg .b64 %r1, x; mov.b64 %r1, x; { .reg .b16 x; mov.b16 x, 1; } "
                                 "mov.b64 x, 1; } mov.b32 %r1, 1;");
  auto dest = [&](size_t i) { return function.registers[function.instructions[i].operands[0].reg]; };
  EXPECT_EQ(dest(0).bits, 32);
  EXPECT_EQ(dest(1).bits, 64);
  EXPECT_EQ(dest(2).name, "x");
  EXPECT_EQ(dest(2).bits, 16);
  EXPECT_EQ(dest(3).bits, 64);
  EXPECT_EQ(function.instructions[4].operands[0].reg, function.instructions[0].operands[0].reg);
}

TEST(Registers, Types) {
  Function function = parsedBody(".reg .pred a; .reg .b8 b; .reg .s16 c; .reg .f16 d; .reg .f16x2 e; .reg .u32 f; "
                                 ".reg .f64 g, h<2>; .reg .b128 i;");
  std::vector<std::pair<std::string, int>> expected = {{"a", 1},  {"b", 8},  {"c", 16},  {"d", 16},  {"e", 32},
                                                       {"f", 32}, {"g", 64}, {"h0", 64}, {"h1", 64}, {"i", 128}};
  ASSERT_EQ(function.registers.size(), 30 + expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(function.registers[30 + i].name, expected[i].first);
    EXPECT_EQ(function.registers[30 + i].bits, expected[i].second);
  }
}

TEST(Registers, Errors) {
  auto error = [](const std::string &body) { return errorOf(kernelWith(body)); };
  EXPECT_EQ(error(".reg .b32 %r3;"), "6:11: expected a new name, got '%r3', a register of line 5");
  EXPECT_EQ(error("{ .reg .b32 %x; } mov.b32 %r1, %x;"), "6:32: expected an operand, got '%x', which nothing declares");
  EXPECT_EQ(error("mov.b32 x, 1; .reg .b32 x;"), "6:9: expected an operand, got 'x', which nothing declares");
  EXPECT_EQ(error(".reg .bf16 x;"), "6:6: expected a type of registers, got '.bf16'");
  EXPECT_EQ(error(".reg .v2 .b32 x;"), "6:6: expected a type of registers, got '.v2'");
  EXPECT_EQ(error(".reg .b32 _;"), "6:11: expected a name, got '_'");
  EXPECT_EQ(error(".reg .b32 %x<-1>;"), "6:14: expected a number of registers, got '-'");
  EXPECT_EQ(error(".reg .b32 %x"), "7:1: expected ',' or ';', got '}'");
}

} // namespace
