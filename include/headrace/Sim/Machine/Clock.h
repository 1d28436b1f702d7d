// What has happened before what: vector clocks over threads and asynchronous streams.
//
// Every thread, every stream of asynchronous operations (the cp.async of a thread, the wgmma of a warpgroup, ...) and
// every mbarrier is a *component*. An access to memory carries an *epoch*: a component and a number of it. Whoever has
// that component at that number or higher in its clock comes after the access; anybody else races with it. That is the
// whole of race detection here, and it does not depend on the order in which this run happened to go.
//
//   thread t stores to x        the store has epoch (t, 4)
//   thread t arrives on B       B's clock gets (t, 4); t goes on as (t, 5)
//   thread u waits for B        u's clock gets all of B's
//   thread u loads x            u has (t, 4): ordered. Without the wait it would not: a race.
//
// An asynchronous operation sees what its issuer saw when it issued it, and others see it through its stream (after
// wait_group) or through the mbarrier that it completes on.
//
// Three clocks, because being ordered is not being visible (PTX ISA 8.9, hardware rows 5, 6, 20-22):
//   generic   what ordinary loads and stores see. Barriers pass it on.
//   async     what the async proxy sees: TMA, wgmma, tcgen05 on shared memory. `fence.proxy.async` copies generic into
//             it. Barriers pass it on.
//   tensor    what tcgen05 operations see of tensor memory. `tcgen05.fence::after_thread_sync` copies generic into it,
//             `before_thread_sync` copies it into generic. Barriers do not pass it on.
#ifndef HEADRACE_SIM_MACHINE_CLOCK_H
#define HEADRACE_SIM_MACHINE_CLOCK_H

#include <cstdint>
#include <memory>
#include <vector>

namespace headrace::sim {

/// Number of a thread, a stream or an mbarrier within its cluster.
using Component = uint32_t;

/// The `number`-th step of `component`, from 1.
struct Epoch {
  Component component = 0;
  uint32_t number = 0;
};

/// How far each component is known to have come; 0 where nothing is known.
class VectorClock {
public:
  uint32_t operator[](Component component) const { return component < steps.size() ? steps[component] : 0; }
  bool has(Epoch epoch) const { return (*this)[epoch.component] >= epoch.number; }
  /// Ensures: has(epoch).
  void raise(Epoch epoch);
  /// Ensures: has everything that `other` has.
  void join(const VectorClock &other);
  /// Whether it has everything that `other` has already.
  bool covers(const VectorClock &other) const;

private:
  std::vector<uint32_t> steps;
};

enum class View { Generic, Async, Tensor };

/// The three clocks of a thread, of an asynchronous operation, or of a barrier.
struct Clock {
  VectorClock generic;
  VectorClock async;
  VectorClock tensor;

  const VectorClock &of(View view) const {
    return view == View::Generic ? generic : view == View::Async ? async : tensor;
  }
  /// Joins what a barrier passes on: generic and async.
  void acquire(const Clock &other);
  /// Sees the completion of an asynchronous operation, which is a proxy fence of its own.
  void complete(Epoch epoch);
};

/// Clocks are shared until somebody changes his: after a barrier, thousands of operations look at one object.
using SharedClock = std::shared_ptr<const Clock>;

/// `lhs` after it acquired `rhs`: itself where it has everything of `rhs` already.
SharedClock joined(const SharedClock &lhs, const SharedClock &rhs);

} // namespace headrace::sim

#endif
