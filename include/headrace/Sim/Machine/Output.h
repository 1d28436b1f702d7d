// What the threads of a launch print.
#ifndef HEADRACE_SIM_MACHINE_OUTPUT_H
#define HEADRACE_SIM_MACHINE_OUTPUT_H

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace headrace::sim {

/// The text of each CTA in the order in which it was printed, CTAs in ascending order: the same whenever the order of
/// execution is, however many host threads there are. Safe for use by many threads.
class Output {
public:
  void print(int cta, const std::string &text) {
    std::lock_guard<std::mutex> lock(mutex);
    std::string &own = texts[cta];
    if (own.size() + text.size() <= kMostBytes)
      own += text;
    else
      isCut = true;
  }
  std::string text() const {
    std::lock_guard<std::mutex> lock(mutex);
    std::string all;
    for (const auto &entry : texts)
      all += entry.second;
    return isCut ? all + "(more was printed than is kept)\n" : all;
  }

private:
  static constexpr size_t kMostBytes = size_t(1) << 20; // of a CTA

  mutable std::mutex mutex;
  std::map<int, std::string> texts;
  bool isCut = false;
};

} // namespace headrace::sim

#endif
