"""Calls functions with those of some named values that they ask for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def call_named(function: Callable, values: Mapping[str, Any], what: str) -> Any:
    """``function(**some of values)``: what it names as parameters, all of them if it has ``**``.

    `what` says in messages what the function is. Raises TypeError if it names what is not there.

    ```python
    call_named(lambda BM, BN: BM * BN, {"BM": 2, "BN": 3, "BK": 4}, "grid")  # 6
    ```
    """
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return function(**values)
    asked = {}
    for parameter in parameters:
        if parameter.kind in _BY_NAME and parameter.name in values:
            asked[parameter.name] = values[parameter.name]
        elif parameter.default is parameter.empty and parameter.kind is not inspect.Parameter.VAR_POSITIONAL:
            raise TypeError(f"expected the parameters of {what} among {', '.join(values)}, got '{parameter.name}'")
    return function(**asked)
