// Loads, stores, addresses and atomics.
#include "Running.h"

#include "headrace/Sim/Numerics/Float.h"

using namespace headrace::sim;

namespace {

TEST(ScalarMemory, LoadsExtendToTheRegister) {
  const std::string setup = "mov.b32 %r1, 0x8F01FF80;\nst.global.b32 [%d30], %r1;\n";
  Snippet run(setup +
              "setp.ne.u32 %p1, %r30, 0;\n@%p1 bra DONE;\nld.global.u8 %r2, [%d30];\nld.global.s8 %r3, [%d30];\n"
              "ld.global.b16 %r4, [%d30+2];\nld.global.s16 %d1, [%d30+2];\nld.global.b8 %h1, [%d30+1];\n"
              "st.global.v4.b32 [%d30+16], {%r2, %r3, %r4, %r1};\nst.global.b64 [%d30+32], %d1;\n"
              "st.global.b16 [%d30+40], %h1;\nDONE:");
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.word<uint32_t>(16), 0x80u);
  EXPECT_EQ(run.word<uint32_t>(20), 0xFFFFFF80u);
  EXPECT_EQ(run.word<uint32_t>(24), 0x8F01u);
  EXPECT_EQ(run.word<uint64_t>(32), 0xFFFFFFFFFFFF8F01u);
  EXPECT_EQ(run.word<uint16_t>(40), 0xFFu);
}

TEST(ScalarMemory, TakesEveryCacheModifier) {
  for (const char *spelling :
       {"ld.global", "ld.global.ca", "ld.global.cg", "ld.global.cs", "ld.global.lu", "ld.global.cv", "ld.global.nc",
        "ld.global.L1::no_allocate", "ld.global.nc.L1::evict_last.L2::256B", "ld.relaxed.gpu.global",
        "ld.acquire.sys.global", "ld.volatile.global", "ld.weak.global", "ld.mmio.relaxed.sys.global", "ldu.global"})
    EXPECT_EQ(refusalOf(std::string(spelling) + ".b32 %r1, [%d30];"), "");
  EXPECT_EQ(refusalOf("ld.global.L2::cache_hint.v2.b64 {%d1, %d2}, [%d30], %d3;"), "");
  EXPECT_EQ(refusalOf("st.release.gpu.global.b32 [%d30], 1;"), "");
  EXPECT_EQ(refusalOf("st.global.L1::no_allocate.L2::cache_hint.b32 [%d30], 1, %d3;"), "");
}

TEST(ScalarMemory, WideVectorsMoveThirtyTwoBytes) {
  Snippet run(
      "mov.b64 %d1, 11;\nmov.b64 %d2, 22;\nst.global.v4.b64 [%d30], {%d1, %d2, %d1, %d2};\n"
      "ld.global.v8.b32 {%r1, _, %r2, _, _, _, %r3, _}, [%d30];\nadd.s32 %r1, %r1, %r2;\nadd.s32 %r1, %r1, %r3;\n"
      "cvt.u64.u32 %d31, %r1;");
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.result(), 11u + 22 + 22);
  EXPECT_EQ(resultOf("mov.b64 %d1, 5;\nmov.b128 %q1, {%d1, %d1};\nst.global.b128 [%d30+64], %q1;\n"
                     "ld.global.b128 %q2, [%d30+64];\nmov.b128 {_, %d31}, %q2;"),
            5u);
}

TEST(ScalarMemory, ReportsAddressesThatAreNotAligned) {
  EXPECT_EQ(Snippet("add.s64 %d1, %d30, 4;\nld.global.v2.b32 {%r1, %r2}, [%d1];", 1).messages().substr(0, 71),
            "misaligned: expected an address that is a multiple of 8, got 0x70000000");
  EXPECT_EQ(Snippet("ld.global.v2.b32 {%r1, %r2}, [%d30+8];", 1).messages(), "");
}

