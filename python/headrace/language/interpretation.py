"""Who gives functions of the language a meaning while a kernel runs as Python: see `headrace.eager`."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol


class Interpretation(Protocol):
    """What computes the calls of a kernel that Python executes."""

    def call_builtin(self, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The result of a function of `headrace.language.api`."""

    def call_inline(self, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The result of the Python function below an ``@hr.inline``."""

    def cast(self, value: Any, dtype: Any) -> Any:
        """``hr.f32(value)``"""


_VARIABLE = "HEADRACE_INTERPRET"


#: What os.environ looks into, where it says: each launch asks, and a variable that is not there costs an exception.
_ENVIRONMENT: dict | None = getattr(os.environ, "_data", None)
_KEY = getattr(os.environ, "encodekey", str)(_VARIABLE)


def enabled() -> bool:
    """Whether kernels are to be interpreted: HEADRACE_INTERPRET is set, and not to 0."""
    if _ENVIRONMENT is not None and _KEY not in _ENVIRONMENT:
        return False
    return os.environ.get(_VARIABLE, "") not in ("", "0")


#: None outside of interpreted kernels.
CURRENT: ContextVar[Interpretation | None] = ContextVar("headrace_interpretation", default=None)
