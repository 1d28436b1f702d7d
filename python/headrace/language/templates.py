"""What a variable is where control flow meets: of two branches, or before and after a trip of a loop.

A template is the type of a value, all through tuples; constants that differ become scalars, and a constant that meets a
scalar or a tile becomes one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headrace.language.dtypes import DType, f32, i1, index
from headrace.language.emitter import Emitter
from headrace.language.mlir import tensor
from headrace.language.operands import as_scalar, as_tile
from headrace.language.pending import written
from headrace.language.values import Scalar, Tile, Unset, describe, is_number


@dataclass(frozen=True)
class Constant:
    """The same compile-time value on both sides."""

    value: Any


@dataclass(frozen=True)
class Runtime:
    """A scalar of `dtype`, or a tile if `shape` is given."""

    dtype: DType
    shape: tuple[int, ...] | None = None

    @property
    def mlir(self) -> str:
        return self.dtype.mlir if self.shape is None else tensor(self.shape, self.dtype)


@dataclass(frozen=True)
class Tuple:
    items: tuple[Template, ...]


Template = Constant | Runtime | Tuple


class MismatchError(Exception):
    """Two values have no template. The message is about both, without their name."""


def template_of(value: Any) -> Template:
    if isinstance(value, Scalar):
        return Runtime(value.dtype)
    if isinstance(value, Tile):
        return Runtime(value.dtype, value.shape)
    if isinstance(value, tuple):
        return Tuple(tuple(map(template_of, value)))
    return Constant(value)


def join(a: Template, b: Template) -> Template:
    """The template of a value that is `a` on one side and `b` on the other. Raises MismatchError."""
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        return Tuple(tuple(join(x, y) for x, y in zip(a.items, b.items, strict=True)))
    if isinstance(a, Runtime) and isinstance(b, Runtime) and a == b:
        return a
    if isinstance(a, Constant) and isinstance(b, Constant):
        return _join_constants(a, b)
    for constant, runtime in ((a, b), (b, a)):
        if isinstance(constant, Constant) and isinstance(runtime, Runtime) and _adapts(constant.value, runtime.dtype):
            return runtime
    raise MismatchError(f"{name(a)} and {name(b)}")


def _join_constants(a: Constant, b: Constant) -> Template:
    x, y = a.value, b.value
    if type(x) is type(y) and (x is y or repr(x) == repr(y)):
        return a
    if not is_number(x) or not is_number(y):
        raise MismatchError(f"{describe(x)} and {describe(y)}")
    if isinstance(x, bool) and isinstance(y, bool):
        return Runtime(i1)
    return Runtime(f32 if isinstance(x, float) or isinstance(y, float) else index)


def _adapts(value: Any, dtype: DType) -> bool:
    """Whether a constant takes `dtype` where it meets such a value."""
    if isinstance(value, bool):
        return dtype is i1
    if isinstance(value, int):
        return dtype is not i1
    return isinstance(value, float) and dtype.is_float


def name(template: Template) -> str:
    """A template in a message."""
    if isinstance(template, Constant):
        return describe(template.value)
    if isinstance(template, Tuple):
        return f"({', '.join(map(name, template.items))})"
    return describe(Scalar("", template.dtype) if template.shape is None else Tile("", template.shape, template.dtype))


def types(template: Template) -> list[str]:
    """The MLIR types of what a value of this template has at run time."""
    if isinstance(template, Runtime):
        return [template.mlir]
    return [text for item in template.items for text in types(item)] if isinstance(template, Tuple) else []


def supply(em: Emitter, template: Template, value: Any) -> list[str]:
    """Names of `value`, which fits the template, as run-time values; constants are made where operations go now."""
    if isinstance(template, Tuple):
        return [one for item, part in zip(template.items, value, strict=True) for one in supply(em, item, part)]
    if isinstance(template, Constant):
        return []
    if template.shape is None:
        return [as_scalar(em, value, template.dtype).name]
    if isinstance(value, Tile):
        return [written(em, value).name]
    return [as_tile(em, value, template.shape, template.dtype).name]


def instantiate(em: Emitter, template: Template, names: Iterator[str]) -> Any:
    """A value of this template whose run-time parts have the next of `names`."""
    if isinstance(template, Constant):
        return template.value
    if isinstance(template, Tuple):
        return tuple(instantiate(em, item, names) for item in template.items)
    if template.shape is None:
        return em.as_scalar(next(names), template.dtype)
    return Tile(next(names), template.shape, template.dtype, em.place())


def is_set(value: Any) -> bool:
    return not isinstance(value, Unset)
