// 32 threads: their registers, their places in the program, what they wait for.
#ifndef HEADRACE_SIM_MACHINE_WARP_H
#define HEADRACE_SIM_MACHINE_WARP_H

#include "headrace/Sim/Machine/Clock.h"
#include "headrace/Sim/Ptx/Module.h"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headrace::sim {

/// Bit i: lane i.
using LaneMask = uint32_t;
inline constexpr int kLanes = 32;

/// Bit i: byte i of a register of at most 128 bits.
using ByteMask = uint16_t;

/// What a lane knows of others, and the number of its own current step.
struct ThreadState {
  SharedClock clock = std::make_shared<Clock>();
  uint32_t step = 1;
};

/// Why a register must not be touched.
enum class Flight : uint8_t { None, Accumulator, Operand, Load };

class Warp {
public:
  /// `index`: within the CTA. `live`: lanes that exist.
  Warp(int index, LaneMask live, size_t numRegisters);

  const int index;
  LaneMask live;      // lanes that have not exited
  LaneMask carry = 0; // CC.CF of each lane (PTX ISA 9.7.2)
  std::array<size_t, kLanes> pc = {};
  std::array<ThreadState, kLanes> threads;

  /// The 32 cells of a register, one for each lane; values narrower than 64 bits are zero-extended. A 128-bit register
  /// keeps its high half in highCells.
  uint64_t *cells(ptx::RegId reg) { return registers.data() + static_cast<size_t>(reg) * kLanes; }
  uint64_t *highCells(ptx::RegId reg);
  /// Lanes in which all of the register has a value.
  LaneMask defined(ptx::RegId reg) const { return definedLanes[reg]; }
  void define(ptx::RegId reg, LaneMask lanes) { definedLanes[reg] |= lanes; }
  void undefine(ptx::RegId reg, LaneMask lanes);
  /// Bytes of a lane's register that have a value. A value and nothing may be packed into one register, and the value
  /// taken out again.
  ByteMask definedBytes(ptx::RegId reg, int lane) const;
  void setDefinedBytes(ptx::RegId reg, int lane, ByteMask bytes, int width);

  /// Bytes of each lane's local memory: made when they are first asked for. Requires: the range is inside.
  void writeLocal(int lane, uint64_t offset, int64_t count, const void *in);
  /// Result: whether all of them were written before.
  bool readLocal(int lane, uint64_t offset, int64_t count, void *out) const;

  /// A number that differs, as a rule, where places, registers or lanes differ.
  uint64_t digest() const;

  // Registers in flight: those that an asynchronous operation will write or still reads, all lanes alike. An operation
  // goes through `takeOff` for each of its registers when it is issued, `arrive` when it has been performed, `land` when
  // a wait covers it. A `mov` of a register in flight is a renaming, as it is for ptxas, which gives both one hardware
  // register: the copy is in flight too, and gets its value when the original does.
  Flight flight(ptx::RegId reg) const { return flights[reg].kind; }
  bool anyInFlight() const { return numInFlight != 0; }
  void takeOff(ptx::RegId reg, Flight kind);
  void arrive(ptx::RegId reg);
  void land(ptx::RegId reg);
  /// `mov to, from` with `from` in flight. Result: false where `to` is itself in the hands of an operation.
  bool renameInFlight(ptx::RegId from, ptx::RegId to);
  /// Something else writes `reg`. Result: false where an operation has it in its hands; a mere copy is let go.
  bool overwrite(ptx::RegId reg);

private:
  /// How a register is in flight: through operations of its own, and as a copy.
  struct FlightState {
    Flight kind = Flight::None;
    uint32_t operations = 0;  // not landed
    uint32_t unperformed = 0; // of those
    bool isCopy = false;
  };
  /// `to` is a copy of `from`, made when so many operations on `from` had yet to be performed, and to land.
  struct Rename {
    ptx::RegId from = 0;
    ptx::RegId to = 0;
    uint32_t unperformed = 0;
    uint32_t unlanded = 0;
  };

  ptx::RegId originOf(ptx::RegId reg) const;
  void dropCopy(ptx::RegId reg);
  void settle(ptx::RegId reg);
  void copyArrived(ptx::RegId from);
  void copyLanded(ptx::RegId from);

  std::array<std::vector<uint8_t>, kLanes> local, localWritten; // as far as anything was written
  std::vector<uint64_t> registers;
  std::vector<std::pair<ptx::RegId, std::array<uint64_t, kLanes>>> highHalves;
  std::vector<LaneMask> definedLanes;
  std::unordered_map<ptx::RegId, std::array<ByteMask, kLanes>> partlyDefined; // of lanes that are not in definedLanes
  std::vector<FlightState> flights;
  std::vector<Rename> renames; // each `to` once, each `from` an original
  size_t numInFlight = 0;
};

} // namespace headrace::sim

#endif
