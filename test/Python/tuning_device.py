"""A GPU that is none, for tests of measuring: launches take the time that a test says, and every call is recorded."""

from __future__ import annotations

from collections.abc import Callable

from test_launch import FakeDriver

ATTRIBUTES = {
    "COMPUTE_CAPABILITY_MAJOR": 9, "COMPUTE_CAPABILITY_MINOR": 0, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448,
    "MULTIPROCESSOR_COUNT": 132, "L2_CACHE_SIZE": 50 * 2**20,
}  # fmt: skip


class TimedDriver(FakeDriver):
    """A driver with a clock. ``cost(grid, shared)`` is the microseconds of a launch; launches in a graph take the same.

    `allocated` has the sizes of what is not freed, by address; `copied` the (to, from, bytes) of copies.
    """

    def __init__(self, cost: Callable[[tuple, int], float], free: int = 80 * 2**30):
        super().__init__(ATTRIBUTES)
        self.cost, self.free = cost, free
        self.now, self.captured, self.graphs, self.events = 0.0, None, [], {}
        self.allocated, self.copied, self.launched = {}, [], []

    def do_cuDeviceGetName(self, length, device):  # noqa: N802
        return b"Test GPU\0\0\0"

    def do_cuStreamCreate(self, flags):  # noqa: N802
        return 77

    def do_cuEventCreate(self, flags):  # noqa: N802
        return len(self.named("cuEventCreate"))

    def do_cuEventRecord(self, event, stream):  # noqa: N802
        assert self.captured is None
        self.events[event] = self.now

    def do_cuEventElapsedTime(self, start, end):  # noqa: N802
        return (self.events[end] - self.events[start]) / 1000

    def do_cuStreamBeginCapture(self, stream, mode):  # noqa: N802
        self.captured = []

    def do_cuStreamEndCapture(self, stream):  # noqa: N802
        self.graphs.append(self.captured)
        self.captured = None
        return len(self.graphs) - 1

    def do_cuGraphInstantiate(self, graph, flags):  # noqa: N802
        return graph

    def do_cuGraphLaunch(self, graph, stream):  # noqa: N802
        self.now += sum(self.graphs[graph])

    def do_cuMemGetInfo(self):  # noqa: N802
        return self.free, self.free

    def do_cuMemAlloc(self, size):  # noqa: N802
        address = 0x10000000 + sum(self.allocated.values()) + 4096 * len(self.calls) + 8
        self.allocated[address] = size
        return address

    def do_cuMemFree(self, address):  # noqa: N802
        del self.allocated[address]

    def do_cuMemcpyDtoD(self, to, source, size):  # noqa: N802
        self.copied.append((to, source, size))

    def do_cuLaunchKernel(self, function, x, y, z, *args):  # noqa: N802
        assert args[4] == 77 or self.captured is None
        cost = self.cost((x, y, z), args[3])
        self.launched.append(((x, y, z), args[3], args[4]))
        if self.captured is None:
            self.now += cost
        else:
            self.captured.append(cost)
