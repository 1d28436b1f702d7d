"""The table of twins: kernels in Python beside those of test/EndToEnd/library, and the types of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import headrace as hr

LOG2E = 1.44269504


@dataclass(frozen=True)
class Twin:
    kernel: hr.KernelFunction
    types: Callable[[hr.DType], dict[str, Any]]


TWINS: dict[str, Twin] = {}


def twin(types: Callable[[hr.DType], dict[str, Any]]):
    """Registers a kernel that is called as its .mlir file is."""

    def register(kernel: hr.KernelFunction) -> hr.KernelFunction:
        TWINS[kernel.__name__] = Twin(kernel, types)
        return kernel

    return register


def matrices(*names: str, **others: Any):
    """Types of arguments that are matrices of T, and others."""
    return lambda t: {**dict.fromkeys(names, t[:, ::1]), **others}


VECTOR, PLAIN_VECTOR, PLACES = hr.f32[::1], hr.f32[::1].aligned(1), hr.i32[::1].aligned(1)
