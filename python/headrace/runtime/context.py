"""The current CUDA context, the streams of other libraries, and a kernel's cubin loaded into a context."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

from headrace.errors import LaunchError
from headrace.runtime import driver
from headrace.runtime.arrays import is_torch_tensor
from headrace.runtime.schema import Record

#: Dynamic shared memory, in bytes, that a function may use without asking (CUDA programming guide, 16.7.3).
_DEFAULT_SHARED_BYTES = 48 * 1024
#: Largest cluster that every device of a cluster-capable generation runs.
_PORTABLE_CLUSTER = 8


@dataclass(frozen=True)
class LoadedKernel:
    """A kernel's function in one context. `device` is the CUDA ordinal, `processors` its number of SMs, `launch` the
    driver's own cuLaunchKernel, see `driver.bare_launch`."""

    function: object
    device: int
    processors: int
    launch: Callable[..., int] | None


def current_context(device: int | None) -> int:
    """The handle of the current context; if there is none, makes the primary context of `device` (or 0) current."""
    try:
        handle = int(driver.call("cuCtxGetCurrent"))
    except LaunchError:
        # Nobody in this process has initialized the driver yet.
        driver.call("cuInit", 0)
        handle = int(driver.call("cuCtxGetCurrent"))
    if handle:
        return handle
    primary = driver.call("cuDevicePrimaryCtxRetain", driver.call("cuDeviceGet", device or 0))
    driver.call("cuCtxSetCurrent", primary)
    return int(primary)


def torch_stream(device: int) -> int:
    """The handle of torch's current stream on CUDA device `device`."""
    torch = sys.modules["torch"]
    # What torch.compile's own code asks: a stream object costs more than a launch.
    raw = getattr(getattr(torch, "_C", None), "_cuda_getCurrentRawStream", None)
    return raw(device) if raw is not None else torch.cuda.current_stream(device).cuda_stream


def stream_handle(stream, args) -> int:
    """The CUstream behind `stream`: an integer, a stream of torch, cupy or cuda.core, or None.

    None is torch's current stream if one of `args` is a torch tensor, else the legacy default stream.
    """
    if stream is None:
        tensor = next((arg for arg in args if is_torch_tensor(arg)), None)
        if tensor is None or tensor.device.type != "cuda":
            return 0
        return torch_stream(tensor.device.index)
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for attribute in ("cuda_stream", "ptr"):
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute))
    try:
        return int(stream)
    except (TypeError, ValueError):
        raise LaunchError(f"expected a stream or its handle, got {type(stream).__name__}") from None


def load_kernel(record: Record, cubin: bytes | None, ptx: bytes | None = None) -> LoadedKernel:
    """Loads a kernel's code into the current context and sets the function's limits.

    The cubin is taken if the device runs it; else the driver compiles `ptx`, which later generations take as well.
    Raises LaunchError if the device cannot run the record's target or lacks the shared memory.
    """
    api = driver.bindings()
    device = driver.call("cuCtxGetDevice")

    def attribute(name: str) -> int:
        which = getattr(api.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return driver.call("cuDeviceGetAttribute", which, device)

    capability = (attribute("COMPUTE_CAPABILITY_MAJOR"), attribute("COMPUTE_CAPABILITY_MINOR"))
    if cubin is not None and runs_on(record.target, capability):
        code = cubin
    elif ptx is not None and compiles_on(record.target, capability):
        code = ptx + b"\0"
    else:
        raise LaunchError(
            f"kernel '{record.kernel}': expected a device that runs {record.target}, got compute capability "
            f"{capability[0]}.{capability[1]}"
        )
    limit = attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
    if record.shared_bytes > limit:
        raise LaunchError(
            f"kernel '{record.kernel}': expected at least {record.shared_bytes} bytes of shared memory, "
            f"the device has {limit}"
        )
    context = f"loading kernel '{record.kernel}'"
    module = driver.call("cuModuleLoadData", code, context=context)
    function = driver.call("cuModuleGetFunction", module, record.kernel.encode(), context=context)
    for name, value in _function_attributes(record):
        driver.call("cuFuncSetAttribute", function, getattr(api.CUfunction_attribute, name), value, context=context)
    return LoadedKernel(function, int(device), attribute("MULTIPROCESSOR_COUNT"), driver.bare_launch())


def _function_attributes(record: Record):
    if record.shared_bytes > _DEFAULT_SHARED_BYTES:
        yield "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", record.shared_bytes
    x, y, z = record.cluster
    if x * y * z > _PORTABLE_CLUSTER:
        yield "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1


def runs_on(target: str, capability: tuple[int, int]) -> bool:
    """Whether a cubin for `target` (sm_80, sm_90a, sm_100f) runs on a device of `capability` (major, minor).

    A suffix a binds to one capability, f to a family; without one, later minor versions run it too.
    """
    architecture, suffix = _parse_target(target)
    if suffix == "a":
        return capability == architecture
    return capability[0] == architecture[0] and capability[1] >= architecture[1]


def compiles_on(target: str, capability: tuple[int, int]) -> bool:
    """Whether a device's driver compiles PTX for `target`: without a suffix PTX is good for all later devices."""
    architecture, suffix = _parse_target(target)
    return runs_on(target, capability) if suffix else capability >= architecture


def _parse_target(target: str) -> tuple[tuple[int, int], str]:
    match = re.fullmatch(r"sm_(\d+)(\d)([af]?)", target)
    if match is None:
        raise LaunchError(f"launch record: expected a target such as sm_90a, got '{target}'")
    return (int(match[1]), int(match[2])), match[3]
