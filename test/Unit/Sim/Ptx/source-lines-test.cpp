// `.file` and `.loc`.
#include "Parsing.h"

using namespace headrace::sim::ptx;

namespace {

std::string placeOf(const Instruction &instruction) {
  return instruction.source.file + ":" + std::to_string(instruction.source.line) + ":" +
         std::to_string(instruction.source.column);
}

std::vector<std::string> placesOf(const std::string &text) {
  std::vector<std::string> places;
  for (const Function &function : parsed(text).functions)
    for (const Instruction &instruction : function.instructions)
      places.push_back(placeOf(instruction));
  return places;
}

using Places = std::vector<std::string>;

TEST(SourceLines, LastLocationCounts) {
  EXPECT_EQ(placesOf(kModuleHead + ".file 7 \"b.mlir\"\n.entry k() {\nret;\n.loc 7 1 2\n.loc 7 3 4\nret; ret;\n"
                                   "{ .loc 9 5 6\nret; }\nret; }\n.file 9 \"a.mlir\", 1212, 12\n"),
            (Places{":0:0", "b.mlir:3:4", "b.mlir:3:4", "a.mlir:5:6", "a.mlir:5:6"}));
}

TEST(SourceLines, EndWithTheFunction) {
  EXPECT_EQ(placesOf(kModuleHead + ".file 1 \"a\"\n.entry k() { .loc 1 1 2 ret; } .entry l() { ret; .loc 1 3 4 ret; }"),
            (Places{"a:1:2", ":0:0", "a:3:4"}));
}

TEST(SourceLines, InlinedCodeHasItsOwnPlace) {
  EXPECT_EQ(placesOf(kernelWith(".loc 1 2 3, function_name $L__info_string0, inlined_at 2 8 9\nret;\n"
                                ".loc 1 4 5, function_name $L__info_string0 + 16, inlined_at 2 8 9\nret;") +
                     ".file 1 \"a\" .file 2 \"b\""),
            (Places{"a:2:3", "a:4:5"}));
}

TEST(SourceLines, Escapes) {
  EXPECT_EQ(placesOf(kernelWith(".loc 1 2 3 ret;") + R"(.file 1 "a\\b\"c\101\t")"), (Places{"a\\b\"cA\t:2:3"}));
}

TEST(SourceLines, OfTheSample) {
  Module module = parsed(kSample);
  const std::vector<Instruction> &code = module.functions[0].instructions;
  EXPECT_EQ(placeOf(code.front()), "/tmp/gemm.mlir:16:0");
  EXPECT_EQ(placeOf(code.back()), "/tmp/gemm.mlir:21:4");
}

TEST(SourceLines, Errors) {
  auto error = [](const std::string &body, const std::string &behind = "") {
    return errorOf(kernelWith(body) + behind);
  };
  EXPECT_EQ(error(".loc 3 1 2\nret;"), "6:6: expected the number of a file, got '3', for which there is no .file");
  EXPECT_EQ(error(".loc 1 2 ret;"), "6:10: expected a column, got 'ret'");
  EXPECT_EQ(error(".loc 1 2 3;"), "6:11: expected a statement, got ';'");
  EXPECT_EQ(error(".loc 1 2 3, inlined_at 1 2 3"), "6:13: expected 'function_name', got 'inlined_at'");
  EXPECT_EQ(error(".loc 1 99999999999 3"), "6:8: expected a line from 0 to 268435456, got '99999999999'");
  EXPECT_EQ(error("", ".file 1 \"a\" .file 1 \"a\""), "8:19: expected a new number of a file, got '1'");
  EXPECT_EQ(error("", ".file 1 a"), "8:9: expected the name of a file, got 'a'");
  EXPECT_EQ(error("", ".file 1 \"a\\q\""), "8:9: expected known escapes, got '\"a\\q\"'");
}

} // namespace
