// Variables of modules and functions, and their initial values.
#include "Parsing.h"

using namespace headrace::sim::ptx;

namespace {

using Bytes = std::vector<uint8_t>;

std::vector<Variable> parsedVariables(const std::string &text) { return parsed(kModuleHead + text).variables; }

Variable parsedVariable(const std::string &text) {
  std::vector<Variable> variables = parsedVariables(text);
  EXPECT_EQ(variables.size(), 1u);
  return variables.empty() ? Variable() : variables.front();
}

TEST(Variables, ExternalShared) {
  Variable variable = parsedVariable(".extern .shared .align 1024 .b8 s[];");
  EXPECT_EQ(variable.name, "s");
  EXPECT_EQ(variable.space, Space::Shared);
  EXPECT_TRUE(variable.isExternal);
  EXPECT_EQ(variable.bytes, 0);
  EXPECT_EQ(variable.align, 1024);
}

TEST(Variables, SizesAndAlignments) {
  std::vector<Variable> variables = parsedVariables(".shared .b8 a[7], b; .visible .global .u32 c[2][3][4];\n"
                                                    ".weak .const .align 16 .f64 d; .global .v4 .f32 e[2];\n"
                                                    ".global .b128 f;");
  struct Expected {
    const char *name;
    Space space;
    int64_t bytes, align;
  };
  std::vector<Expected> expected = {{"a", Space::Shared, 7, 1},   {"b", Space::Shared, 1, 1},
                                    {"c", Space::Global, 96, 4},  {"d", Space::Const, 8, 16},
                                    {"e", Space::Global, 32, 16}, {"f", Space::Global, 16, 16}};
  ASSERT_EQ(variables.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(variables[i].name, expected[i].name);
    EXPECT_EQ(variables[i].space, expected[i].space);
    EXPECT_EQ(variables[i].bytes, expected[i].bytes) << variables[i].name;
    EXPECT_EQ(variables[i].align, expected[i].align) << variables[i].name;
    EXPECT_FALSE(variables[i].isExternal);
    EXPECT_TRUE(variables[i].initial.empty());
  }
}

TEST(Variables, InitialValues) {
  EXPECT_EQ(parsedVariable(".global .u32 x = 0x1234;").initial, (Bytes{0x34, 0x12, 0, 0}));
  EXPECT_EQ(parsedVariable(".const .s16 x[3] = {-1, 2};").initial, (Bytes{255, 255, 2, 0, 0, 0}));
  EXPECT_EQ(parsedVariable(".const .b8 x[] = {1, 255, -128};").initial, (Bytes{1, 255, 128}));
  EXPECT_EQ(parsedVariable(".global .b8 x[4] = {};").initial, (Bytes{0, 0, 0, 0}));
  EXPECT_EQ(parsedVariable(".global .f32 x = 0f3F800000;").initial, (Bytes{0, 0, 0x80, 0x3F}));
  EXPECT_EQ(parsedVariable(".global .f32 x = -1.0;").initial, (Bytes{0, 0, 0x80, 0xBF}));
  EXPECT_EQ(parsedVariable(".global .b32 x = 0f3F800000;").initial, (Bytes{0, 0, 0x80, 0x3F}));
  EXPECT_EQ(parsedVariable(".global .f64 x = 1.0;").initial, (Bytes{0, 0, 0, 0, 0, 0, 0xF0, 0x3F}));
  EXPECT_EQ(parsedVariable(".global .v2 .u16 x[] = {1, 2, 3};").initial, (Bytes{1, 0, 2, 0, 3, 0, 0, 0}));
}

TEST(Variables, EveryByte) {
  for (int value = -128; value < 256; ++value)
    EXPECT_EQ(parsedVariable(".global .u8 x = " + std::to_string(value) + ";").initial,
              (Bytes{static_cast<uint8_t>(value)}));
}

TEST(Variables, InFunctions) {
  Function function = parsedBody(".local .align 4 .b8 depot[16]; .shared .b32 s; mov.b64 %rd1, depot; "
                                 "st.shared.b32 [s+4], %r1;");
  ASSERT_EQ(function.variables.size(), 2u);
  EXPECT_EQ(function.variables[0].space, Space::Local);
  EXPECT_EQ(function.variables[0].bytes, 16);
  EXPECT_EQ(function.instructions[0].operands[1].name, "depot");
  EXPECT_EQ(function.instructions[1].operands[0].elements[0].name, "s");
}

/// Scopes are gone behind the parser, so variables of one name get names of their own.
TEST(Variables, OfOneNameAreToldApart) {
  Module module = parsed(kModuleHead + ".shared .b32 q;\n.entry k() { { .shared .b32 q; st.b32 [q], 1; }\n"
                                       "{ .shared .b32 q; st.b32 [q], 1; } st.b32 [q], 1; }");
  const Function &function = module.functions[0];
  std::vector<std::string> used;
  for (const Instruction &instruction : function.instructions)
    used.push_back(instruction.operands[0].elements[0].name);
  EXPECT_EQ(used[0], function.variables[0].name);
  EXPECT_EQ(used[1], function.variables[1].name);
  EXPECT_EQ(used[2], "q");
  EXPECT_NE(used[0], used[1]);
  EXPECT_NE(used[0], "q");
  EXPECT_NE(used[1], "q");
}

TEST(Variables, Errors) {
  auto error = [](const std::string &text) { return errorOf(kModuleHead + text); };
  EXPECT_EQ(error(".shared .b8 x[];"), "4:13: expected a size for 'x', got '[]'");
  EXPECT_EQ(error(".extern .global .b8 x[];"), "4:21: expected a size for 'x', got '[]'");
  EXPECT_EQ(error(".global .b8 x[] = {};"), "4:13: expected a size for 'x', got '[]'");
  EXPECT_EQ(error(".extern .shared .b8 x[][2];"), "4:24: expected one dimension for an array without a size, got '['");
  EXPECT_EQ(error(".global .b8 x[0];"), "4:15: expected a size from 1 to 4294967296, got '0'");
  EXPECT_EQ(error(".global .align 3 .b8 x;"), "4:16: expected a power of two as alignment, got '3'");
  EXPECT_EQ(error(".global .b8 .align 4 x;"), "4:13: expected a name, got '.align'");
  EXPECT_EQ(error(".global .pred x;"), "4:9: expected a type of whole bytes, got '.pred'");
  EXPECT_EQ(error(".global .texref x;"), "4:9: expected a type of whole bytes, got '.texref'");
  EXPECT_EQ(error(".shared .b8 x = 1;"), "4:15: expected no initial value for 'x', got '='");
  EXPECT_EQ(error(".global .u8 x = 256;"), "4:17: expected an initial value of 8 bits, got '256'");
  EXPECT_EQ(error(".global .u8 x = -129;"), "4:18: expected an initial value of 8 bits, got '129'");
  EXPECT_EQ(error(".global .f32 x = 1;"), "4:18: expected an initial value of the type of 'x', got '1'");
  EXPECT_EQ(error(".global .b16 x = 0d3FF0000000000000;"),
            "4:18: expected an initial value of the type of 'x', got '0d3FF0000000000000'");
  EXPECT_EQ(error(".global .u8 x[2] = {1, 2, 3};"), "4:27: expected at most 2 initial values, got '3'");
  EXPECT_EQ(error(".global .u8 x[2][1] = {1, 2};"),
            "4:23: expected no initial value for an array of several dimensions, got '{'");
  EXPECT_EQ(error(".global .u64 y; .global .u64 x = generic(y);"),
            "4:34: expected a constant as initial value (addresses are not supported), got 'generic'");
  EXPECT_EQ(error(".global .u8 x;\n.global .u8 x;"),
            "5:13: expected a new name, got 'x', a variable of the module of line 4");
  EXPECT_EQ(error(".entry k() { .shared .b8 x; }\n.global .u8 x;"),
            "5:13: expected a name that no kernel above declares inside, got 'x'");
  EXPECT_EQ(error(".local .u8 x;"), "4:1: expected a variable or a kernel, got '.local'");
}

} // namespace
