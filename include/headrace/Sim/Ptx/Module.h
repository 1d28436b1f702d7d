// A PTX program as the simulator reads it: names resolved, nothing interpreted.
//
// The parser gives every register of a function a number, whichever scope declared it, and every label the index of the
// instruction behind it. What an opcode means is the business of Sim/Instructions.
#ifndef HEADRACE_SIM_PTX_MODULE_H
#define HEADRACE_SIM_PTX_MODULE_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::sim::ptx {

/// Number of a register within its function.
using RegId = uint32_t;

/// A place in the file that the PTX was made from, by its `.loc` directive. `line` is 0 where there is none.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
};

/// One operand. Which members hold depends on `kind`.
struct Operand {
  enum class Kind {
    Register,  // reg
    Predicate, // reg, negated: `!%p1`
    Pair,      // elements[0] | elements[1]: the two results of setp and shfl
    Integer,   // bits: two's complement
    Float,     // bits of a float (width 32) or double (width 64): 0f3F800000, 0d..., 1.5 (a double)
    Symbol,    // name + offset: address of a variable or a parameter
    Special,   // name: %tid.x, %laneid, %clock64, ...
    Address,   // [base + offset] or [base, elements...]; the base is elements[0], the rest are coordinates and the like
    Vector,    // elements: {a, b, ...}
    Label,     // target: index of an instruction, or the number of instructions for the end
    Function,  // name: of a function that a call names
    Sink,      // _
  };
  Kind kind = Kind::Sink;
  RegId reg = 0;
  bool negated = false;
  uint64_t bits = 0;
  int width = 0;
  std::string name;
  int64_t offset = 0;
  size_t target = 0;
  std::vector<Operand> elements;
};

struct Instruction {
  /// `ld.shared::cta.v4.b32` as {"ld", "shared::cta", "v4", "b32"}.
  std::vector<std::string> opcode;
  std::vector<Operand> operands;
  bool guarded = false; // @%p, or @!%p with guardNegated
  bool guardNegated = false;
  RegId guard = 0;
  int line = 0; // in the PTX, from 1
  SourceLocation source;

  /// The opcode as it was written.
  std::string spelling() const;
};

struct RegisterInfo {
  std::string name; // as declared: "%r7", or "p" of an inner scope
  int bits = 0;     // 1 (pred), 8, 16, 32, 64 or 128
};

/// A kernel parameter. An array (a tensor map) has `bytes` > 8.
struct Parameter {
  std::string name;
  int bytes = 0;
  int align = 0;
};

enum class Space { Global, Const, Shared, Local, Param };

/// A variable of a module or a function. An external shared array has no bytes of its own: the launch gives them. One
/// in Space::Param is what a function passes to another, or gets back.
struct Variable {
  std::string name;
  Space space = Space::Shared;
  int64_t bytes = 0;
  int64_t align = 1;
  bool isExternal = false;
  std::vector<uint8_t> initial; // empty, or `bytes` long
};

struct Function {
  std::string name;
  bool isEntry = false;
  std::vector<Parameter> parameters;
  std::vector<RegisterInfo> registers; // by RegId
  std::vector<Variable> variables;     // declared inside
  std::vector<Instruction> instructions;
  std::array<int, 3> requiredThreads = {0, 0, 0}; // .reqntid; 0: not given
  std::array<int, 3> maxThreads = {0, 0, 0};      // .maxntid
  std::array<int, 3> cluster = {0, 0, 0};         // .reqnctapercluster
  int line = 0;
};

/// A function that somebody else defines: `.extern .func`.
struct ExternalFunction {
  std::string name;
  std::vector<Parameter> results;
  std::vector<Parameter> parameters;
};

struct Module {
  std::string file;    // its name, for messages
  std::string version; // "9.0"
  std::string target;  // "sm_90a"
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<ExternalFunction> externals;
};

} // namespace headrace::sim::ptx

#endif
