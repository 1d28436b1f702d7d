"""Launches a compiled kernel from Python."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headrace.errors import LaunchError
from headrace.runtime import driver, tensor_map
from headrace.runtime import record as reader
from headrace.runtime.arrays import DeviceArray, adapt
from headrace.runtime.context import LoadedKernel, current_context, load_kernel, stream_handle
from headrace.runtime.contract import check, check_count
from headrace.runtime.plan import Plan, make_plan
from headrace.runtime.schema import Record

#: Plans and tensor maps kept per kernel. A program that passes new arrays at every call only ever pays for planning.
_CACHE_ENTRIES = 512


class Kernel:
    """A compiled kernel, callable with its arguments in the record's order.

    `record` is the path of the launch record (the code lies beside it, with suffix .cubin or .ptx or both), or a Record
    or its parsed JSON together with the bytes of `cubin` or `ptx`. A device that does not run the cubin gets the PTX,
    if there is one, compiled by its driver. Nothing of CUDA is touched before the first call.
    """

    def __init__(self, record: str | Path | Record | dict, cubin: bytes | None = None, ptx: bytes | None = None):
        if isinstance(record, (str, Path)):
            path = Path(record)
            record = reader.load(path)
            if cubin is None and ptx is None:
                cubin, ptx = _read_code(path)
        elif isinstance(record, dict):
            record = reader.parse(record)
        if cubin is None and ptx is None:
            raise LaunchError(f"kernel '{record.kernel}': expected the cubin's bytes with a record, got none")
        self.record = record
        self._cubin = cubin
        self._ptx = ptx
        self._loaded: dict[int, LoadedKernel] = {}
        self._plans: dict[tuple, Plan] = {}
        self._tensor_maps: dict[tuple, ctypes.Array] = {}
        self._zero_buffers: dict[tuple[int, int], int] = {}

    def __call__(self, *args: Any, stream: Any = None, grid: Any = None) -> None:
        """As `launch`, which says what may be passed."""
        self.launch(*args, stream=stream, grid=grid)

    def launch(self, *args: Any, stream: Any = None, grid: Any = None) -> Callable[[int], bool] | None:
        """Launches the kernel on `stream` (default: torch's current one for torch tensors, else CUDA's default).

        Arrays are anything `arrays.adapt` takes, scalars are numbers. `grid` overrides the number of programs (int or
        up to three). Asynchronous. Raises LaunchError if the arguments break the contract or CUDA refuses the launch.

        Result: a function that launches the same again on the stream of a handle, and says whether that was possible;
        None if a launch needs more than that.
        """
        handle = stream_handle(stream, args)
        values = self._adapted(args, handle)
        grid = tuple(grid) if isinstance(grid, list) else grid
        context = current_context(next((v.device for v in values if isinstance(v, DeviceArray)), None))
        key = (context, grid, *(v.key if isinstance(v, DeviceArray) else _scalar_key(v) for v in values))
        plan = self._plans.get(key)
        if plan is None:
            plan = _remember(self._plans, key, self._plan(context, values, grid))
        if plan.empty:
            return None
        self._launch(self._loaded[context], plan, context, handle)
        return self._repetition(self._loaded[context], plan)

    def _repetition(self, kernel: LoadedKernel, plan: Plan) -> Callable[[int], bool] | None:
        """What launches `plan` again, in the context that is current then if the kernel is loaded there."""
        launch = kernel.launch
        if launch is None or plan.zeroed_maps or self.record.cluster != (1, 1, 1):
            return None
        shape = (int(kernel.function), *plan.grid, self.record.threads, 1, 1, self.record.shared_bytes)
        pointers = ctypes.addressof(plan.pointers)

        def repeat(handle: int, plan: Plan = plan) -> bool:  # the plan keeps what `pointers` leads to
            return launch(*shape, handle, pointers, None) == 0

        return repeat

    def _adapted(self, args, stream: int) -> list:
        check_count(self.record, args)
        return [
            adapt(arg, info.name, stream) if info.kind == "array" else _plain_scalar(arg, info.name)
            for arg, info in zip(args, self.record.args, strict=True)
        ]

    def _plan(self, context: int, values: list, grid) -> Plan:
        check(self.record, values)
        kernel = self._loaded.get(context)
        if kernel is None:
            kernel = self._loaded[context] = load_kernel(self.record, self._cubin, self._ptx)
        for info, value in zip(self.record.args, values, strict=True):
            if isinstance(value, DeviceArray) and value.device not in (None, kernel.device):
                raise LaunchError(
                    f"argument '{info.name}': expected an array on device {kernel.device}, got device {value.device}, "
                    "because that is the current context's device"
                )

        def encode(index: int, parameters):
            key = (context, index, parameters)
            encoded = self._tensor_maps.get(key)
            if encoded is None:
                zeros = self._zero_buffer(context, index) if parameters.address is None else None
                name = self.record.args[self.record.tensor_maps[index].arg].name
                encoded = _remember(self._tensor_maps, key, tensor_map.encode(parameters, zeros, name))
            return encoded

        return make_plan(self.record, values, kernel.processors, encode, grid)

    def _zero_buffer(self, context: int, index: int) -> int:
        """The stand-in for an empty array of tensor map `index`. One per map: a store to one cannot spoil another."""
        key = context, index
        if key not in self._zero_buffers:
            self._zero_buffers[key] = int(driver.call("cuMemAlloc", tensor_map.ZERO_BUFFER_BYTES))
        return self._zero_buffers[key]

    def _launch(self, kernel: LoadedKernel, plan: Plan, context: int, stream: int) -> None:
        for index in plan.zeroed_maps:
            buffer = self._zero_buffers[context, index]
            driver.call("cuMemsetD8Async", buffer, 0, tensor_map.ZERO_BUFFER_BYTES, stream)
        block = (self.record.threads, 1, 1)
        pointers = ctypes.addressof(plan.pointers)
        shared = self.record.shared_bytes
        if self.record.cluster == (1, 1, 1):
            driver.call("cuLaunchKernel", kernel.function, *plan.grid, *block, shared, stream, pointers, 0)
        else:
            config = _launch_config(plan.grid, block, self.record.cluster, shared, stream)
            driver.call("cuLaunchKernelEx", config, kernel.function, pointers, 0)


def _launch_config(grid, block, cluster, shared_bytes: int, stream: int):
    api = driver.bindings()
    attribute = api.CUlaunchAttribute()
    attribute.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    dimensions = attribute.value.clusterDim
    dimensions.x, dimensions.y, dimensions.z = cluster
    config = api.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.sharedMemBytes = shared_bytes
    config.hStream = api.CUstream(stream)
    config.attrs = [attribute]
    config.numAttrs = 1
    return config


def _plain_scalar(value, name: str) -> int | float:
    """The Python number in `value`, which may be a scalar of numpy or torch. Raises LaunchError if it is none."""
    if isinstance(value, (int, float)):
        return value
    for convert in ("item", "__index__", "__float__"):
        with contextlib.suppress(AttributeError, TypeError, ValueError, RuntimeError):
            number = getattr(value, convert)()
            if isinstance(number, (int, float)):
                return number
    raise LaunchError(f"argument '{name}': expected a number, got {type(value).__name__}")


def _scalar_key(value: int | float):
    """Distinguishes 0.0 from -0.0, and lets nan equal itself."""
    return value.hex() if isinstance(value, float) else value


def _remember(cache: dict, key, value):
    if len(cache) >= _CACHE_ENTRIES:
        cache.clear()
    cache[key] = value
    return value


def _read_code(record: Path) -> tuple[bytes | None, bytes | None]:
    """The cubin and the PTX beside a record; None for what is not there."""
    cubin, ptx = record.with_suffix(".cubin"), record.with_suffix(".ptx")
    try:
        code = tuple(path.read_bytes() if path.exists() else None for path in (cubin, ptx))
    except OSError as error:
        raise LaunchError(f"code beside '{record}': cannot read it: {error.strerror}") from None
    if code == (None, None):
        raise LaunchError(f"cubin '{cubin}': cannot read it: No such file or directory")
    return code
