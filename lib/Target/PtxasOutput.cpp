// Reads what `ptxas -v` prints: resources, the remarks that cost speed, and its errors as sentences
// of ours.
#include "headrace/Target/Ptxas.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

#include <algorithm>

namespace headrace {
namespace {

using llvm::StringRef;

/// One message: "ptxas [FILE, line N; ]severity : text".
struct Message {
  StringRef severity, text, line;
};

std::optional<Message> splitMessage(StringRef line) {
  if (!line.consume_front("ptxas "))
    return std::nullopt;
  static const llvm::Regex format("^(.*, line ([0-9]+); *)?([A-Za-z]+) *: (.*)$");
  llvm::SmallVector<StringRef, 5> match;
  if (!format.match(line, &match))
    return std::nullopt;
  return Message{match[3], match[4].trim(), match[2]};
}

/// The number that `pattern`'s only group captures in the text, 0 if it is not there.
int64_t numberIn(StringRef text, const char *pattern) {
  llvm::SmallVector<StringRef, 2> match;
  int64_t value = 0;
  if (llvm::Regex(pattern).match(text, &match))
    match[1].getAsInteger(0, value);
  return value;
}

/// Codes that mean lost speed: setmaxnreg ignored, wgmma serialised or waits injected, too few
/// registers.
bool isPerformanceCode(StringRef code) {
  int number = 0;
  if (!code.consume_front("C") || code.getAsInteger(10, number))
    return false;
  return number == 7508 || (number >= 7510 && number <= 7520) || number == 7602;
}

/// Adds the message to `notes`, and to `performance` where its code says so.
void addNote(const Message &message, PtxasResult &result) {
  std::string text = message.text.str();
  if (!message.line.empty())
    text += " (PTX line " + message.line.str() + ")";
  result.notes.push_back(text);
  llvm::SmallVector<StringRef, 3> match;
  static const llvm::Regex coded("^\\((C[0-9]+)\\) *(.*)$");
  if (coded.match(text, &match) && isPerformanceCode(match[1]))
    result.performance.push_back({match[1].str(), match[2].str()});
}

/// A rule from a pattern of ptxas's to a sentence of ours; "$1" stands for the first group and so
/// on, "$T" for the target, and "#1" for the first group, a hexadecimal number, in decimal.
struct Sentence {
  const char *pattern;
  const char *ours;
};

constexpr Sentence kSentences[] = {
    {"Unsupported \\.version ([0-9.]+); current version is '([0-9.]+)'",
     "the PTX declares ISA $1, ptxas takes up to $2"},
    {"PTX \\.version ([0-9.]+) does not support \\.target ([a-z0-9_]+)",
     "internal error: the PTX declares ISA $1, which does not know $2"},
    {"Value '([^']*)' is not defined for option 'gpu-name'", "ptxas does not know $1: it is older than the target"},
    {"function '([^']*)' uses too much shared data \\((0x[0-9a-f]+) bytes, (0x[0-9a-f]+) max\\)",
     "kernel '$1' needs #2 bytes of static shared memory, $T has #3"},
    {"\\(C7602\\) Insufficient registers \\(([0-9]+)\\) .* in function ([^ ]+)\\..*target of "
     "([0-9]+)",
     "kernel '$2' has $1 registers per thread, one of its instructions needs $3"},
    {"\\(C7406\\) .*register count \\(([0-9]+)\\).*\\(([0-9]+)\\)",
     "setmaxnreg.dec to $1 registers, the kernel starts with $2"},
    {"Unresolved extern function '([^']*)'", "internal error: the PTX calls '$1', which nothing defines"},
    {"(Instruction|Feature|Modifier) '([^']*)' (not supported on|requires) \\.target",
     "internal error: the PTX uses '$2', which $T lacks"},
};

/// `ours` with its placeholders replaced.
std::string fill(StringRef ours, llvm::ArrayRef<StringRef> groups, const TargetInfo &target) {
  std::string text;
  for (size_t i = 0; i < ours.size(); ++i) {
    char next = i + 1 < ours.size() ? ours[i + 1] : 0;
    if (ours[i] == '$' && next == 'T') {
      text += target.name;
    } else if ((ours[i] == '$' || ours[i] == '#') && llvm::isDigit(next)) {
      StringRef group = groups[next - '0'];
      uint64_t number = 0;
      if (ours[i] == '#' && !group.getAsInteger(0, number))
        text += std::to_string(number);
      else
        text += group;
    } else {
      text += ours[i];
      continue;
    }
    ++i;
  }
  return text;
}

/// One sentence for ptxas's first error.
std::string sentenceFor(const Message &message, const TargetInfo &target) {
  for (const Sentence &sentence : kSentences) {
    llvm::SmallVector<StringRef, 4> groups;
    if (llvm::Regex(sentence.pattern).match(message.text, &groups))
      return fill(sentence.ours, groups, target);
  }
  std::string text = "internal error: ptxas refuses the PTX for " + target.name;
  if (!message.line.empty())
    text += " at line " + message.line.str();
  return text;
}

/// "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads"
void addFunctionProperties(StringRef line, StringRef function, PtxasResult &result) {
  int64_t stores = numberIn(line, "([0-9]+) bytes spill stores");
  int64_t loads = numberIn(line, "([0-9]+) bytes spill loads");
  result.stackBytes = std::max(result.stackBytes, numberIn(line, "([0-9]+) bytes stack frame"));
  result.spillStores += stores;
  result.spillLoads += loads;
  if (stores || loads)
    result.performance.push_back({"spill", std::to_string(stores) + " bytes spilled and " + std::to_string(loads) +
                                               " reloaded in function '" + function.str() + "'"});
}

} // namespace

void parsePtxasOutput(StringRef text, const TargetInfo &target, PtxasResult &result) {
  StringRef function;
  for (StringRef line : llvm::split(text, '\n')) {
    line = line.rtrim();
    if (line.contains("bytes stack frame"))
      addFunctionProperties(line, function, result);
    std::optional<Message> message = splitMessage(line);
    if (!message)
      continue;
    StringRef said = message->text;
    if (message->severity == "error" || message->severity == "fatal") {
      if (said.contains("assembly aborted"))
        continue;
      if (said.starts_with("(C"))
        addNote(*message, result);
      if (result.error.empty())
        result.error = sentenceFor(*message, target);
    } else if (said.consume_front("Function properties for ")) {
      function = said;
    } else if (said.starts_with("Used ")) {
      result.registers = std::max<int>(result.registers, numberIn(said, "Used ([0-9]+) registers"));
      result.sharedBytes = std::max(result.sharedBytes, numberIn(said, "([0-9]+) bytes smem"));
    } else if (message->severity != "info" || said.starts_with("(C") || said.starts_with("Advisory")) {
      addNote(*message, result);
    }
  }
}

} // namespace headrace
