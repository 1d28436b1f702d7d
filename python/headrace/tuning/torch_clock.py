"""A clock by torch, for functions that work on torch's current stream. Only used where torch is imported already."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


class TorchClock:
    """Times work on torch's current stream of `device`, a torch.device or ordinal (default: the current one).

    Work is started within ``with clock.current()``, unless the device is the current one anyway.
    """

    def __init__(self, device: Any = None):
        self._cuda = sys.modules["torch"].cuda
        self._device = self._cuda.current_device() if device is None else device

    def current(self) -> Any:
        """A context manager that makes the device torch's current one."""
        return self._cuda.device(self._device)

    @property
    def cache_bytes(self) -> int:
        return self._cuda.get_device_properties(self._device).L2_cache_size

    @property
    def free_bytes(self) -> int:
        """Bytes of device memory that nobody has allocated."""
        return self._cuda.mem_get_info(self._device)[0]

    def timed(self, work: Callable[[], None]) -> float:
        start, end = (self._cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1000

    def capture(self, work: Callable[[], None]) -> Callable[[], None]:
        graph = self._cuda.CUDAGraph()
        with self._cuda.graph(graph):
            work()
        return graph.replay

    def synchronize(self) -> None:
        self._cuda.synchronize(self._device)
