"""Launches kernels on the GPU: observes the arguments, compiles once for their facts, hands over to the runtime."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.driver.compiled import Compiled
from headrace.driver.repeats import key_of
from headrace.errors import LaunchError
from headrace.language.program import Program
from headrace.runtime import driver as cuda
from headrace.runtime.arrays import device_of
from headrace.runtime.context import current_context, stream_handle, torch_stream
from headrace.runtime.launch import Kernel

if TYPE_CHECKING:
    from headrace.language.kernel import KernelFunction

#: Targets by compute capability; others take the latest of their generation that is not bound to one chip.
TARGETS = {
    (7, 5): "sm_75", (8, 0): "sm_80", (8, 6): "sm_86", (8, 7): "sm_86", (8, 9): "sm_89", (9, 0): "sm_90a",
    (10, 0): "sm_100a", (10, 3): "sm_103a", (11, 0): "sm_110a", (12, 0): "sm_120a", (12, 1): "sm_121a",
}  # fmt: skip

#: Kernels kept for one function; a program that passes ever new constants does not fill the memory.
_LIMIT = 256


@dataclass(frozen=True)
class _Launchable:
    program: Program
    kernel: Kernel


def launch(kernel: KernelFunction, args: tuple, kwargs: dict[str, Any], grid: Any, stream: Any) -> None:
    """See `KernelFunction.__call__`."""
    found = key_of(args, kwargs, grid)
    if found is not None:
        key, device = found
        repeat = kernel.repeats.find(key)
        if repeat is not None:
            if repeat(stream_handle(stream, args) if stream is not None else torch_stream(device)):
                return
            kernel.repeats.forget(key)
    repeat = _launch(kernel, args, kwargs, grid, stream)
    if found is not None and repeat is not None:
        kernel.repeats.remember(found[0], repeat)


def _launch(
    kernel: KernelFunction, args: tuple, kwargs: dict[str, Any], grid: Any, stream: Any
) -> Callable[[int], bool] | None:
    """Launches; how to do so again with the same arguments, if that can be."""
    from headrace.language.kernel import is_stale

    values, facts = kernel.facts(args, kwargs)
    for name, value in values.items():
        if hasattr(value, "__array_interface__") and getattr(value, "ndim", 0) > 0:
            raise LaunchError(f"argument '{name}': expected an array in device memory, got one of numpy: call "
                              f"{kernel.function.__name__}.run_on(\"sim\", ...) to run without a GPU")  # fmt: skip
    target = device_target(device_of(values.values()))
    key = (target, *((name, type(fact), fact) for name, fact in facts.items()))
    launchable = kernel.launchers.get(key)
    if launchable is None or is_stale(launchable.program):
        if len(kernel.launchers) >= _LIMIT:
            kernel.launchers.clear()
        launchable = kernel.launchers[key] = _prepare(kernel.program(facts), target)
    program = launchable.program
    if grid is None and not program.has_grid:
        raise LaunchError(f"kernel '{program.name}': expected a grid, since the kernel says none: write "
                          f"{program.name}[grid](...), or hr.grid(...) in it")  # fmt: skip
    if callable(grid):
        grid = grid()
    again = launchable.kernel.launch(*(values[name] for name in program.arguments), stream=stream, grid=grid)
    if again is None:
        return None

    def repeat(handle: int) -> bool:
        return not is_stale(program) and again(handle)

    return repeat


def _prepare(program: Program, target: str) -> _Launchable:
    entry = Compiled(program, target).entry("cubin")
    return _Launchable(program, Kernel(entry.record, cubin=entry.code))


_CAPABILITIES: dict[int, str] = {}


def _need_context(device: int | None) -> None:
    """Makes sure that there is a CUDA context. Raises LaunchError that says what runs without."""
    try:
        current_context(device)
    except LaunchError as error:
        raise LaunchError(f'no GPU to launch on: {error}; kernel.run_on("sim", ...) runs without one') from None


def device_target(device: int | None) -> str:
    """The target of CUDA device `device` (None: of the current context, else 0). Raises LaunchError without a GPU."""
    if device is None:
        _need_context(None)
        device = int(cuda.call("cuCtxGetDevice"))
    if device not in _CAPABILITIES:
        _need_context(device)
        prefix, attributes = "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_", cuda.bindings().CUdevice_attribute
        which = [getattr(attributes, prefix + name) for name in ("MAJOR", "MINOR")]
        major, minor = (cuda.call("cuDeviceGetAttribute", attribute, device) for attribute in which)
        target = TARGETS.get((major, minor))
        if target is None:
            known = ", ".join(f"{a}.{b}" for a, b in TARGETS)
            raise LaunchError(f"expected a device of compute capability {known}, got {major}.{minor}")
        _CAPABILITIES[device] = target
    return _CAPABILITIES[device]
