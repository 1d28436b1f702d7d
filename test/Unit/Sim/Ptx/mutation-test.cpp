// The sample cut and mutated thousands of times: the parser must refuse with a place and a message, or give a module
// whose numbers all point at something.
#include "Parsing.h"

#include <algorithm>
#include <random>
#include <sstream>

using namespace headrace::sim::ptx;

namespace {

void checkOperand(const Operand &operand, const Function &function) {
  if (operand.kind == Operand::Kind::Register || operand.kind == Operand::Kind::Predicate)
    ASSERT_LT(operand.reg, function.registers.size());
  if (operand.kind == Operand::Kind::Label)
    ASSERT_LE(operand.target, function.instructions.size());
  if (operand.kind == Operand::Kind::Pair)
    ASSERT_EQ(operand.elements.size(), 2u);
  if (operand.kind == Operand::Kind::Address || operand.kind == Operand::Kind::Vector)
    ASSERT_FALSE(operand.elements.empty());
  if (operand.kind == Operand::Kind::Symbol || operand.kind == Operand::Kind::Special)
    ASSERT_FALSE(operand.name.empty());
  for (const Operand &element : operand.elements)
    checkOperand(element, function);
}

void checkFunction(const Function &function) {
  for (const Instruction &instruction : function.instructions) {
    ASSERT_FALSE(instruction.opcode.empty());
    ASSERT_GE(instruction.line, 1);
    if (instruction.guarded)
      ASSERT_EQ(function.registers.at(instruction.guard).bits, 1);
    for (const Operand &operand : instruction.operands)
      checkOperand(operand, function);
  }
}

/// Result: whether the text was taken.
bool check(const std::string &text) {
  ParseError error;
  std::optional<Module> module = parse(text, "mutated.ptx", error);
  if (!module) {
    EXPECT_FALSE(error.message.empty());
    EXPECT_GE(error.line, 1);
    EXPECT_LE(error.line, 1 + std::count(text.begin(), text.end(), '\n'));
    EXPECT_GE(error.column, 1);
    EXPECT_LE(error.column, static_cast<int>(text.size()) + 1);
    return false;
  }
  EXPECT_TRUE(error.message.empty());
  for (const Variable &variable : module->variables)
    EXPECT_TRUE(variable.initial.empty() || static_cast<int64_t>(variable.initial.size()) == variable.bytes);
  for (const Function &function : module->functions)
    checkFunction(function);
  return true;
}

/// What is likely to lead somewhere, beside arbitrary bytes.
std::vector<std::string> usefulPieces() {
  std::istringstream words(
      "{ } [ ] , ; : - + | ! _ = < > ( ) . :: // /* */ \" \\ 0x 0f 99999999999999999999 @!%p1 %r1 %tid.x "
      "W: $L__BB0_2: ret; .reg .b32 x<9>; .shared q[4]; .file .loc 1");
  std::vector<std::string> pieces = {"\n", std::string(1, '\0'), "\x80", "bra W;", ".loc 1 2 3\n"};
  for (std::string word; words >> word;)
    pieces.push_back(word);
  return pieces;
}

class Mutator {
public:
  explicit Mutator(uint64_t seed) : random(seed) {}

  /// The text with one to four changes.
  std::string operator()(std::string text) {
    for (size_t left = 1 + below(4); left > 0; --left)
      mutate(text);
    return text;
  }

private:
  size_t below(size_t count) { return random() % count; }

  void mutate(std::string &text) {
    const std::string &piece = pieces[below(pieces.size())];
    size_t at = below(text.size() + 1);
    size_t length = std::min(below(40), text.size() - at);
    switch (below(5)) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, text.substr(below(text.size() + 1), length));
      break;
    case 2:
      text.insert(at, piece);
      break;
    case 3:
      text.replace(at, length, piece);
      break;
    default:
      if (at < text.size())
        text[at] = static_cast<char>(below(256));
    }
  }

  std::mt19937_64 random;
  std::vector<std::string> pieces = usefulPieces();
};

TEST(Mutations, TheSampleItself) { EXPECT_TRUE(check(kSample)); }

TEST(Mutations, EveryPrefix) {
  std::string sample = kSample;
  for (size_t length = 0; length < sample.size(); ++length)
    check(sample.substr(0, length));
}

TEST(Mutations, EverySuffix) {
  std::string sample = kSample;
  size_t head = sample.find("//\n\n.version"); // comments up to here
  for (size_t start = 1; start < sample.size(); ++start)
    check(sample.substr(start));
  EXPECT_TRUE(check(sample.substr(head)));
  EXPECT_FALSE(check(sample.substr(head + 5)));
}

TEST(Mutations, EveryByteGone) {
  std::string sample = kSample;
  for (size_t at = 0; at < sample.size(); ++at)
    check(std::string(sample).erase(at, 1));
}

TEST(Mutations, Thousands) {
  Mutator mutated(20240607);
  int taken = 0;
  constexpr int kRounds = 20000;
  for (int round = 0; round < kRounds && !testing::Test::HasFailure(); ++round)
    taken += check(mutated(kSample));
  // Both ends of the parser are reached.
  EXPECT_GT(taken, kRounds / 50);
  EXPECT_LT(taken, kRounds / 2);
}

TEST(Mutations, ArbitraryBytes) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string noise(random() % 200, '\0');
    for (char &c : noise)
      c = static_cast<char>(random());
    check(noise);
    check(kernelWith(noise));
  }
}

} // namespace
