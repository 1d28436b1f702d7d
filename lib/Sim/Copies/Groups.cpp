// Groups of asynchronous copies: commit, and wait for all but the newest. PTX ISA 9.7.9.25.3.2-3 and 9.7.9.27.2.
//
// All reads and writes of an operation happen at one moment here, so that wait_group.read is wait_group.
#include "Copies.h"

namespace headrace::sim {

namespace {

/// What a wait makes visible. Bulk copies have an implicit proxy fence (9.7.9.25.2), cp.async is generic and has none.
void complete(const Lanes &lanes, int lane, StreamKind kind, Epoch epoch) {
  if (epoch.number == 0)
    return;
  if (kind == StreamKind::Bulk)
    lanes.complete(lane, epoch);
  else
    lanes.completeFor(lane, epoch, View::Generic);
}

/// Waits until each lane's operations up to `last(stream)` are done, and shows them to it.
template <typename Last> Step waitFor(Lanes &lanes, StreamKind kind, Last last) {
  int waiting = -1;
  lanes.forEach([&](int lane) {
    const Stream &stream = lanes.stream(kind, lanes.thread(lane));
    if (!stream.done(last(stream)))
      waiting = lane;
  });
  if (waiting >= 0)
    return lanes.waits([&] {
      const Stream &stream = lanes.stream(kind, lanes.thread(waiting));
      return "for its copies up to number " + std::to_string(last(stream)) + " of " + std::to_string(stream.issued()) +
             ", done are " + std::to_string(stream.doneUpTo());
    });
  lanes.forEach([&](int lane) {
    const Stream &stream = lanes.stream(kind, lanes.thread(lane));
    complete(lanes, lane, kind, stream.epoch(last(stream)));
  });
  return Step::Done;
}

void expectOperands(Decoder &decode, size_t count) {
  if (decode.numOperands() != count)
    decode.fail("expected " + std::to_string(count) + " operands, got " + std::to_string(decode.numOperands()));
}

} // namespace

Evaluator makeCommitGroup(Decoder &decode, StreamKind kind) {
  expectOperands(decode, 0);
  return [kind](Lanes &lanes) {
    lanes.forEach([&](int lane) { lanes.stream(kind, lanes.thread(lane)).commitGroup(); });
    return Step::Done;
  };
}

Evaluator makeWaitGroup(Decoder &decode, StreamKind kind) {
  expectOperands(decode, 1);
  int64_t pending = decode.integer(0);
  if (pending < 0 || pending > UINT32_MAX)
    decode.fail("expected a number of groups, got " + std::to_string(pending));
  return [kind, pending](Lanes &lanes) {
    return waitFor(lanes, kind,
                   [&](const Stream &stream) { return stream.endOfGroups(static_cast<uint32_t>(pending)); });
  };
}

Evaluator makeWaitAll(Decoder &decode) {
  expectOperands(decode, 0);
  return [](Lanes &lanes) {
    Step step = waitFor(lanes, StreamKind::CpAsync, [](const Stream &stream) { return stream.issued(); });
    // It commits, then waits; but a step that blocks is made again, and must not commit twice.
    if (step == Step::Done)
      lanes.forEach([&](int lane) { lanes.stream(StreamKind::CpAsync, lanes.thread(lane)).commitGroup(); });
    return step;
  };
}

} // namespace headrace::sim
