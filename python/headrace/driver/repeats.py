"""Launches made before, found again by what their arguments are: all that a call costs in a loop.

A launch is repeated where nothing that it was derived from has changed: the arrays of torch by address, shape, strides
and type, numbers and constants by type and value, and what the kernel took from outside. Anything else goes the long
way, which observes facts, checks the contract and encodes tensor maps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from headrace.language.dtypes import DType
from headrace.language.functions import InlineFunction

#: Values that are what they are equal to, given their type.
_PLAIN = frozenset({bool, int, str, type(None), DType, InlineFunction})

#: Launches kept for one function.
_LIMIT = 1024


class Repeats:
    """Launches of one kernel function. Each is a function of a stream's handle; it returns False if it is outdated."""

    def __init__(self) -> None:
        self._launches: dict[tuple, Callable[[int], bool]] = {}

    def find(self, key: tuple) -> Callable[[int], bool] | None:
        """The launch that was remembered for `key`."""
        return self._launches.get(key)

    def remember(self, key: tuple, launch: Callable[[int], bool]) -> None:
        """Keeps `launch`; a program that passes ever new arrays does not fill the memory."""
        if len(self._launches) >= _LIMIT:
            self._launches.clear()
        self._launches[key] = launch

    def forget(self, key: tuple) -> None:
        """The next call with these arguments goes the long way."""
        self._launches.pop(key, None)


def key_of(args: tuple, kwargs: dict[str, Any], grid: Any) -> tuple[tuple, int] | None:
    """What a launch with these arguments depends on, and the device of the first array.

    None if that cannot be told of one of them, or if there is no array of torch among them.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    tensor, device = torch.Tensor, None
    key: list = [len(args), *kwargs, grid]
    for value in (*args, *kwargs.values()):
        kind = type(value)
        if kind is tensor:
            if not value.is_cuda:
                return None
            place = value.get_device()
            if device is None:
                device = place
            key += (value.data_ptr(), value.shape, value.stride(), value.dtype, place)
        elif kind in _PLAIN:
            key += (kind, value)
        elif kind is float:
            key += (kind, value.hex())  # 0.0 is not -0.0, and nan equals itself
        else:
            return None
    if device is None or not isinstance(grid, (int, tuple, type(None))):
        return None
    return tuple(key), device
