// Every kind of operand, guards, and what an opcode is split into.
#include "Parsing.h"

using namespace headrace::sim::ptx;

namespace {

using Kind = Operand::Kind;

/// The operands of `op <text>;` in short: r3 (register 3), !r3, #5, f32:hex, p+8 (symbol), special names, {..}, [..], _.
std::string shortForm(const Operand &operand);

std::string listForm(const std::vector<Operand> &operands, size_t first = 0) {
  std::string result;
  for (size_t i = first; i < operands.size(); ++i)
    result += (i == first ? "" : ",") + shortForm(operands[i]);
  return result;
}

std::string signedForm(int64_t value) { return (value < 0 ? "" : "+") + std::to_string(value); }

std::string shortForm(const Operand &operand) {
  switch (operand.kind) {
  case Kind::Register:
    return "r" + std::to_string(operand.reg);
  case Kind::Predicate:
    return (operand.negated ? "!r" : "r") + std::to_string(operand.reg);
  case Kind::Pair:
    return shortForm(operand.elements[0]) + "|" + shortForm(operand.elements[1]);
  case Kind::Integer:
    return "#" + std::to_string(static_cast<int64_t>(operand.bits));
  case Kind::Float:
    return "f" + std::to_string(operand.width);
  case Kind::Symbol:
    return operand.name + signedForm(operand.offset);
  case Kind::Special:
  case Kind::Function:
    return operand.name;
  case Kind::Address:
    return "[" + shortForm(operand.elements[0]) + signedForm(operand.offset) +
           (operand.elements.size() > 1 ? "," : "") + listForm(operand.elements, 1) + "]";
  case Kind::Vector:
    return "{" + listForm(operand.elements) + "}";
  case Kind::Label:
    return "->" + std::to_string(operand.target);
  case Kind::Sink:
    return "_";
  }
  return "";
}

std::string operandsOf(const std::string &text) { return listForm(parsedInstruction("op " + text + ";").operands); }

// Registers are numbered in the order of kernelWith: %r0 is 0, %rd0 is 10, %p0 is 20.
TEST(Operands, Scalars) {
  EXPECT_EQ(operandsOf("%r1, %rd2, %p3"), "r1,r12,r23");
  EXPECT_EQ(operandsOf("%r1, -7, 0x10U, 1.5, 0f00000000"), "r1,#-7,#16,f64,f32");
  EXPECT_EQ(operandsOf("_, !%p2, p, p+8, p+-8, p-8"), "_,!r22,p+0,p+8,p-8,p-8");
  EXPECT_EQ(operandsOf(""), "");
}

TEST(Operands, SpecialRegisters) {
  for (const char *name :
       {"%tid.x", "%ntid.y", "%ctaid.z", "%nctaid.x", "%laneid", "%warpid", "%cluster_ctarank", "%cluster_ctaid.x",
        "%cluster_nctaid.y", "%clusterid.x", "%nclusterid.z", "%clock", "%clock64", "%globaltimer", "%smid", "%nsmid",
        "%dynamic_smem_size", "%total_smem_size", "%lanemask_lt"})
    EXPECT_EQ(operandsOf(std::string("%r1, ") + name), std::string("r1,") + name);
}

TEST(Operands, Pairs) {
  EXPECT_EQ(operandsOf("%p1|%p2, %r1"), "r21|r22,r1");
  EXPECT_EQ(operandsOf("_|%p2, %r1"), "_|r22,r1");
  EXPECT_EQ(operandsOf("%r1 | _"), "r1|_");
}

TEST(Operands, Vectors) {
  EXPECT_EQ(operandsOf("{%r1, _}, {%r2,%r3}, {1, -2, 0f00000000}"), "{r1,_},{r2,r3},{#1,#-2,f32}");
}

TEST(Operands, Addresses) {
  EXPECT_EQ(operandsOf("[%rd1], [%rd1+16], [%rd1+-16], [%rd1-16], [ %rd1 + 0x10 ]"),
            "[r11+0],[r11+16],[r11-16],[r11-16],[r11+16]");
  EXPECT_EQ(operandsOf("[p], [p+8], [p+-8], [16], [%rd1+4+4]"), "[p+0+0],[p+0+8],[p+0-8],[#16+0],[r11+8]");
  EXPECT_EQ(operandsOf("[%rd1, {%r1, %r2}], [%r3], %r4"), "[r11+0,{r1,r2}],[r3+0],r4");
  EXPECT_EQ(operandsOf("[p+64, {%r1, 0, _}, %r5, 7]"), "[p+0+64,{r1,#0,_},r5,#7]");
}

TEST(Operands, Opcodes) {
  Instruction instruction = parsedInstruction("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes "
                                              "[%r1], [%rd1, {%r1, %r2}], [%r3];");
  EXPECT_EQ(instruction.opcode, (std::vector<std::string>{"cp", "async", "bulk", "tensor", "2d", "shared::cta",
                                                          "global", "mbarrier::complete_tx::bytes"}));
  EXPECT_EQ(instruction.spelling(), "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes");
  EXPECT_EQ(parsedInstruction("ld .global .L2::128B\n.v4 .b32 {%r1, %r2, %r3, %r4}, [%rd1];").spelling(),
            "ld.global.L2::128B.v4.b32");
  EXPECT_EQ(parsedInstruction("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];").opcode[4], "32x32b");
}

TEST(Operands, Guards) {
  Instruction plain = parsedInstruction("ret;");
  EXPECT_FALSE(plain.guarded);
  Instruction guarded = parsedInstruction("@%p1 ret;");
  EXPECT_TRUE(guarded.guarded);
  EXPECT_FALSE(guarded.guardNegated);
  EXPECT_EQ(guarded.guard, 21u);
  Instruction negated = parsedInstruction("@ ! %p2\nret;");
  EXPECT_TRUE(negated.guarded);
  EXPECT_TRUE(negated.guardNegated);
  EXPECT_EQ(negated.guard, 22u);
}

TEST(Operands, Errors) {
  auto error = [](const std::string &body) { return errorOf(kernelWith(body)); };
  EXPECT_EQ(error("mov.b32 %r1, %r10;"), "6:14: expected an operand, got '%r10', which nothing declares");
  EXPECT_EQ(error("mov.b32 %r1, %tid;"), "6:14: expected an operand, got '%tid', which nothing declares");
  EXPECT_EQ(error("mov.b32 %r1, %tid.w;"), "6:14: expected an operand, got '%tid', which nothing declares");
  EXPECT_EQ(error("mov.b32 %r1, k;"), "6:14: expected an operand, got 'k', a function of line 4");
  EXPECT_EQ(error("mov.b32 %r1, %r2.b0;"), "6:17: expected ',' or ';', got '.b0'");
  EXPECT_EQ(error("mov.b32 %r1, {};"), "6:15: expected an operand, got '}'");
  EXPECT_EQ(error("mov.b32 %r1, {{%r1}};"), "6:15: expected an operand, got '{'");
  EXPECT_EQ(error("mov.b32 %r1, {%r1;"), "6:18: expected ',' or '}', got ';'");
  EXPECT_EQ(error("mov.b32 %r1, (4);"), "6:14: expected an operand, got '('");
  EXPECT_EQ(error("mov.b32 %r1, ~4;"), "6:14: expected an operand, got a character that PTX does not use, '~'");
  EXPECT_EQ(error("mov.b32 %r1,;"), "6:13: expected an operand, got ';'");
  EXPECT_EQ(error("mov.b32 %r1 %r2;"), "6:13: expected ',' or ';', got '%r2'");
  EXPECT_EQ(error("ld.b32 %r1, [%r1+%r2];"), "6:18: expected an offset, got '%r2'");
  EXPECT_EQ(error("ld.b32 %r1, [%r1+1.5];"), "6:18: expected an offset, got '1.5'");
  EXPECT_EQ(error("ld.b32 %r1, [-4];"), "6:14: expected an address, got '-'");
  EXPECT_EQ(error("ld.b32 %r1, [];"), "6:14: expected an address, got ']'");
  EXPECT_EQ(error("ld.b32 %r1, [_];"), "6:14: expected an address, got '_'");
  EXPECT_EQ(error("ld.b32 %r1, [%tid.x];"), "6:14: expected an address, got '%tid.x'");
  EXPECT_EQ(error("ld.b32 %r1, [%r1;"), "6:17: expected '+', ',' or ']', got ';'");
  EXPECT_EQ(error("ld.b32 %r1, [%r1+9223372036854775807+1];"), "6:38: expected offsets of less than 64 bits in total");
  EXPECT_EQ(error("setp %p1|4, %r1;"), "6:10: expected a register behind '|', got '4'");
  EXPECT_EQ(error("setp 4|%p1, %r1;"), "6:6: expected a register in front of '|', got '4'");
  EXPECT_EQ(error("selp %r1, %r1, %r2, !%r3;"), "6:22: expected a predicate register, got '%r3'");
  EXPECT_EQ(error("@%r1 ret;"), "6:2: expected a predicate register, got '%r1'");
  EXPECT_EQ(error("@%p1 { ret; }"), "6:6: expected an instruction, got '{'");
  EXPECT_EQ(error("fma.rn. %r1, %r2;"), "6:7: expected an operand, got '.'");
  EXPECT_EQ(error("%r1, 4;"), "6:1: expected an instruction or a label, got '%r1'");
  EXPECT_EQ(error("call.uni (%r1), vprintf, (%r1);"),
            "6:17: expected a function that '.extern .func' declares, got 'vprintf'");
  EXPECT_EQ(error("call.uni %r1, 4;"), "6:10: expected a function that '.extern .func' declares, got '%r1'");
  EXPECT_EQ(error("call.uni (%r1, %r2"), "7:1: expected ',' or ')', got '}'");
}

} // namespace
