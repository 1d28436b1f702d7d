// How a finding reads.
#include "headrace/Sim/Launch/Report.h"

namespace headrace::sim {

namespace {

std::string who(const Origin &origin, const Launch &launch) {
  std::string role;
  for (const auto &[first, name] : launch.roles)
    if (origin.thread / kLanes >= first)
      role = " (" + name + ")";
  return "CTA " + std::to_string(origin.cta) + ", warp " + std::to_string(origin.thread / kLanes) + role + ", thread " +
         std::to_string(origin.thread);
}

} // namespace

std::string describe(const Findings::Entry &entry, const Launch &launch, const ptx::Module &module) {
  const Finding &finding = entry.finding;
  const ptx::Instruction *instruction = finding.origin.instruction;
  std::string place = module.file;
  if (instruction)
    place += ":" + std::to_string(instruction->line);
  std::string text = place + ": error: " + finding.message + " [" + nameOf(finding.kind) + "]\n";
  if (finding.kind != FindingKind::TimeLimit)
    text += "  by " + who(finding.origin, launch) + (instruction ? ", at " + instruction->spelling() : std::string()) +
            "\n";
  if (instruction && instruction->source.line)
    text += "  from " + instruction->source.file + ":" + std::to_string(instruction->source.line) + ":" +
            std::to_string(instruction->source.column) + "\n";
  for (const std::string &note : finding.notes)
    text += "  note: " + note + "\n";
  if (entry.count > 1)
    text += "  and " + std::to_string(entry.count - 1) + " more of this kind at this instruction\n";
  return text;
}

} // namespace headrace::sim
