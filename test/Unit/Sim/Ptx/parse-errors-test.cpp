// Texts that are no PTX, or PTX that the simulator does not take: each is refused at its place.
#include "Parsing.h"

using namespace headrace::sim::ptx;

namespace {

TEST(ParseErrors, Head) {
  EXPECT_EQ(errorOf(""), "1:1: expected '.version', got the end of the text");
  EXPECT_EQ(errorOf(".target sm_90a"), "1:1: expected '.version', got '.target'");
  EXPECT_EQ(errorOf(".version 9"), "1:10: expected a version like 9.0, got '9'");
  EXPECT_EQ(errorOf(".version 0f3F800000"), "1:10: expected a version like 9.0, got '0f3F800000'");
  EXPECT_EQ(errorOf(".version 9. "), "1:10: expected a version like 9.0, got '9.'");
  EXPECT_EQ(errorOf(".version 9.0 .target compute_90"), "1:22: expected a target like sm_90a, got 'compute_90'");
  EXPECT_EQ(errorOf(".version 9.0 .target sm_a"), "1:22: expected a target like sm_90a, got 'sm_a'");
  EXPECT_EQ(errorOf(".version 9.0 .target sm_90a, map_f64_to_f32"),
            "1:30: expected 'debug' or a mode of textures, got 'map_f64_to_f32'");
  EXPECT_EQ(errorOf(".version 9.0 .target sm_90a\n.entry k() {}"), "2:1: expected '.address_size', got '.entry'");
  EXPECT_EQ(errorOf(".version 9.0 .target sm_90a .address_size 32"), "1:43: expected an address size of 64, got '32'");
}

TEST(ParseErrors, ModuleDirectives) {
  auto error = [](const std::string &text) { return errorOf(kModuleHead + text); };
  EXPECT_EQ(error(".func f() { ret; }"), "4:7: definitions of functions other than kernels are not supported, got 'f'");
  EXPECT_EQ(error(".extern .func f(.param .b64 a) { ret; }"), "4:32: expected ';', got '{'");
  EXPECT_EQ(error(".extern .func f();\n.extern .func f();"),
            "5:15: expected a new name, got 'f', a function of line 4");
  EXPECT_EQ(error(".func ("), "4:8: expected ')', got the end of the text");
  EXPECT_EQ(error(".extern .entry k();"), "4:9: expected a variable or a kernel, got '.entry'");
  EXPECT_EQ(error(".common .global .b32 x;"), "4:1: expected a variable or a kernel, got '.common'");
  EXPECT_EQ(error(".alias a, b;"), "4:1: expected a variable or a kernel, got '.alias'");
  EXPECT_EQ(error("ret;"), "4:1: expected a variable or a kernel, got 'ret'");
  EXPECT_EQ(error(".section .text { }"), "4:10: expected the name of a debug section, got '.text'");
  EXPECT_EQ(error(".section .debug_str { .b8 1"), "4:28: expected '}', got the end of the text");
}

TEST(ParseErrors, EntryHead) {
  auto error = [](const std::string &text) { return errorOf(kModuleHead + text); };
  EXPECT_EQ(error(".entry k();"), "4:11: expected a directive of a kernel or '{', got ';'");
  EXPECT_EQ(error(".entry k() .blocksareclusters {}"),
            "4:12: expected a directive of a kernel or '{', got '.blocksareclusters'");
  EXPECT_EQ(error(".entry k() .reqntid 0 {}"), "4:21: expected an extent from 1 to 2147483647, got '0'");
  EXPECT_EQ(error(".entry k() .reqntid 1,2,3,4 {}"), "4:26: expected a directive of a kernel or '{', got ','");
  EXPECT_EQ(error(".entry k(.param .u64 a .param .u64 b) {}"), "4:24: expected ')', got '.param'");
  EXPECT_EQ(error(".entry k(.param .u64 a, .param .u64 a) {}"),
            "4:37: expected a new name, got 'a', a parameter of line 4");
  EXPECT_EQ(error(".entry k(.param .b8 a[]) {}"), "4:21: expected a size for parameter 'a', got '[]'");
  EXPECT_EQ(error(".entry k(.param .b8 a[32764], .param .u32 b) {}"),
            "4:43: expected at most 32764 bytes of parameters, got 32768 up to 'b'");
  EXPECT_EQ(error(".entry k(.reg .u64 a) {}"), "4:10: expected '.param', got '.reg'");
  EXPECT_EQ(error(".entry k() {}\n.entry k() {}"), "5:8: expected a new name, got 'k', a function of line 4");
}

TEST(ParseErrors, Statements) {
  auto error = [](const std::string &body) { return errorOf(kernelWith(body)); };
  EXPECT_EQ(error(";"), "6:1: expected a statement, got ';'");
  EXPECT_EQ(error("{ ret; };"), "6:9: expected a statement, got ';'");
  EXPECT_EQ(error(".param .b64 x = 3;"), "6:15: expected no initial value for 'x', got '='");
  EXPECT_EQ(error(".unknown x;"), "6:1: expected a statement, got '.unknown'");
  EXPECT_EQ(error("}"), "7:1: expected a variable or a kernel, got '}'");
  EXPECT_EQ(error("{"), "8:1: expected a statement, got the end of the text");
  EXPECT_EQ(error("ret"), "7:1: expected an operand, got '}'");
  EXPECT_EQ(error("/* open"), "6:1: expected a statement, got a comment without an end, '/*'");
  EXPECT_EQ(error(".pragma \"open\n"), "6:9: expected a string, got a string without an end, '\"'");
  EXPECT_EQ(error("ret \x01;"), "6:5: expected an operand, got a character that PTX does not use, '?'");
  EXPECT_EQ(error("% ret;"), "6:1: expected a statement, got '%' without a name, '%'");
  EXPECT_EQ(error("#if"), "6:1: expected a statement, got a character that PTX does not use, '#'");
}

} // namespace
