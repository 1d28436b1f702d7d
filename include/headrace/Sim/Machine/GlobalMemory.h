// The arrays of a launch, at simulated device addresses.
#ifndef HEADRACE_SIM_MACHINE_GLOBALMEMORY_H
#define HEADRACE_SIM_MACHINE_GLOBALMEMORY_H

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace headrace::sim {

/// Arrays with gaps of unmapped addresses between them. Mapping is for one thread; access is for many, and concurrent
/// atomics are made one at a time.
class GlobalMemory {
public:
  struct Array {
    std::string name;
    uint8_t *data = nullptr;
    int64_t bytes = 0;
  };

  /// Maps `bytes` at `data`, which must outlive this. Result: the device address, of which `alignment` is the largest
  /// power of two that divides it (so a kernel that needs more is found out).
  uint64_t map(std::string name, uint8_t *data, int64_t bytes, uint64_t alignment = 256);

  /// Maps a variable of the program at the address that the program knows it by. Requires: nothing is mapped there.
  void mapVariable(std::string name, uint64_t address, std::vector<uint8_t> contents);

  /// The memory behind [address, address + bytes), or null where some of it is not in one array.
  uint8_t *find(uint64_t address, int64_t bytes) const;
  /// "128 bytes past the end of 'A'" or "not in any array".
  std::string describe(uint64_t address) const;

  /// Held during an atomic operation.
  std::mutex &atomicMutex() { return mutex; }

private:
  std::map<uint64_t, Array> arrays; // by address
  std::map<uint64_t, std::vector<uint8_t>> variables;
  uint64_t next = 0x7000'0000'0000;
  std::mutex mutex;
};

} // namespace headrace::sim

#endif
