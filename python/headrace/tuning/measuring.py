"""Measures configurations against each other: a look at each, then rounds of bursts for those that are close."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from headrace.errors import LaunchError
from headrace.tuning.progress import Advance
from headrace.tuning.results import Result
from headrace.tuning.space import Config
from headrace.tuning.timing import Series

#: A configuration that takes so many times as long as the fastest, at a look, is not measured further.
_CLOSE = 1.3
#: How many configurations are measured in rounds at most.
_FINALISTS = 8
_LOOK_SECONDS = 0.002


def measure(
    configs: Sequence[tuple[Config, float | None]],
    start: Callable[[int], Series],
    advance: Advance,
    rounds: int = 5,
    rest: float = 0.02,
) -> list[Result]:
    """The results of `configs`, which come with their bounds. ``start(i)`` makes the launches of number i.

    Those that are close to the fastest take turns in `rounds` rounds, in random order, after `rest` seconds of rest;
    the median counts. One that raises LaunchError has failed, and the others go on.
    """
    looked: dict[int, Series] = {}
    results: dict[int, Result] = {}
    fastest = float("inf")
    for index, (config, bound) in enumerate(configs):
        try:
            series = start(index)
            series.prepare(_LOOK_SECONDS)
        except LaunchError as error:
            results[index] = Result(config, "failed", str(error).splitlines()[0], bound=bound)
        else:
            looked[index] = series
            fastest = min(fastest, series.estimate)
        advance(f"{fastest * 1e6:.1f} us" if looked else "")
    ranked = sorted(looked, key=lambda index: looked[index].estimate)
    finalists = [i for i in ranked if looked[i].estimate <= _CLOSE * fastest][:_FINALISTS]
    times = _rounds({index: looked[index] for index in finalists}, rounds, rest)
    for index, series in looked.items():
        config, bound = configs[index]
        if index in times:
            timing = series.timing(times[index])
            results[index] = Result(config, "measured", "", timing.median, timing.spread, bound)
        else:
            reason = f"{series.estimate / fastest:.2f} times the fastest at a look"
            results[index] = Result(config, "measured", reason, series.estimate, None, bound)
    return [results[index] for index in sorted(results)]


def _rounds(finalists: dict[int, Series], rounds: int, rest: float) -> dict[int, list[float]]:
    times: dict[int, list[float]] = {index: [] for index in finalists}
    for _ in range(rounds):
        for index in random.sample(list(finalists), len(finalists)):
            finalists[index].clock.synchronize()
            time.sleep(rest)
            times[index].append(finalists[index].burst())
    return times
