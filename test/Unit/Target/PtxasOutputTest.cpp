// Reading ptxas's output, from texts that ptxas 13.0 printed.
#include "headrace/Target/Ptxas.h"

#include "gtest/gtest.h"

using namespace headrace;

namespace {

PtxasResult parsed(llvm::StringRef text, llvm::StringRef name = "sm_90a") {
  std::string whyNot;
  PtxasResult result;
  parsePtxasOutput(text, *parseTarget(name, whyNot), result);
  return result;
}

TEST(PtxasOutput, Resources) {
  PtxasResult result = parsed(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 1024 bytes smem
ptxas info    : Compile time = 33.964 ms
)");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.registers, 168);
  EXPECT_EQ(result.sharedBytes, 1024);
  EXPECT_EQ(result.stackBytes, 0);
  EXPECT_TRUE(result.notes.empty());
  EXPECT_TRUE(result.performance.empty());
}

TEST(PtxasOutput, SpillsOfTwoKernels) {
  PtxasResult result = parsed(R"(ptxas info    : Function properties for a
    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 255 registers
ptxas info    : Function properties for b
    8 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers
)");
  EXPECT_EQ(result.registers, 255);
  EXPECT_EQ(result.stackBytes, 16);
  EXPECT_EQ(result.spillStores, 16);
  EXPECT_EQ(result.spillLoads, 20);
  ASSERT_EQ(result.performance.size(), 2u);
  EXPECT_EQ(result.performance[0].code, "spill");
  EXPECT_EQ(result.performance[0].text, "12 bytes spilled and 20 reloaded in function 'a'");
  EXPECT_EQ(result.performance[1].text, "4 bytes spilled and 0 reloaded in function 'b'");
}

TEST(PtxasOutput, PerformanceCodes) {
  PtxasResult result =
      parsed("ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to "
             "determine register count at entry.\n"
             "ptxas info    : (C7517) warpgroup.wait is injected in around line 12 by compiler to allow "
             "use of registers defined by GMMA in function 'k'\n"
             "ptxas info    : (C7509) Potential Performance Loss: something else\n");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.notes.size(), 3u);
  ASSERT_EQ(result.performance.size(), 2u);
  EXPECT_EQ(result.performance[0].code, "C7508");
  EXPECT_EQ(result.performance[1].code, "C7517");
  EXPECT_EQ(result.performance[1].text.substr(0, 29), "warpgroup.wait is injected in");
}

TEST(PtxasOutput, AdvisoryIsANoteWithItsLine) {
  PtxasResult result = parsed("ptxas /tmp/x.ptx, line 10; warning : Advisory: "
                              "'.multicast::cluster' modifier\n",
                              "sm_90");
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.notes[0], "Advisory: '.multicast::cluster' modifier (PTX line 10)");
  EXPECT_TRUE(result.performance.empty());
}

/// The sentence for an error line of ptxas.
std::string errorFor(llvm::StringRef line, llvm::StringRef name = "sm_90a") {
  return parsed(line.str() + "\nptxas fatal   : Ptx assembly aborted due to errors\n", name).error;
}

TEST(PtxasOutput, ErrorsAreSentencesOfOurs) {
  EXPECT_EQ(errorFor("ptxas t.ptx, line 1; fatal   : Unsupported .version 9.0; current version is '8.4'"),
            "the PTX declares ISA 9.0, ptxas takes up to 8.4");
  EXPECT_EQ(errorFor("ptxas fatal   : Value 'sm_120a' is not defined for option 'gpu-name'", "sm_120a"),
            "ptxas does not know sm_120a: it is older than the target");
  EXPECT_EQ(errorFor("ptxas error   : Entry function 'k' uses too much shared data (0x49400 bytes, "
                     "0x38c00 max)"),
            "kernel 'k' needs 300032 bytes of static shared memory, sm_90a has 232448");
  EXPECT_EQ(errorFor("ptxas fatal   : Unresolved extern function 'vfoo'"),
            "internal error: the PTX calls 'vfoo', which nothing defines");
  EXPECT_EQ(errorFor("ptxas t.ptx, line 8; error   : Instruction 'setmaxnreg.dec' not supported on "
                     ".target 'sm_90'",
                     "sm_90"),
            "internal error: the PTX uses 'setmaxnreg.dec', which sm_90 lacks");
  EXPECT_EQ(errorFor("ptxas t.ptx, line 2; error   : PTX .version 8.6 does not support .target sm_120", "sm_120"),
            "internal error: the PTX declares ISA 8.6, which does not know sm_120");
  EXPECT_EQ(errorFor("ptxas t.ptx, line 11; error   : Not a name of any known instruction: 'bogus'"),
            "internal error: ptxas refuses the PTX for sm_90a at line 11");
  EXPECT_EQ(errorFor("ptxas application ptx input, line 8; fatal   : (C7406) setmaxnreg.dec has register "
                     "count (128) "
                     "which is larger than the largest temporal register count in the program (32)"),
            "setmaxnreg.dec to 128 registers, the kernel starts with 32");
}

TEST(PtxasOutput, TooFewRegistersIsAnErrorAndANote) {
  PtxasResult result = parsed("ptxas fatal   : (C7602) Insufficient registers (128) to compile instruction at line 9 "
                              "in function k. Try to compile with register target of 154 or higher.\n");
  EXPECT_EQ(result.error, "kernel 'k' has 128 registers per thread, one of its instructions needs 154");
  ASSERT_EQ(result.performance.size(), 1u);
  EXPECT_EQ(result.performance[0].code, "C7602");
}

TEST(PtxasOutput, EmptyAndForeignTextsSayNothing) {
  for (llvm::StringRef text : {"", "\n", "hello : world", "ptxas", "ptxas :", "ptxas info"}) {
    PtxasResult result = parsed(text);
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.registers, 0);
    EXPECT_TRUE(result.notes.empty());
  }
}

} // namespace
