"""Functions of the kernel language: they have a signature and a docstring, and mean something in kernels only."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from headrace.errors import HeadraceError

F = TypeVar("F", bound=Callable[..., Any])

#: Built-in functions by name, in the order of their definition.
ALL: dict[str, Callable] = {}


def builtin(function: F) -> F:
    """Marks `function` as one of the kernel language. Called outside of a kernel it raises HeadraceError."""

    @functools.wraps(function)
    def outside(*args, **kwargs):
        raise HeadraceError(f"hr.{function.__name__} is for kernels: call it in a function decorated with @hr.kernel")

    outside.headrace_builtin = True
    outside.headrace_signature = inspect.signature(function)
    ALL[function.__name__] = outside
    return outside


def is_builtin(value: Any) -> bool:
    return getattr(value, "headrace_builtin", False) is True
