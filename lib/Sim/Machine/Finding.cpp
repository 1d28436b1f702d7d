// The names of findings, and their list.
#include "headrace/Sim/Machine/Finding.h"

#include <algorithm>

namespace headrace::sim {

const char *nameOf(FindingKind kind) {
  switch (kind) {
  case FindingKind::Assert:
    return "assert";
  case FindingKind::ReadBeforeLanded:
    return "read-before-landed";
  case FindingKind::Overwrite:
    return "overwrite";
  case FindingKind::UnorderedWrites:
    return "unordered-writes";
  case FindingKind::MissingProxyFence:
    return "missing-proxy-fence";
  case FindingKind::MissingTensorFence:
    return "missing-tensor-fence";
  case FindingKind::RegisterInFlight:
    return "register-in-flight";
  case FindingKind::Barrier:
    return "barrier";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::Divergence:
    return "divergence";
  case FindingKind::TensorMemory:
    return "tensor-memory";
  case FindingKind::Uninitialised:
    return "uninitialised";
  case FindingKind::OutOfBounds:
    return "out-of-bounds";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::Operand:
    return "operand";
  case FindingKind::TimeLimit:
    return "time-limit";
  }
  return "";
}

std::string describePlace(const ptx::Instruction &instruction) {
  std::string text = "PTX line " + std::to_string(instruction.line) + ", " + instruction.spelling();
  if (instruction.source.line)
    text += ", from " + instruction.source.file + ":" + std::to_string(instruction.source.line) + ":" +
            std::to_string(instruction.source.column);
  return text;
}

void Findings::add(Finding finding) {
  std::lock_guard<std::mutex> lock(mutex);
  for (Entry &entry : entries) {
    if (entry.finding.kind == finding.kind && entry.finding.origin.instruction == finding.origin.instruction) {
      ++entry.count;
      return;
    }
  }
  entries.push_back({std::move(finding), 1});
}

bool Findings::empty() const {
  std::lock_guard<std::mutex> lock(mutex);
  return entries.empty();
}

std::vector<Findings::Entry> Findings::sorted() const {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<Entry> result = entries;
  auto key = [](const Entry &entry) {
    const ptx::Instruction *instruction = entry.finding.origin.instruction;
    return std::make_pair(entry.finding.kind, instruction ? instruction->line : 0);
  };
  std::stable_sort(result.begin(), result.end(), [&](const Entry &a, const Entry &b) { return key(a) < key(b); });
  return result;
}

} // namespace headrace::sim
