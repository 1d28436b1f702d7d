"""The table of twins: kernels in Python beside those of test/EndToEnd/library, and the types of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import headrace as hr


@dataclass(frozen=True)
class Twin:
    """`types` are those of the arguments for a type of the file's arrays; `constants` those that it spells else."""

    kernel: hr.KernelFunction
    types: Callable[[hr.DType], dict[str, Any]]
    constants: dict[str, Any]


#: By the names of files.
TWINS: dict[str, Twin] = {}


def twin(types: Callable[[hr.DType], dict[str, Any]], name: str = "", **constants: Any):
    """Registers a kernel as the twin of the .mlir file `name`, by default the file that is called as the kernel."""

    def register(kernel: hr.KernelFunction) -> hr.KernelFunction:
        TWINS[name or kernel.__name__] = Twin(kernel, types, constants)
        return kernel

    return register


def matrices(*names: str, **others: Any):
    """Types of arguments that are matrices of T, and others."""
    return lambda t: {**dict.fromkeys(names, t[:, ::1]), **others}


VECTOR, PLAIN_VECTOR, PLACES = hr.f32[::1], hr.f32[::1].aligned(1), hr.i32[::1].aligned(1)
