// call (PTX ISA 9.7.12.5) of the two functions that every kernel is linked with, __assertfail and vprintf.
//
// Parameters are variables of the caller (PTX ISA 7.1): it stores the arguments, and loads the result afterwards.
#include "Families.h"
#include "PrintFormat.h"
#include "Spelling.h"

#include "headrace/Sim/Machine/Program.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace headrace::sim;

namespace {

/// The variables that carry the arguments and the results of a call.
struct Call {
  std::vector<Source> results, arguments;

  uint64_t argument(const Lanes &lanes, int lane, size_t index, int bytes) const {
    uint64_t value = 0;
    lanes.loadParam(lane, arguments[index](lanes, lane), bytes, &value);
    return value;
  }
};

/// A string in memory, up to its zero; what is longer than anything a compiler makes is cut.
std::string stringAt(const Lanes &lanes, int lane, uint64_t address) {
  constexpr size_t kLongest = 1 << 16;
  std::string text;
  for (char c = 0; text.size() < kLongest; text += c) {
    lanes.loadGeneric(lane, address + text.size(), 1, &c);
    if (!c)
      break;
  }
  return text;
}

/// void __assertfail(const char *message, const char *file, unsigned line, const char *function, size_t charSize)
Evaluator makeAssertFail(const Call &call) {
  return [call](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      std::string message = stringAt(lanes, lane, call.argument(lanes, lane, 0, 8));
      std::vector<std::string> notes;
      if (!lanes.instruction.source.line) // else the report has the place
        notes.push_back("the assert is at " + stringAt(lanes, lane, call.argument(lanes, lane, 1, 8)) + ":" +
                        std::to_string(call.argument(lanes, lane, 2, 4)));
      lanes.report(lane, FindingKind::Assert, "assert failed: " + message, std::move(notes));
    });
    lanes.cluster.stop();
    return Step::Done;
  };
}

/// int vprintf(const char *format, const void *arguments): the number of arguments.
Evaluator makePrint(const Call &call) {
  return [call](Lanes &lanes) {
    lanes.forEach([&](int lane) {
      const uint64_t arguments = call.argument(lanes, lane, 1, 8);
      PrintSource source;
      source.integer = [&](size_t offset, int bytes) {
        uint64_t bits = 0;
        lanes.loadGeneric(lane, arguments + offset, bytes, &bits);
        return bits;
      };
      source.string = [&](uint64_t address) { return stringAt(lanes, lane, address); };
      std::string text;
      int32_t count = 0;
      if (!formatPrint(stringAt(lanes, lane, call.argument(lanes, lane, 0, 8)), source, text, count))
        lanes.report(lane, FindingKind::Operand, "expected " + text);
      else if (lanes.cluster.launch.output)
        lanes.cluster.launch.output->print(lanes.cta.index, text);
      lanes.storeParam(lane, call.results[0](lanes, lane), sizeof count, &count);
    });
    return Step::Done;
  };
}

struct DeviceFunction {
  const char *name;
  std::vector<int> results, parameters; // bytes
  Evaluator (*make)(const Call &call);
};

const std::array<DeviceFunction, 2> &deviceFunctions() {
  static const std::array<DeviceFunction, 2> table = {
      {{"__assertfail", {}, {8, 8, 4, 8, 8}, makeAssertFail}, {"vprintf", {4}, {8, 8}, makePrint}}};
  return table;
}

/// Whether the module declares the function as it is.
bool isDeclared(const DeviceFunction &function, const ptx::ExternalFunction &declared) {
  auto agree = [](const std::vector<int> &bytes, const std::vector<ptx::Parameter> &parameters) {
    return std::equal(bytes.begin(), bytes.end(), parameters.begin(), parameters.end(),
                      [](int expected, const ptx::Parameter &parameter) { return parameter.bytes == expected; });
  };
  return agree(function.results, declared.results) && agree(function.parameters, declared.parameters);
}

/// The places of parameters: variables of the caller.
std::vector<Source> takePlaces(Decoder &decode, size_t index, size_t count) {
  std::vector<Source> places;
  const std::vector<ptx::Operand> &elements = decode.instruction.operands[index].elements;
  if (elements.size() != count)
    decode.fail("expected " + std::to_string(count) + (index == 0 ? " results" : " arguments") + ", got " +
                std::to_string(elements.size()));
  for (const ptx::Operand &element : elements) {
    auto known = decode.symbols.places.find(element.name);
    if (element.kind != ptx::Operand::Kind::Symbol || known == decode.symbols.places.end() ||
        known->second.space != ptx::Space::Param)
      decode.fail("expected parameters to be variables in .param of this function");
    places.push_back(decode.source(element));
  }
  return places;
}

Evaluator decodeCall(Decoder &decode) {
  Spelling spelling(decode);
  spelling.take("uni");
  if (!spelling.finish())
    return {};
  const std::string &name = decode.instruction.operands[1].name;
  for (const DeviceFunction &function : deviceFunctions()) {
    if (name != function.name)
      continue;
    auto declared = decode.symbols.functions.find(name);
    if (declared == decode.symbols.functions.end() || !isDeclared(function, *declared->second))
      decode.fail("'" + name + "' is declared with other parameters than it has");
    Call call{takePlaces(decode, 0, function.results.size()), takePlaces(decode, 2, function.parameters.size())};
    return decode.failed() ? Evaluator() : function.make(call);
  }
  decode.fail("calls of '" + name + "' are not simulated: known are __assertfail and vprintf");
  return {};
}

} // namespace

void headrace::sim::addCalls(Registry &registry) { registry.add("call", decodeCall); }
