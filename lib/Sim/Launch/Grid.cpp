// Clusters in parallel: each host thread takes the next one, and comes back to those that wait for others.
#include "headrace/Sim/Launch/Grid.h"

#include "headrace/Sim/Machine/Cluster.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace headrace::sim {

namespace {

using Time = std::chrono::steady_clock;
constexpr uint64_t kStepsPerTurn = 1 << 8; // the time limit is looked at between turns: a step may take a millisecond
constexpr double kNoProgressSeconds = 8;   // a deadlock through global memory is reported within 10

class GridRun {
public:
  GridRun(const Program &program, const Launch &launch, const RunOptions &options, Findings &findings)
      : program(program), launch(launch), options(options), findings(findings),
        clusterSize(launch.cluster[0] * launch.cluster[1] * launch.cluster[2]),
        numClusters(int64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] / clusterSize), start(Time::now()) {}

  void run() {
    unsigned count = options.hostThreads ? options.hostThreads : std::max(1u, std::thread::hardware_concurrency());
    count = static_cast<unsigned>(std::min<int64_t>(count, numClusters));
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < count; ++i)
      threads.emplace_back([this] { work(); });
    work();
    for (std::thread &thread : threads)
      thread.join();
  }

private:
  std::unique_ptr<Cluster> takeNext() {
    int64_t index = next++;
    if (index >= numClusters)
      return nullptr;
    uint64_t seed = launch.seed * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(index);
    return std::make_unique<Cluster>(program, launch, static_cast<int>(index * clusterSize), seed, findings);
  }

  void work() {
    std::deque<std::unique_ptr<Cluster>> spinning;
    auto lastProgress = Time::now();
    while (!isOver()) {
      std::unique_ptr<Cluster> cluster = takeNext();
      if (!cluster) {
        if (spinning.empty())
          return;
        cluster = std::move(spinning.front());
        spinning.pop_front();
      }
      switch (runUntilItWaits(*cluster)) {
      case Cluster::State::Finished:
        noteFinished();
        lastProgress = Time::now();
        break;
      case Cluster::State::Stuck:
        stopped = true;
        break;
      default:
        spinning.push_back(std::move(cluster));
        if (seconds(lastProgress) > kNoProgressSeconds)
          reportSpinning(*spinning.back());
      }
    }
  }

  Cluster::State runUntilItWaits(Cluster &cluster) {
    while (!isOver()) {
      Cluster::State state = cluster.run(kStepsPerTurn);
      if (state != Cluster::State::Running)
        return state;
    }
    return Cluster::State::Stuck;
  }

  /// Whether nobody should go on: something was found that ends the run, or the time limit has passed.
  bool isOver() {
    if (!stopped && options.timeLimit > 0 && seconds(start) > options.timeLimit && !stopped.exchange(true))
      findings.add({FindingKind::TimeLimit,
                    {},
                    "the time limit of " + std::to_string(options.timeLimit) + " seconds has passed",
                    {}});
    return stopped;
  }

  void reportSpinning(const Cluster &cluster) {
    if (stopped.exchange(true))
      return;
    const Warp *warp = nullptr;
    for (const auto &candidate : cluster.ctas.front()->warps)
      if (candidate->live)
        warp = candidate.get();
    Origin origin{cluster.ctas.front()->index, 0, nullptr};
    if (warp) {
      int lane = __builtin_ctz(warp->live);
      origin.thread = warp->index * kLanes + lane;
      if (warp->pc[lane] < program.function->instructions.size())
        origin.instruction = &program.function->instructions[warp->pc[lane]];
    }
    findings.add({FindingKind::Deadlock, origin, "polls for something that nobody does", {}});
  }

  void noteFinished() {
    int64_t done = finished += clusterSize;
    if (!options.progress)
      return;
    std::lock_guard<std::mutex> lock(progressMutex);
    options.progress(done, numClusters * clusterSize);
  }

  static double seconds(Time::time_point since) { return std::chrono::duration<double>(Time::now() - since).count(); }

  const Program &program;
  const Launch &launch;
  const RunOptions &options;
  Findings &findings;
  const int64_t clusterSize;
  const int64_t numClusters;
  const Time::time_point start;
  std::atomic<int64_t> next = 0, finished = 0;
  std::atomic<bool> stopped = false;
  std::mutex progressMutex;
};

} // namespace

void runGrid(const Program &program, const Launch &launch, const RunOptions &options, Findings &findings) {
  if (int64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] > 0)
    GridRun(program, launch, options, findings).run();
}

} // namespace headrace::sim
