"""Times launches of one thing over buffers that rotate: in short bursts, from a CUDA graph if a launch is short."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

#: Launches of a burst take about so long together.
BURST_SECONDS = 0.008
#: What takes longer than this is not held up by launching it from Python.
_GRAPH_SECONDS = 0.001
_MAX_LAUNCHES = 4000
_LOOKS = 10


class Clock(Protocol):
    """A device that runs work and tells how long it takes: `DriverClock`, `TorchClock`."""

    @property
    def cache_bytes(self) -> int:
        """Bytes of the L2 cache."""

    def timed(self, work: Callable[[], None]) -> float:
        """Seconds of device time that `work`, which is asynchronous, takes."""

    def capture(self, work: Callable[[], None]) -> Callable[[], None]:
        """A CUDA graph of `work`, as a function that launches it."""

    def synchronize(self) -> None:
        """Waits until the device has done all work."""


@dataclass(frozen=True)
class Timing:
    """Seconds of one launch. `times` has one value for each round, the mean over `launches` launches.

    `graph` says whether they came from a CUDA graph, `sets` over how many sets of buffers they rotated.
    """

    times: tuple[float, ...]
    launches: int
    graph: bool
    sets: int

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def spread(self) -> float:
        """(largest - smallest) / median."""
        return (max(self.times) - min(self.times)) / self.median

    def rate(self, amount: float) -> float:
        """`amount` for each second: operations of a launch give FLOP/s, bytes give bytes/s."""
        return amount / self.median

    def __str__(self) -> str:
        how = f"{len(self.times)} rounds of {self.launches} launches{' in a graph' if self.graph else ''}"
        return f"{self.median * 1e6:.2f} us, spread {self.spread:.1%} ({how}, {self.sets} sets of buffers)"


class Series:
    """Launches of one thing. `launch(i)` starts it, asynchronously, on set `i` of `sets` sets of buffers.

    `prepare` comes first. `estimate` is the seconds of a launch as seen then.
    """

    def __init__(self, clock: Clock, launch: Callable[[int], Any], sets: int):
        self.clock = clock
        self.sets = sets
        self.launches = 1
        self.estimate = 0.0
        self.graph = False
        self._launch = launch
        self._replay: Callable[[], None] = self._run

    def _run(self, count: int | None = None) -> None:
        for index in range(self.launches if count is None else count):
            self._launch(index % self.sets)

    def prepare(self, seconds: float = BURST_SECONDS, graph: bool | None = None) -> None:
        """Runs on every set once, looks how long a launch takes, and captures about `seconds` of launches in a graph.

        `graph` None takes a graph only where launching from Python could be what is timed.
        """
        self._run(self.sets)
        self.estimate = self.clock.timed(lambda: self._run(_LOOKS)) / _LOOKS
        self.launches = max(1, min(round(seconds / max(self.estimate, 1e-9)), _MAX_LAUNCHES))
        self.graph = self.estimate < _GRAPH_SECONDS if graph is None else graph
        if self.graph:
            self._replay = self.clock.capture(self._run)
            # The first replay loads the graph to the device.
            self._replay()
        self.estimate = self.burst()

    def burst(self) -> float:
        """Seconds of a launch, the mean over one burst."""
        return self.clock.timed(self._replay) / self.launches

    def sustained(self, seconds: float) -> float:
        """Seconds of a launch when bursts follow each other for `seconds`.

        The first half only brings the power budget to what these launches leave of it.
        """
        bursts = max(1, round(seconds / 2 / (self.estimate * self.launches)))

        def work() -> None:
            for _ in range(bursts):
                self._replay()

        work()
        return self.clock.timed(work) / (bursts * self.launches)

    def timing(self, times: list[float]) -> Timing:
        return Timing(tuple(times), self.launches, self.graph, self.sets)


def sets_needed(set_bytes: int, cache_bytes: int, free_bytes: int | None = None, limit: int = 256) -> int:
    """How many sets of `set_bytes` exceed three L2 caches: at least 2, at most `limit`, within half of `free_bytes`.

    At least 1, even if that does not fit: then allocating it says so.
    """
    if set_bytes < 1:
        return 1
    count = min(max(2, 3 * cache_bytes // set_bytes + 1), limit)
    return count if free_bytes is None else max(1, min(count, free_bytes // 2 // set_bytes))