TEST(ScalarMemory, ReachesParametersSharedAndGenericAddresses) {
  EXPECT_EQ(wordOf("ld.param.b32 %r31, [in];"), 12345678u);
  EXPECT_EQ(wordOf("mov.b64 %d1, in;\ncvta.param.u64 %d2, %d1;\nld.b32 %r31, [%d2];"), 12345678u);
  EXPECT_EQ(wordOf("mov.b64 %d1, sh;\nmul.wide.u32 %d2, %r30, 4;\nadd.s64 %d1, %d1, %d2;\nst.shared.b32 [%d1], %r30;\n"
                   "ld.shared.b32 %r1, [%d1];\ncvta.shared.u64 %d3, %d1;\nld.b32 %r2, [%d3];\nadd.s32 %r31, %r1, %r2;"),
            0u);
  EXPECT_EQ(wordOf("mov.b64 %d1, 77;\nst.b64 [%d30], %d1;\nld.global.b32 %r31, [%d30];"), 77u);
  EXPECT_NE(Snippet("mov.b64 %d1, sh;\ncvta.shared.u64 %d2, %d1;\nld.shared.b8 %r1, [%d2];", 1)
                .messages()
                .find("expected a shared address, got 0x1"),
            std::string::npos);
}

TEST(ScalarMemory, ConvertsAndClassifiesAddresses) {
  const std::string address = "mov.b64 %d1, sh;\ncvta.shared.u64 %d2, %d1;\n";
  EXPECT_EQ(resultOf(address + "cvta.to.shared.u64 %d3, %d2;\nsub.s64 %d31, %d3, %d1;"), 0u);
  EXPECT_TRUE(predicateOf(address + "isspacep.shared %p15, %d2;"));
  EXPECT_TRUE(predicateOf(address + "isspacep.shared::cluster %p15, %d2;"));
  EXPECT_FALSE(predicateOf(address + "isspacep.global %p15, %d2;"));
  EXPECT_TRUE(predicateOf("isspacep.global %p15, %d30;"));
  EXPECT_EQ(resultOf("cvta.to.global.u64 %d1, %d30;\nsub.s64 %d31, %d1, %d30;"), 0u);
}

TEST(ScalarMemory, MapsAddressesBetweenCtas) {
  Snippet run("mov.b32 %r1, sh;\nmapa.shared::cluster.u32 %r2, %r1, 1;\ngetctarank.shared::cluster.u32 %r3, %r2;\n"
              "sub.s32 %r4, %r2, %r1;\nmov.u32 %r5, %cluster_ctarank;\nshl.b32 %r5, %r5, 24;\nadd.s32 %r4, %r4, %r5;\n"
              "mov.b64 %d31, {%r3, %r4};",
              1, 2);
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.messages(), "");
  EXPECT_EQ(run.result(), uint64_t(1) << 24 << 32 | 1);
  EXPECT_NE(Snippet("mov.b32 %r1, sh;\nmapa.shared::cluster.u32 %r2, %r1, 5;", 1)
                .messages()
                .find("maps to rank 5, the cluster has 1 CTAs"),
            std::string::npos);
}

TEST(ScalarAtomics, GlobalOperations) {
  EXPECT_EQ(Snippet("atom.global.add.u32 %r1, [%d30], 1;").word<uint32_t>(0), 32u);
  EXPECT_EQ(Snippet("red.global.add.f32 [%d30], 0f3F800000;").word<float>(0), 32.0f);
  EXPECT_EQ(Snippet("red.relaxed.gpu.global.max.u32 [%d30], %r30;").word<uint32_t>(0), 31u);
  EXPECT_EQ(Snippet("red.global.min.s32 [%d30], -4;").word<int32_t>(0), -4);
  EXPECT_EQ(Snippet("shl.b32 %r1, 1, %r30;\nred.global.or.b32 [%d30], %r1;").word<uint32_t>(0), 0xFFFFFFFFu);
  EXPECT_EQ(Snippet("atom.global.inc.u32 %r1, [%d30], 9;").word<uint32_t>(0), 2u);
  EXPECT_EQ(Snippet("atom.global.dec.u32 %r1, [%d30], 9;").word<uint32_t>(0), 8u);
  EXPECT_EQ(Snippet("atom.global.add.f64 %g1, [%d30], 0.5;").word<double>(0), 16.0);
  EXPECT_EQ(Snippet("mov.b16 %h1, 0x3C00;\natom.global.add.noftz.f16 %h2, [%d30], %h1;").word<uint16_t>(0), 0x5000);
  EXPECT_EQ(Snippet("mov.b32 %r1, 0x3F803F80;\nred.global.add.noftz.bf16x2 [%d30], %r1;").word<uint32_t>(0),
            0x42004200u);
  EXPECT_EQ(Snippet("mov.f32 %f1, 1.0;\nred.global.add.v2.f32 [%d30], {%f1, %f1};").word<float>(4), 32.0f);
  EXPECT_EQ(Snippet("mov.f32 %f1, 1.0;\natom.global.v4.f32.add {%f2, %f3, %f4, %f5}, [%d30], {%f1, %f1, %f1, %f1};")
                .word<float>(12),
            32.0f);
}

