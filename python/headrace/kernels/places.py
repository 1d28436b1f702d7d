"""Where the kernels of this package run, and what they share: shapes that are checked, arrays made like others."""

from __future__ import annotations

import contextlib
import importlib
from dataclasses import dataclass
from typing import Any

from headrace.driver.launcher import device_target
from headrace.errors import LaunchError
from headrace.language.dtypes import BY_NAME, DType
from headrace.language.interpretation import enabled
from headrace.language.kernel import KernelFunction
from headrace.runtime.arrays import device_of
from headrace.runtime.dtypes import BY_NAME as FOREIGN_DTYPES

#: Names of dtypes as torch, numpy and ml_dtypes spell them, by ours.
_SPELLED = {ours: theirs for theirs, ours in FOREIGN_DTYPES.items()}


@dataclass(frozen=True)
class Place:
    """The GPU that arrays are on, or the simulator. `target` is what kernels are compiled for there."""

    on: str | None
    target: str

    def run(self, kernel: KernelFunction, *args: Any, **constants: Any) -> None:
        """Launches `kernel`, or runs it on the simulator."""
        if self.on is None:
            kernel(*args, **constants)
        else:
            kernel.run_on(self.on, *args, target=self.target, **constants)


def place_of(array: Any, on: str | None, target: str | None) -> Place:
    """Where a call with `array` runs: ``on="sim"`` for `target` (default sm_90a), or (None) on the array's GPU.

    Raises LaunchError without a GPU, or if a GPU is to run another target's code.
    """
    if on is None and enabled():
        on = "sim"  # which is interpreted
    if on is not None:
        return Place(on, target or "sm_90a")
    if hasattr(array, "__array_interface__"):
        raise LaunchError('expected arrays in device memory, got one of numpy: pass on="sim" to run on the simulator')
    found = device_target(device_of([array]))
    if target not in (None, found):
        raise LaunchError(f'expected no target, or {found}, which the GPU is, got {target}: pass on="sim" for others')
    return Place(None, found)


def expect(name: str, array: Any, *shape: int | None) -> tuple[int, ...]:
    """The extents of an argument. Raises LaunchError unless they are `shape`, None for any."""
    got = tuple(getattr(array, "shape", ()))
    if len(got) != len(shape) or any(want not in (None, extent) for want, extent in zip(shape, got, strict=True)):
        wanted = ", ".join("any" if extent is None else str(extent) for extent in shape)
        raise LaunchError(f"argument '{name}': expected the shape [{wanted}], got {list(got)}")
    return got


def dtype_of(name: str, array: Any) -> DType:
    """The element type of an argument. Raises LaunchError for one that no kernel has."""
    spelled = str(getattr(array, "dtype", type(array).__name__)).removeprefix("torch.")
    dtype = BY_NAME.get(FOREIGN_DTYPES.get(spelled, spelled))
    if dtype is None:
        raise LaunchError(f"argument '{name}': expected elements of {', '.join(_SPELLED.values())}, got {spelled}")
    return dtype


def empty(like: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    """A new array beside `like`, of its library. Raises LaunchError for arrays that belong to no library."""
    spelled = _SPELLED[dtype.name]
    if hasattr(like, "new_empty"):
        return like.new_empty(shape, dtype=getattr(importlib.import_module("torch"), spelled))
    library = importlib.import_module(type(like).__module__.partition(".")[0])
    if not hasattr(library, "empty"):
        raise LaunchError(f"expected out, because nothing makes an array like {type(like).__name__}")
    with contextlib.suppress(ImportError):
        importlib.import_module("ml_dtypes")  # with it numpy knows bfloat16 and 8-bit floats
    return library.empty(shape, dtype=spelled)


def result(out: Any, like: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    """`out`, checked, or a new array if it is None."""
    if out is None:
        return empty(like, shape, dtype)
    expect("out", out, *shape)
    return out
