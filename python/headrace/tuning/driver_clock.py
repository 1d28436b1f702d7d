"""A clock by the CUDA driver alone: for launches that go to its stream, whoever owns the arrays."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import TracebackType

from headrace.errors import LaunchError
from headrace.runtime import driver
from headrace.runtime.context import current_context


class DriverClock:
    """A stream of its own in the current context (or the primary one of `device`) and two events. Use it in a `with`.

    What is timed must launch on `stream`, a CUstream's handle. Work of other streams is not waited for: call
    `synchronize` first. Raises LaunchError if CUDA refuses anything.
    """

    def __init__(self, device: int | None = None):
        current_context(device)
        api = driver.bindings()
        self._stream = driver.call("cuStreamCreate", api.CUstream_flags.CU_STREAM_NON_BLOCKING.value)
        self._events = [driver.call("cuEventCreate", api.CUevent_flags.CU_EVENT_DEFAULT.value) for _ in range(2)]
        self._graphs: list[tuple] = []
        self.device = int(driver.call("cuCtxGetDevice"))
        self.stream = int(self._stream)

    def attribute(self, name: str) -> int:
        """The device's attribute CU_DEVICE_ATTRIBUTE_`name`."""
        which = getattr(driver.bindings().CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(driver.call("cuDeviceGetAttribute", which, self.device))

    @property
    def name(self) -> str:
        """The device's name, such as "NVIDIA H100 80GB HBM3"."""
        text = driver.call("cuDeviceGetName", 256, self.device)
        return (text.decode(errors="replace") if isinstance(text, bytes) else str(text)).rstrip("\0").strip()

    @property
    def cache_bytes(self) -> int:
        return self.attribute("L2_CACHE_SIZE")

    @property
    def free_bytes(self) -> int:
        """Bytes of device memory that nobody has allocated."""
        return int(driver.call("cuMemGetInfo")[0])

    def timed(self, work: Callable[[], None]) -> float:
        start, end = self._events
        driver.call("cuEventRecord", start, self._stream)
        work()
        driver.call("cuEventRecord", end, self._stream)
        driver.call("cuEventSynchronize", end)
        return float(driver.call("cuEventElapsedTime", start, end)) / 1000

    def capture(self, work: Callable[[], None]) -> Callable[[], None]:
        mode = driver.bindings().CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        driver.call("cuStreamBeginCapture", self._stream, mode)
        try:
            work()
        finally:
            # Ends the capture even if `work` failed: the stream is of no use in it.
            graph = driver.call("cuStreamEndCapture", self._stream)
        executable = driver.call("cuGraphInstantiate", graph, 0)
        self._graphs.append((graph, executable))
        return lambda: driver.call("cuGraphLaunch", executable, self._stream)

    def synchronize(self) -> None:
        driver.call("cuCtxSynchronize")

    def __enter__(self) -> DriverClock:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # After an error the context may be of no use; what went wrong first is what counts.
        with contextlib.suppress(LaunchError) if error is not None else contextlib.nullcontext():
            for graph, executable in self._graphs:
                driver.call("cuGraphExecDestroy", executable)
                driver.call("cuGraphDestroy", graph)
            for event in self._events:
                driver.call("cuEventDestroy", event)
            driver.call("cuStreamDestroy", self._stream)