TEST(ScalarAtomics, ReturnTheOldValue) {
  Snippet add("atom.global.add.u32 %r1, [%d30], 2;\ncvt.u64.u32 %d31, %r1;");
  uint64_t sum = 0;
  for (int lane = 0; lane < 32; ++lane)
    sum += add.result(lane);
  EXPECT_EQ(sum, 2u * 31 * 32 / 2);
  Snippet cas("atom.global.cas.b32 %r1, [%d30], %r30, 7;\ncvt.u64.u32 %d31, %r1;");
  EXPECT_EQ(cas.word<uint32_t>(0), 7u);
  EXPECT_EQ(cas.result(0), 0u);
  EXPECT_EQ(cas.result(9), 7u);
  Snippet exchange("atom.exch.b64 %d1, [%d30], 5;\nmov.b64 %d31, %d1;");
  EXPECT_EQ(exchange.word<uint64_t>(0), 5u);
}

TEST(ScalarAtomics, FlushInGlobalMemoryAndNotInShared) {
  EXPECT_EQ(Snippet("red.global.add.f32 [%d30], 0f00000001;", 1).word<uint32_t>(0), 0u);
  Snippet shared(
      "mov.b64 %d1, sh;\nmov.b32 %r1, 0;\nst.shared.b32 [%d1], %r1;\natom.shared.add.f32 %f1, [%d1], 0f00000001;\n"
      "ld.shared.b32 %r2, [%d1];\ncvt.u64.u32 %d31, %r2;",
      1);
  EXPECT_EQ(shared.messages(), "");
  EXPECT_EQ(shared.result(), 1u);
}

TEST(ScalarAtomics, DoNotRaceWithEachOtherButWithPlainReads) {
  const std::string count =
      "mov.b64 %d1, sh;\nsetp.eq.u32 %p1, %r29, 0;\nmov.b32 %r1, 0;\n@%p1 st.shared.b32 [%d1], %r1;\n"
      "bar.sync 0;\natom.shared.add.u32 %r2, [%d1], 1;\n";
  Snippet ordered(count + "bar.sync 0;\nld.shared.b32 %r3, [%d1];\ncvt.u64.u32 %d31, %r3;", 64);
  EXPECT_EQ(ordered.messages(), "");
  EXPECT_EQ(ordered.result(40), 64u);
  EXPECT_EQ(Snippet(count + "ld.shared.b32 %r3, [%d1];", 64).messages().substr(0, 18), "read-before-landed");
}

TEST(ScalarMemory, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(refusalOf("st.param.b32 [in], %r1;").find("can be written"), std::string::npos);
  EXPECT_NE(refusalOf("ld.global.v2.b32 {%r1}, [%d1];").find("expected 2 destinations, got 1"), std::string::npos);
  EXPECT_NE(refusalOf("ld.global.b64 %r1, [%d1];").find("expected destinations of at least 64 bits"),
            std::string::npos);
  EXPECT_NE(refusalOf("atom.global.add.b128 %q1, [%d1], %q2;").find("is not simulated"), std::string::npos);
  EXPECT_NE(refusalOf("red.global.inc.s32 [%d1], 1;").find("is not simulated"), std::string::npos);
}

TEST(ScalarMemory, HintsDoNothing) {
  EXPECT_EQ(resultOf("prefetch.global.L2 [%d30];\nprefetch.global.L2::evict_last [%d30];\nprefetchu.L1 [%d30];\n"
                     "discard.global.L2 [%d30], 128;\napplypriority.global.L2::evict_normal [%d30], 128;\n"
                     "createpolicy.fractional.L2::evict_first.b64 %d31, 1.0;"),
            0x12F0000000000000u);
}

} // namespace
