// Integer instructions, from their spelling to their result.
#include "Running.h"

using namespace headrace::sim;

namespace {

TEST(ScalarInteger, AddsAndSubtracts) {
  EXPECT_EQ(wordOf("mov.b32 %r1, 5;\nadd.s32 %r31, %r1, -7;"), 0xFFFFFFFEu);
  EXPECT_EQ(wordOf("add.u32 %r31, 4294967295, 2;"), 1u);
  EXPECT_EQ(wordOf("add.sat.s32 %r31, 2147483647, 1;"), 0x7FFFFFFFu);
  EXPECT_EQ(wordOf("sub.sat.s32 %r31, -2147483648, 1;"), 0x80000000u);
  EXPECT_EQ(wordOf("add.u16x2 %r31, 0x0001FFFF, 0x00010001;"), 0x00020000u);
  EXPECT_EQ(wordOf("add.s16x2 %r31, 0x7FFF8000, 0x0001FFFF;"), 0x80007FFFu);
  EXPECT_EQ(shortOf("add.s16 %h15, 32767, 1;"), 0x8000);
  EXPECT_EQ(resultOf("sub.s64 %d31, 0, 1;"), ~uint64_t(0));
}

TEST(ScalarInteger, Multiplies) {
  EXPECT_EQ(wordOf("mul.lo.s32 %r31, 65537, 65537;"), 131073u);
  EXPECT_EQ(wordOf("mul.hi.s32 %r31, -2, 3;"), 0xFFFFFFFFu);
  EXPECT_EQ(wordOf("mul.hi.u32 %r31, -2, 3;"), 2u);
  EXPECT_EQ(resultOf("mul.wide.s32 %d31, -2, 3;"), static_cast<uint64_t>(-6));
  EXPECT_EQ(resultOf("mul.wide.u32 %d31, -2, 3;"), 0x2FFFFFFFAu);
  EXPECT_EQ(wordOf("mul.wide.u16 %r31, 65535, 65535;"), 65535u * 65535u);
  EXPECT_EQ(wordOf("mul.wide.s16 %r31, -3, 5;"), static_cast<uint32_t>(-15));
  EXPECT_EQ(resultOf("mul.hi.u64 %d31, -1, -1;"), ~uint64_t(1));
  EXPECT_EQ(wordOf("mad.lo.s32 %r31, 3, 4, 5;"), 17u);
  EXPECT_EQ(resultOf("mad.wide.s32 %d31, -3, 4, 5;"), static_cast<uint64_t>(-7));
  EXPECT_EQ(wordOf("mad.hi.sat.s32 %r31, 2147483647, 2147483647, 2147483647;"), 0x7FFFFFFFu);
  EXPECT_EQ(wordOf("mul24.lo.u32 %r31, 0xFF000003, 5;"), 15u);
  EXPECT_EQ(wordOf("mul24.hi.s32 %r31, 0x00800000, 0x00800000;"), 0x40000000u);
  EXPECT_EQ(wordOf("mad24.lo.s32 %r31, 3, 4, 5;"), 17u);
}

TEST(ScalarInteger, Divides) {
  EXPECT_EQ(wordOf("div.s32 %r31, -7, 2;"), static_cast<uint32_t>(-3));
  EXPECT_EQ(wordOf("rem.s32 %r31, -7, 2;"), static_cast<uint32_t>(-1));
  EXPECT_EQ(wordOf("div.u32 %r31, -7, 2;"), 0x7FFFFFFCu);
  EXPECT_EQ(wordOf("div.s32 %r31, -2147483648, -1;"), 0x80000000u);
  EXPECT_EQ(wordOf("rem.u32 %r31, 17, 5;"), 2u);
  EXPECT_EQ(resultOf("div.s64 %d31, -100, 7;"), static_cast<uint64_t>(-14));
}

TEST(ScalarInteger, ChainsCarries) {
  EXPECT_EQ(wordOf("add.cc.u32 %r1, -1, 1;\naddc.u32 %r31, 5, 5;"), 11u);
  EXPECT_EQ(wordOf("add.cc.u32 %r1, 1, 1;\naddc.u32 %r31, 5, 5;"), 10u);
  EXPECT_EQ(wordOf("add.cc.u32 %r1, -1, 1;\naddc.cc.u32 %r2, -1, 0;\naddc.u32 %r31, 0, 0;"), 1u);
  EXPECT_EQ(wordOf("sub.cc.u32 %r1, 0, 1;\nsubc.u32 %r31, 5, 2;"), 2u);
  EXPECT_EQ(wordOf("mad.lo.cc.u32 %r1, 65536, 65535, 131072;\nmadc.hi.u32 %r31, 65536, 65536, 1;"), 3u);
  EXPECT_EQ(resultOf("add.cc.u64 %d1, -1, 1;\naddc.u64 %d31, 1, 1;"), 3u);
}

TEST(ScalarInteger, TakesSignsAndExtremes) {
  EXPECT_EQ(wordOf("abs.s32 %r31, -5;"), 5u);
  EXPECT_EQ(wordOf("neg.s32 %r31, -2147483648;"), 0x80000000u);
  EXPECT_EQ(shortOf("neg.s16 %h15, 1;"), 0xFFFF);
  EXPECT_EQ(wordOf("min.s32 %r31, -1, 1;"), 0xFFFFFFFFu);
  EXPECT_EQ(wordOf("min.u32 %r31, -1, 1;"), 1u);
  EXPECT_EQ(wordOf("max.relu.s32 %r31, -5, -3;"), 0u);
  EXPECT_EQ(wordOf("max.s16x2 %r31, 0xFFFF0003, 0x00010002;"), 0x00010003u);
  EXPECT_EQ(wordOf("max.u16x2 %r31, 0xFFFF0003, 0x00010002;"), 0xFFFF0003u);
  EXPECT_EQ(wordOf("min.relu.s16x2 %r31, 0xFFFF0003, 0x00010002;"), 0x00000002u);
  EXPECT_EQ(wordOf("sad.u32 %r31, 3, 10, 100;"), 107u);
  EXPECT_EQ(wordOf("sad.s32 %r31, -3, 10, 100;"), 113u);
}

TEST(ScalarInteger, DoesLogic) {
  EXPECT_EQ(wordOf("and.b32 %r31, 0xF0F0, 0xFF00;"), 0xF000u);
  EXPECT_EQ(wordOf("or.b32 %r31, 0xF0F0, 0x0F00;"), 0xFFF0u);
  EXPECT_EQ(wordOf("xor.b32 %r31, -1, 0x0F;"), 0xFFFFFFF0u);
  EXPECT_EQ(wordOf("not.b32 %r31, 0;"), 0xFFFFFFFFu);
  EXPECT_EQ(shortOf("not.b16 %h15, 1;"), 0xFFFE);
  EXPECT_EQ(wordOf("cnot.b32 %r31, 0;"), 1u);
  EXPECT_EQ(wordOf("lop3.b32 %r31, 0xF0, 0xCC, 0xAA, 0x1A;"), 0x1Au);
  EXPECT_TRUE(predicateOf("mov.pred %p1, 0;\nlop3.or.b32 %r1|%p15, 1, 1, 1, 0x80, %p1;"));
  EXPECT_FALSE(predicateOf("mov.pred %p1, 0;\nlop3.and.b32 _|%p15, 1, 1, 1, 0x80, %p1;"));
  EXPECT_TRUE(predicateOf("mov.pred %p1, 0;\nnot.pred %p15, %p1;"));
  EXPECT_FALSE(predicateOf("mov.pred %p1, 0;\nmov.pred %p2, 1;\nand.pred %p15, %p1, %p2;"));
  EXPECT_TRUE(predicateOf("mov.pred %p1, 0;\nmov.pred %p2, 1;\nxor.pred %p15, %p1, %p2;"));
}

TEST(ScalarInteger, Shifts) {
  EXPECT_EQ(wordOf("shl.b32 %r31, 3, 31;"), 0x80000000u);
  EXPECT_EQ(wordOf("shl.b32 %r31, 3, 32;"), 0u);
  EXPECT_EQ(wordOf("shr.u32 %r31, -1, 31;"), 1u);
  EXPECT_EQ(wordOf("shr.u32 %r31, -1, 32;"), 0u);
  EXPECT_EQ(wordOf("shr.s32 %r31, -8, 1;"), static_cast<uint32_t>(-4));
  EXPECT_EQ(wordOf("shr.s32 %r31, -8, 200;"), 0xFFFFFFFFu);
  EXPECT_EQ(shortOf("shr.s16 %h15, 0x8000, 20;"), 0xFFFF);
  EXPECT_EQ(resultOf("shl.b64 %d31, 1, 63;"), uint64_t(1) << 63);
  EXPECT_EQ(wordOf("shf.l.wrap.b32 %r31, 0x80000000, 1, 33;"), 3u);
  EXPECT_EQ(wordOf("shf.r.clamp.b32 %r31, 7, 0xCAFE, 40;"), 0xCAFEu);
  EXPECT_EQ(wordOf("prmt.b32 %r31, 0x33221100, 0x77665544, 0x5410;"), 0x55441100u);
  EXPECT_EQ(wordOf("prmt.b32.rc8 %r31, 0x33221100, 0, 2;"), 0x22222222u);
}

TEST(ScalarInteger, HandlesBitFields) {
  EXPECT_EQ(wordOf("bfe.u32 %r31, 0xABCD, 4, 8;"), 0xBCu);
  EXPECT_EQ(wordOf("bfe.s32 %r31, 0xABCD, 4, 8;"), 0xFFFFFFBCu);
  EXPECT_EQ(resultOf("bfe.s64 %d31, 0x8000000000, 32, 8;"), 0xFFFFFFFFFFFFFF80);
  EXPECT_EQ(wordOf("bfi.b32 %r31, 0xF, 0xAAAA, 4, 4;"), 0xAAFAu);
  EXPECT_EQ(wordOf("bfind.u32 %r31, 256;"), 8u);
  EXPECT_EQ(wordOf("bfind.shiftamt.s32 %r31, 256;"), 23u);
  EXPECT_EQ(wordOf("bfind.u64 %r31, 0x100000000;"), 32u);
  EXPECT_EQ(wordOf("brev.b32 %r31, 1;"), 0x80000000u);
  EXPECT_EQ(resultOf("brev.b64 %d31, 1;"), uint64_t(1) << 63);
  EXPECT_EQ(wordOf("popc.b32 %r31, -1;"), 32u);
  EXPECT_EQ(wordOf("popc.b64 %r31, -1;"), 64u);
  EXPECT_EQ(wordOf("clz.b32 %r31, 1;"), 31u);
  EXPECT_EQ(wordOf("clz.b32 %r31, 0;"), 32u);
  EXPECT_EQ(wordOf("clz.b64 %r31, 0;"), 64u);
  EXPECT_EQ(wordOf("fns.b32 %r31, 0xAAAAAAAA, 2, -1;"), 1u);
  EXPECT_EQ(wordOf("szext.clamp.s32 %r31, 0x80, 8;"), 0xFFFFFF80u);
  EXPECT_EQ(wordOf("bmsk.wrap.b32 %r31, 1, 2;"), 6u);
  EXPECT_EQ(wordOf("dp4a.s32.u32 %r31, 0xFFFFFFFF, 0x01020304, 20;"), 10u);
  EXPECT_EQ(wordOf("dp2a.lo.u32.u32 %r31, 0x00020003, 0x04050607, 10;"), 43u);
}

TEST(ScalarInteger, ComputesInEveryLane) {
  Snippet run(
      "mad.lo.s32 %r1, %r30, %r30, %r30;\nsetp.gt.u32 %p1, %r30, 9;\n@%p1 neg.s32 %r1, %r1;\ncvt.s64.s32 %d31, %r1;");
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(static_cast<int64_t>(run.result(lane)), (lane > 9 ? -1 : 1) * lane * (lane + 1));
}

TEST(ScalarInteger, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(refusalOf("add.bogus.s32 %r1, %r2, %r3;").find("'.bogus' is not understood"), std::string::npos);
  EXPECT_NE(refusalOf("mul.s32 %r1, %r2, %r3;").find("expected .lo, .hi or"), std::string::npos);
  EXPECT_NE(refusalOf("mul.wide.s64 %d1, %d2, %d3;").find("expected .lo, .hi or"), std::string::npos);
  EXPECT_NE(refusalOf("add.s32 %d1, %r2, %r3;").find("expected a destination of 32 bits, got %d1 of 64"),
            std::string::npos);
  EXPECT_NE(refusalOf("add.s32 %r1, %r2;").find("expected 3 operands, got 2"), std::string::npos);
  EXPECT_NE(refusalOf("add.sat.u32 %r1, %r2, %r3;").find("'.sat' is not understood"), std::string::npos);
}

} // namespace
