"""Times a kernel, or any function that launches work on the GPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from headrace.runtime.arrays import device_of, is_torch_tensor
from headrace.tuning.driver_clock import DriverClock
from headrace.tuning.rotation import rotating, rotating_torch
from headrace.tuning.timing import BURST_SECONDS, Series, Timing
from headrace.tuning.torch_clock import TorchClock

#: What the GPU rests before each burst, so that one kernel's heat is not another's loss.
REST_SECONDS = 0.15


def bench(
    fn: Callable,
    *args: Any,
    rounds: int = 5,
    burst: float = BURST_SECONDS,
    rest: float = REST_SECONDS,
    graph: bool | None = None,
    sets: int | None = None,
    **kwargs: Any,
) -> Timing:
    """The time of ``fn(*args, **kwargs)`` on the GPU.

    Arrays among the arguments are copied to several sets, more than three times the L2 cache together, and launches
    rotate through them; so the given arrays are neither read from a warm cache nor written. In each of `rounds`, after
    `rest` seconds of rest, about `burst` seconds of launches are timed, from a CUDA graph if one launch is shorter than
    a millisecond (`graph` True or False decides otherwise). `sets` is the number of sets; 1 leaves the cache warm.

    With torch tensors, `fn` is anything that works on torch's current stream. Otherwise it is a kernel, or a function
    that launches on the keyword argument ``stream`` it is given, a CUstream's handle; arrays reach it as `DeviceArray`.
    A kernel's own keyword arguments that are spelled like one of these go through `functools.partial`.

    Result: a `Timing` with `.median` and `.times` in seconds, `.spread`, `.rate(operations)`. Raises LaunchError if
    CUDA refuses something or the copies do not fit, ValueError for a number below 1.

    ```python
    timing = hr.bench(gemm, a, b, c, BM=128)
    print(timing, timing.rate(2 * m * n * k) / 1e12, "TFLOP/s")
    ```
    """
    if rounds < 1 or (sets is not None and sets < 1):
        raise ValueError(f"expected at least one round and one set, got {rounds} and {sets}")
    with _series(fn, args, kwargs, sets) as series:
        series.prepare(burst, graph)
        times = []
        for _ in range(rounds):
            series.clock.synchronize()
            time.sleep(rest)
            times.append(series.burst())
        return series.timing(times)


@contextmanager
def _series(fn: Callable, args: tuple, kwargs: dict[str, Any], sets: int | None) -> Iterator[Series]:
    values = (*args, *kwargs.values())
    tensor = next(filter(is_torch_tensor, values), None)
    if tensor is not None:
        clock = TorchClock(tensor.device)
        with clock.current(), rotating_torch(args, kwargs, clock, sets) as made:
            yield Series(clock, lambda index: fn(*made[index][0], **made[index][1]), len(made))
        return
    with DriverClock(device_of(values)) as clock, rotating(args, kwargs, clock, sets) as made:
        yield Series(clock, lambda index: fn(*made[index][0], stream=clock.stream, **made[index][1]), len(made))
