"""Copies of device arrays in memory of the driver: as long, with the same strides, alignment and overlaps."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType

from headrace.errors import LaunchError
from headrace.runtime import driver
from headrace.runtime.arrays import DeviceArray
from headrace.runtime.dtypes import SIZES

#: What addresses are the same modulo: more than any kernel is compiled for.
_ALIGNMENT = 1024


def span(array: DeviceArray) -> tuple[int, int]:
    """The addresses of the array's first byte and of the one past its last."""
    if array.empty:
        return array.ptr, array.ptr
    steps = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True)]
    first, last = sum(min(step, 0) for step in steps), sum(max(step, 0) for step in steps)
    size = SIZES[array.dtype]
    return array.ptr + first * size, array.ptr + (last + 1) * size


def regions(arrays: Sequence[DeviceArray]) -> list[tuple[int, int]]:
    """The memory that `arrays` take: ranges of addresses, in order, where those that overlap are one."""
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(span(array) for array in arrays):
        if begin == end:
            continue
        if merged and begin < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((begin, end))
    return merged


def size_of(arrays: Sequence[DeviceArray]) -> int:
    """Bytes of a copy of `arrays`."""
    return sum(end - begin for begin, end in regions(arrays))


class Copies:
    """Makes copies of arrays in the current context; their memory goes when the `with` ends."""

    def __init__(self):
        self._allocated: list = []

    def copy(self, arrays: Sequence[DeviceArray]) -> list[DeviceArray]:
        """Each of `arrays` elsewhere, with the same content; arrays that overlap do so again.

        Raises LaunchError if there is not the memory.
        """
        moved = [(begin, end, self._copied(begin, end)) for begin, end in regions(arrays)]

        def place(array: DeviceArray) -> DeviceArray:
            first, _ = span(array)
            for begin, end, copy in moved:
                if begin <= first < end:
                    return replace(array, ptr=copy + array.ptr - begin, owner=None)
            return array

        return [place(array) for array in arrays]

    def _copied(self, begin: int, end: int) -> int:
        offset = begin % _ALIGNMENT
        memory = driver.call("cuMemAlloc", end - begin + offset + _ALIGNMENT, context="copying arguments to measure on")
        self._allocated.append(memory)
        address = -(-int(memory) // _ALIGNMENT) * _ALIGNMENT + offset
        driver.call("cuMemcpyDtoD", address, begin, end - begin)
        return address

    def __enter__(self) -> Copies:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # After an error the context may be of no use; what went wrong first is what counts.
        with contextlib.suppress(LaunchError) if error is not None else contextlib.nullcontext():
            for memory in self._allocated:
                driver.call("cuMemFree", memory)
