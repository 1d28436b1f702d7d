"""The decorator of wrong programs: what the compiler says of each, and at which line.

The line that is to be changed ends in ``# <--``. The message is the whole of it, what it says to write instead
included; one that ends in "..." has numbers of the compiler's after that.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import headrace as hr

#: Types that many signatures use.
VECTOR, MATRIX, HALF = hr.f32[::1], hr.f32[:, ::1], hr.bf16[:, ::1]
MARK = "# <--"


@dataclass(frozen=True)
class Wrong:
    """A kernel that is refused with `message` at `line` when it is compiled for `signature` and `target`."""

    kernel: hr.KernelFunction
    message: str
    line: int
    signature: dict[str, Any]
    target: str


PROGRAMS: dict[str, Wrong] = {}


def refused(
    message: str,
    target: str = "sm_90a",
    knobs: dict[str, Any] | None = None,
    inside: hr.KernelFunction | None = None,
    **signature: Any,
) -> Callable:
    """Registers the decorated function as a wrong kernel. `inside`: the inlined function that has the marked line."""

    def register(function: Callable) -> Callable:
        lines, first = inspect.getsourcelines(inside.function if inside else function)
        marked = [first + i for i, line in enumerate(lines) if line.rstrip().endswith(MARK)]
        assert len(marked) == 1, f"{function.__name__}: expected one line marked {MARK}, got {len(marked)}"
        assert function.__name__ not in PROGRAMS, function.__name__
        kernel = hr.kernel(function, **(knobs or {}))
        PROGRAMS[function.__name__] = Wrong(kernel, message, marked[0], signature, target)
        return function

    return register
