"""Functions of the kernel language: they have a signature and a docstring; most mean something in kernels only."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from headrace.errors import HeadraceError
from headrace.language.interpretation import CURRENT

F = TypeVar("F", bound=Callable[..., Any])

#: Built-in functions by name, in the order of their definition.
ALL: dict[str, Callable] = {}


def builtin(function: F) -> F:
    """Marks `function` as one of the kernel language. Called outside of a kernel it raises HeadraceError."""

    @functools.wraps(function)
    def outside(*args, **kwargs):
        if (interpretation := CURRENT.get()) is not None:
            return interpretation.call_builtin(outside, args, kwargs)
        raise HeadraceError(f"hr.{function.__name__} is for kernels: call it in a function decorated with @hr.kernel")

    return _registered(outside, function)


def builtin_anywhere(function: F) -> F:
    """Marks `function` as one of the kernel language whose body computes the same of Python's numbers."""

    @functools.wraps(function)
    def outside(*args, **kwargs):
        if (interpretation := CURRENT.get()) is not None:
            return interpretation.call_builtin(outside, args, kwargs)
        return function(*args, **kwargs)

    return _registered(outside, function)


def _registered(outside: Callable, function: F) -> F:
    outside.headrace_builtin = True  # type: ignore[attr-defined]
    outside.headrace_signature = inspect.signature(function)  # type: ignore[attr-defined]
    ALL[function.__name__] = outside
    return cast(F, outside)


def is_builtin(value: Any) -> bool:
    return getattr(value, "headrace_builtin", False) is True
