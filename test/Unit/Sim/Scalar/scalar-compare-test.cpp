// setp, set, selp, slct and mov, with undefined registers among their sources.
#include "Running.h"

using namespace headrace::sim;

namespace {

/// setp.<comparison>.<type> of two constants.
bool compares(const std::string &spelling, const std::string &a, const std::string &b) {
  return predicateOf("setp." + spelling + " %p15, " + a + ", " + b + ";");
}

TEST(ScalarCompare, IntegersBySign) {
  EXPECT_TRUE(compares("lt.s32", "-1", "1"));
  EXPECT_FALSE(compares("lt.u32", "-1", "1"));
  EXPECT_TRUE(compares("hi.u32", "-1", "1"));
  EXPECT_TRUE(compares("ls.u32", "1", "1"));
  EXPECT_TRUE(compares("eq.b32", "7", "7"));
  EXPECT_TRUE(compares("ne.b64", "7", "8"));
  EXPECT_TRUE(compares("ge.s64", "0", "-5"));
  EXPECT_TRUE(compares("lt.s16", "-1", "0"));
  EXPECT_FALSE(compares("gt.u16", "1", "-1"));
}

TEST(ScalarCompare, NumbersWithAndWithoutNan) {
  const std::string nan = "0f7FC00000", one = "1.0", two = "2.0";
  struct {
    const char *name;
    bool less, equal, greater, unordered;
  } const rows[] = {
      {"eq", false, true, false, false}, {"ne", true, false, true, false},  {"lt", true, false, false, false},
      {"le", true, true, false, false},  {"gt", false, false, true, false}, {"ge", false, true, true, false},
      {"equ", false, true, false, true}, {"neu", true, false, true, true},  {"ltu", true, false, false, true},
      {"leu", true, true, false, true},  {"gtu", false, false, true, true}, {"geu", false, true, true, true},
      {"num", true, true, true, false},  {"nan", false, false, false, true}};
  for (const auto &row : rows) {
    const std::string spelling = std::string(row.name) + ".f32";
    EXPECT_EQ(compares(spelling, one, two), row.less) << spelling;
    EXPECT_EQ(compares(spelling, one, one), row.equal) << spelling;
    EXPECT_EQ(compares(spelling, two, one), row.greater) << spelling;
    EXPECT_EQ(compares(spelling, one, nan), row.unordered) << spelling;
    EXPECT_EQ(compares(spelling, nan, nan), row.unordered) << spelling;
  }
  EXPECT_TRUE(compares("eq.ftz.f32", "0f00000001", "0f00000000"));
  EXPECT_FALSE(compares("eq.f32", "0f00000001", "0f00000000"));
  EXPECT_TRUE(compares("gt.f64", "2.0", "1.0"));
  EXPECT_TRUE(compares("lt.f16", "0xBC00", "0x3C00"));
  EXPECT_TRUE(compares("ltu.bf16", "0x7FC0", "0x3F80"));
}

TEST(ScalarCompare, CombinesAndGivesTheOpposite) {
  const std::string setup = "mov.pred %p1, 1;\nmov.pred %p2, 0;\n";
  EXPECT_FALSE(predicateOf(setup + "setp.lt.and.s32 %p15, 1, 2, %p2;"));
  EXPECT_TRUE(predicateOf(setup + "setp.lt.and.s32 %p15, 1, 2, !%p2;"));
  EXPECT_TRUE(predicateOf(setup + "setp.gt.or.s32 %p15, 1, 2, %p1;"));
  EXPECT_FALSE(predicateOf(setup + "setp.lt.xor.s32 %p15, 1, 2, %p1;"));
  EXPECT_TRUE(predicateOf("setp.gt.s32 %p1|%p15, 1, 2;"));
  EXPECT_TRUE(predicateOf(setup + "setp.lt.and.s32 _|%p15, 2, 1, %p1;"));
  // Of a pair the second result is of the upper element.
  EXPECT_TRUE(predicateOf("setp.lt.f16x2 %p1|%p15, 0xBC003C00, 0x00000000;"));
  EXPECT_FALSE(predicateOf("setp.lt.f16x2 %p15|%p1, 0xBC003C00, 0x00000000;"));
}

TEST(ScalarCompare, SetWritesMasksAndOnes) {
  EXPECT_EQ(wordOf("set.lt.u32.s32 %r31, -1, 1;"), 0xFFFFFFFFu);
  EXPECT_EQ(wordOf("set.gt.u32.s32 %r31, -1, 1;"), 0u);
  EXPECT_EQ(wordOf("set.lt.f32.s32 %f1, -1, 1;\nmov.b32 %r31, %f1;"), 0x3F800000u);
  EXPECT_EQ(wordOf("set.lt.u32.f16x2 %r31, 0xBC003C00, 0x00000000;"), 0xFFFF0000u);
  EXPECT_EQ(wordOf("set.lt.f16x2.f16x2 %r31, 0xBC003C00, 0x00000000;"), 0x3C000000u);
  EXPECT_EQ(shortOf("set.lt.u16.f16 %h15, 0xBC00, 0x3C00;"), 0xFFFF);
}

TEST(ScalarCompare, Selects) {
  EXPECT_EQ(wordOf("setp.lt.s32 %p1, 1, 2;\nselp.b32 %r31, 5, 6, %p1;"), 5u);
  EXPECT_EQ(wordOf("setp.gt.s32 %p1, 1, 2;\nselp.b32 %r31, 5, 6, %p1;"), 6u);
  EXPECT_EQ(wordOf("slct.u32.s32 %r31, 5, 6, -1;"), 6u);
  EXPECT_EQ(wordOf("slct.u32.f32 %r31, 5, 6, 0f80000000;"), 5u);
  EXPECT_EQ(wordOf("slct.u32.f32 %r31, 5, 6, 0fFFC00000;"), 6u);
}

TEST(ScalarMove, MovesValuesOfEveryKind) {
  EXPECT_EQ(wordOf("mov.u32 %r1, %ntid.x;\nmov.u32 %r31, %r1;"), 32u);
  EXPECT_EQ(resultOf("mov.u64 %d31, sh;") & 15, 0u);
  EXPECT_EQ(resultOf("mov.u64 %d1, sh;\nmov.u64 %d2, sh+16;\nsub.s64 %d31, %d2, %d1;"), 16u);
  EXPECT_EQ(wordOf("mov.f32 %f1, 1.5;\nmov.b32 %r31, %f1;"), 0x3FC00000u);
  EXPECT_EQ(resultOf("mov.b64 %d31, 1.5;"), 0x3FF8000000000000u);
  EXPECT_EQ(wordOf("mov.b32 %r31, 0f3F800000;"), 0x3F800000u);
  EXPECT_TRUE(predicateOf("mov.pred %p15, -1;"));
}

TEST(ScalarMove, PacksAndUnpacks) {
  EXPECT_EQ(resultOf("mov.b32 %r1, 1;\nmov.b32 %r2, 2;\nmov.b64 %d31, {%r1, %r2};"), 0x200000001u);
  EXPECT_EQ(wordOf("mov.b16 %h1, 0x1111;\nmov.b16 %h2, 0x2222;\nmov.b32 %r31, {%h1, %h2};"), 0x22221111u);
  EXPECT_EQ(wordOf("mov.b64 %d1, 0x300000004;\nmov.b64 {%r1, %r2}, %d1;\nshl.b32 %r1, %r1, 4;\nor.b32 %r31, %r1, %r2;"),
            0x43u);
  EXPECT_EQ(wordOf("mov.b64 %d1, 0x300000004;\nmov.b64 {_, %r31}, %d1;"), 3u);
  EXPECT_EQ(resultOf("mov.b64 %d1, 5;\nmov.b64 %d2, 6;\nmov.b128 %q1, {%d1, %d2};\nmov.b128 %q2, %q1;\n"
                     "mov.b128 {%d3, %d4}, %q2;\nshl.b64 %d3, %d3, 8;\nor.b64 %d31, %d3, %d4;"),
            0x506u);
}

TEST(ScalarMove, UndefinedRegistersMayBeMovedButNotUsed) {
  EXPECT_EQ(Snippet("mov.b32 %r2, %r1;\nmov.b64 %d1, {%r2, %r2};\nsetp.eq.u32 %p1, %r30, 99;\n"
                    "selp.b32 %r3, %r2, 7, %p1;\ncvt.u64.u32 %d31, %r3;")
                .messages(),
            "");
  EXPECT_EQ(Snippet("mov.b32 %r2, %r1;\nadd.s32 %r3, %r2, 1;").messages(),
            "uninitialised: reads %r2, which has no value\n");
  // Of a register packed with one that has no value, the other half can be used.
  EXPECT_EQ(Snippet("mov.b64 %d1, {%r30, %r2};\ncvt.u32.u64 %r3, %d1;\nadd.s32 %r3, %r3, 1;").messages(), "");
  EXPECT_EQ(Snippet("mov.b64 %d1, {%r2, %r30};\ncvt.u32.u64 %r3, %d1;\nadd.s32 %r3, %r3, 1;").messages(),
            "uninitialised: reads %r3, which has no value\n");
  EXPECT_EQ(Snippet("setp.eq.u32 %p1, %r30, %r30;\nselp.b32 %r3, %r2, 7, %p1;\nadd.s32 %r3, %r3, 1;").messages(),
            "uninitialised: reads %r3, which has no value\n");
  EXPECT_EQ(Snippet("selp.b32 %r3, 1, 7, %p1;").messages(), "uninitialised: selects by a register that has no value\n");
}

TEST(ScalarCompare, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(refusalOf("setp.nan.s32 %p1, %r1, %r2;").find("expected a type of numbers"), std::string::npos);
  EXPECT_NE(refusalOf("setp.s32 %p1, %r1, %r2;").find("expected a comparison"), std::string::npos);
  EXPECT_NE(refusalOf("mov.b64 {%r1, %h1}, %d1;").find("expected elements of 32 bits, got one of 16"),
            std::string::npos);
  EXPECT_NE(refusalOf("mov.b32 %r1, 1.5;").find("expected a constant of 32 bits, got a number of 64"),
            std::string::npos);
  EXPECT_NE(refusalOf("mov.b32 %d1, %r1;").find("expected a destination of 32 bits"), std::string::npos);
}

} // namespace
