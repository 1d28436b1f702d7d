"""What the names of an interpreted kernel are bound to: tiles, scalars and arrays that Python's operators work on.

Each has the frontend's own value, which knows the type, and the numbers. What an operator does is asked of the
interpretation that runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrace.eager.current import interpretation
from headrace.language import attributes
from headrace.language.calls import call_method
from headrace.language.emitter import Emitter
from headrace.language.errors import CompileError
from headrace.language.expressions import binary_values
from headrace.language.lowering import elementwise
from headrace.language.operators import compare, unary
from headrace.language.values import Method, Part


@dataclass(frozen=True)
class LoadedPart:
    """The part of an array that a value was read from, with the numbers of its positions."""

    part: Part
    positions: dict[str, np.ndarray]


class Value:
    """A value of the language. `_part` is where it was read, for functions that take a part of an array."""

    def __init__(self, meta: Any, data: dict[str, np.ndarray]):
        self._meta = meta
        self._data = data
        self._part: LoadedPart | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            found = interpretation().compute(attributes.attribute, self, name)
        except CompileError as refused:
            raise AttributeError(refused.message) from None
        if isinstance(found, Method):
            return lambda *args, **kwargs: interpretation().compute(_call_method, self, name, args, kwargs)
        return found


def _call_method(em: Emitter, owner: Any, name: str, args: tuple, kwargs: dict[str, Any]) -> Any:
    return call_method(em, Method(owner, name), list(args), kwargs)


class _Computed(Value):
    """A tile or a scalar."""

    __hash__ = None  # type: ignore[assignment]

    def numpy(self) -> np.ndarray:
        """A copy of the numbers, to look at."""
        return np.array(self._numbers())

    def _numbers(self) -> np.ndarray:
        return self._data[self._meta.name]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._numbers(), dtype)

    def __matmul__(self, other: Any) -> Any:
        return interpretation().compute(binary_values, "@", self, other)

    def __abs__(self) -> Any:
        return interpretation().compute(elementwise.absolute, self)


def _binary(symbol: str, swapped: bool) -> Callable[[Any, Any], Any]:
    if swapped:
        return lambda self, other: interpretation().compute(binary_values, symbol, other, self)
    return lambda self, other: interpretation().compute(binary_values, symbol, self, other)


def _compare(symbol: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: interpretation().compute(compare, symbol, self, other)


def _unary(symbol: str) -> Callable[[Any], Any]:
    return lambda self: interpretation().compute(unary, symbol, self)


for _name, _symbol in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "and": "&",
    "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}.items():  # fmt: skip
    setattr(_Computed, f"__{_name}__", _binary(_symbol, swapped=False))
    setattr(_Computed, f"__r{_name}__", _binary(_symbol, swapped=True))
for _name, _symbol in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    setattr(_Computed, f"__{_name}__", _compare(_symbol))
for _name, _symbol in {"neg": "-", "pos": "+", "invert": "~"}.items():
    setattr(_Computed, f"__{_name}__", _unary(_symbol))


class EagerScalar(_Computed):
    """A run-time number. It prints as that number, and is one to Python: an index, a condition, an argument."""

    def item(self) -> int | float | bool:
        """The number as Python's."""
        value = self._numbers()
        return float(value) if self._meta.dtype.is_float else value.item()

    def __bool__(self) -> bool:
        return bool(self._numbers() != 0)

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        if self._meta.dtype.is_float:
            raise TypeError(f"expected an integer, got a scalar of {self._meta.dtype}")
        return int(self.item())

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec)

    def __repr__(self) -> str:
        return str(self.item())


class EagerTile(_Computed):
    """A tile. It prints as its type and the numbers, and numpy's functions take it: ``np.isnan(x).any()``."""

    def _numbers(self) -> np.ndarray:
        found = self._data.get(self._meta.name)
        return interpretation().numbers(self) if found is None else found

    def __getitem__(self, item: Any) -> Any:
        return interpretation().subscript_tile(self, item)

    def __bool__(self) -> bool:
        return interpretation().truth(self)

    __iter__ = None

    def __repr__(self) -> str:
        numbers = self._numbers()
        shown = numbers.astype(np.float32) if self._meta.dtype.is_float and numbers.itemsize < 4 else numbers
        return f"{self._meta}\n{shown}"


class EagerArray(Value):
    """An array argument. It prints as its type and all its numbers."""

    __iter__ = None

    def numpy(self) -> np.ndarray:
        """A copy of the array as it is now, to look at."""
        return np.array(self._data[self._meta.name])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._data[self._meta.name], dtype)

    def __getitem__(self, item: Any) -> Any:
        return interpretation().load(self, item)

    def __setitem__(self, item: Any, value: Any) -> None:
        interpretation().store(self, item, value)

    def __repr__(self) -> str:
        array = self._data[self._meta.name]
        return f"{self._meta} {list(array.shape)}\n{array}"


class EagerLoop:
    """What a `for` of an interpreted kernel runs over: each number is a run-time int, as in the compiled kernel."""

    def __init__(self, numbers: range, variable: Callable[[int], Any]):
        self._numbers = numbers
        self._variable = variable

    def __iter__(self):
        return map(self._variable, self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)
