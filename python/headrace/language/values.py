"""What an expression of a kernel can be.

Compile-time constants are Python's own objects: numbers, strings, None, tuples, dtypes, functions. The rest is here:
scalars and tiles that the kernel computes, its arrays, and functions of the kernel's language.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace.language.affine import Affine
from headrace.language.dtypes import ArrayType, DType, index
from headrace.language.errors import Place
from headrace.language.mlir import tensor

if TYPE_CHECKING:
    from headrace.language.scope import Scope


@dataclass(frozen=True)
class Scalar:
    """A number known at run time. `affine` is what is known of an index, `natural` that it is not negative."""

    name: str
    dtype: DType
    affine: Affine | None = None
    natural: bool = False

    @property
    def mlir(self) -> str:
        return self.dtype.mlir

    def __str__(self) -> str:
        return "int" if self.dtype is index else str(self.dtype)


@dataclass(frozen=True)
class Tile:
    """A tile. `place` is where it was made, for notes; `natural` that no element is negative."""

    name: str
    shape: tuple[int, ...]
    dtype: DType
    place: Place | None = None
    natural: bool = False

    @property
    def mlir(self) -> str:
        return tensor(self.shape, self.dtype)

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class Transposed(Tile):
    """The transpose of `source`, not written down before somebody wants it: a dot reads `source` as it is."""

    source: Tile = None


@dataclass(frozen=True)
class Product(Tile):
    """A matrix product that has no accumulator yet: added to a tile, it takes that one."""

    a: Tile = None
    b: Tile = None
    precision: str | None = None


@dataclass(frozen=True)
class Array:
    """An array argument. `parameter` is its name in Python."""

    name: str
    type: ArrayType
    parameter: str
    place: Place

    def __str__(self) -> str:
        return f"array {self.type}"


@dataclass(frozen=True)
class Part:
    """A part of an array that is named but not read: ``A[m:m+BM, k]``. One position for each dimension."""

    array: Array
    positions: tuple[Range | Scalar | int | Tile, ...]
    place: Place


@dataclass(frozen=True)
class Range:
    """A slice: `extent` elements from `start` on."""

    start: Scalar | int
    extent: int


@dataclass(frozen=True)
class NewAxis:
    """``None`` in a subscript."""


@dataclass(frozen=True)
class Function:
    """An ``@hr.inline`` function, or a lambda, with the scope that its free names are looked up in."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    name: str
    defaults: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"function {self.name}"


@dataclass(frozen=True)
class Method:
    """A method of a value, not called yet."""

    owner: Any
    name: str


@dataclass(frozen=True)
class Unset:
    """What a name is where no value is certain. `why` says so, after the name; `advice` is what to write."""

    why: str
    advice: str
    place: Place | None = None
    note: str = ""


Runtime = Scalar | Tile


def is_constant(value: Any) -> bool:
    """Whether `value` is known at compile time, all through."""
    if isinstance(value, tuple):
        return all(map(is_constant, value))
    return not isinstance(value, (Scalar, Tile, Array, Part, Method, Unset))


def is_number(value: Any) -> bool:
    """Whether `value` is a Python number (bool included)."""
    return isinstance(value, (bool, int, float))


def describe(value: Any) -> str:
    """`value` in a message: its type, or itself if it is a constant."""
    if isinstance(value, Tile):
        return f"a tile {value}"
    if isinstance(value, Scalar):
        return f"a run-time {value}"
    if isinstance(value, (Array, Function)):
        return f"the {value}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(describe, value)) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, DType):
        return repr(value)
    if value is None or is_number(value) or isinstance(value, str):
        return repr(value)
    if isinstance(value, Method):
        return f"the method .{value.name}"
    name = getattr(value, "__name__", None)
    return f"{type(value).__name__} {name}" if name else f"{type(value).__name__}"
