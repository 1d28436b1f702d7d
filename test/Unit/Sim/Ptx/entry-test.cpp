// Modules and the heads of kernels.
#include "Parsing.h"

using namespace headrace::sim::ptx;

namespace {

Function parsedEntry(const std::string &entry) {
  Module module = parsed(kModuleHead + entry);
  return module.functions.empty() ? Function() : module.functions.front();
}

TEST(Entry, OfTheSample) {
  Module module = parsed(kSample);
  EXPECT_EQ(module.file, "test.ptx");
  EXPECT_EQ(module.version, "9.0");
  EXPECT_EQ(module.target, "sm_90a");
  ASSERT_EQ(module.functions.size(), 1u);
  const Function &gemm = module.functions[0];
  EXPECT_EQ(gemm.name, "gemm");
  EXPECT_TRUE(gemm.isEntry);
  EXPECT_EQ(gemm.line, 14);
  EXPECT_EQ(gemm.requiredThreads, (std::array<int, 3>{384, 1, 1}));
  EXPECT_EQ(gemm.maxThreads, (std::array<int, 3>{0, 0, 0}));
  EXPECT_EQ(gemm.cluster, (std::array<int, 3>{2, 1, 1}));
  EXPECT_EQ(gemm.instructions.size(), 24u);
}

TEST(Entry, Parameters) {
  Function function = parsedEntry(".entry k(.param .u64 .ptr .global .align 16 a, .param .align 64 .b8 b[128],\n"
                                  ".param .u64 .ptr c, .param .u8 d, .param .f16x2 e, .param .v4 .f32 f,\n"
                                  ".param .b8 g[2][3], .param .u64 .ptr.shared .align 4 h) { ret; }");
  struct Expected {
    const char *name;
    int bytes, align;
  };
  std::vector<Expected> expected = {{"a", 8, 8}, {"b", 128, 64}, {"c", 8, 8}, {"d", 1, 1},
                                    {"e", 4, 4}, {"f", 16, 16},  {"g", 6, 1}, {"h", 8, 8}};
  ASSERT_EQ(function.parameters.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(function.parameters[i].name, expected[i].name);
    EXPECT_EQ(function.parameters[i].bytes, expected[i].bytes);
    EXPECT_EQ(function.parameters[i].align, expected[i].align);
  }
}

TEST(Entry, Directives) {
  Function function = parsedEntry(".weak .entry k() .maxntid 128 .reqntid 32,4 .minnctapersm 1 .maxnreg 128 .noreturn\n"
                                  ".maxclusterrank 8 .pragma \"nounroll\"; { ret; }");
  EXPECT_EQ(function.maxThreads, (std::array<int, 3>{128, 1, 1}));
  EXPECT_EQ(function.requiredThreads, (std::array<int, 3>{32, 4, 1}));
  EXPECT_EQ(function.cluster, (std::array<int, 3>{0, 0, 0}));
}

TEST(Entry, SeveralWithTheSameNamesInside) {
  Module module = parsed(kModuleHead + ".entry a(.param .u32 p) { .reg .b32 r; L: ld.param.b32 r, [p]; bra L; }\n"
                                       ".entry b(.param .u32 p) { .reg .b32 r; L: ld.param.b32 r, [p]; bra L; }\n"
                                       ".entry c { }\n");
  ASSERT_EQ(module.functions.size(), 3u);
  EXPECT_EQ(module.functions[1].instructions[0].operands[1].elements[0].name, "p");
  EXPECT_TRUE(module.functions[2].instructions.empty());
}

TEST(Entry, LinesAndComments) {
  Function function = parsedBody("// one { @ ;\nret; /* two\n; * / */ ret;ret;\n\n@%p1\nret;");
  std::vector<int> lines;
  for (const Instruction &instruction : function.instructions)
    lines.push_back(instruction.line);
  EXPECT_EQ(lines, (std::vector<int>{7, 8, 8, 11}));
}

TEST(Entry, TargetOptions) {
  EXPECT_EQ(parsed(".version 8.6 .target sm_100f, debug, texmode_unified .address_size 64").target, "sm_100f");
  EXPECT_EQ(parsed(".version 8.6 .target sm_75 .address_size 64").target, "sm_75");
}

} // namespace
