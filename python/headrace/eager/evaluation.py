"""Evaluates what Python executes of a kernel: operators, calls, subscripts, through the frontend's own rules."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from headrace.eager.emitter import EagerEmitter
from headrace.eager.instrument import Instrumented
from headrace.eager.lambdas import language_function
from headrace.eager.subscripts import subscript_of
from headrace.eager.values import EagerArray, EagerLoop, EagerScalar, EagerTile, LoadedPart, Value
from headrace.language import access
from headrace.language.calls import bind_builtin, extreme
from headrace.language.dtypes import DType, f32, i1, index
from headrace.language.errors import CompileError
from headrace.language.functions import InlineFunction
from headrace.language.kernel import shown
from headrace.language.loops import Loop
from headrace.language.lowering import control, tiles
from headrace.language.lowering.memory import TAKE_PART
from headrace.language.lowering.registry import LOWERINGS
from headrace.language.operands import as_index
from headrace.language.operators import truth, unary
from headrace.language.pending import written
from headrace.language.templates import Runtime, Template, Tuple, instantiate, supply
from headrace.language.values import Array, Part, Product, Scalar, Tile, Transposed, is_number


def _names(tile: Tile) -> list[str]:
    """Names of the values that `tile` is made of: one, unless it was put off."""
    if isinstance(tile, Transposed):
        return _names(tile.source)
    if isinstance(tile, Product):
        return [*_names(tile.a), *_names(tile.b)]
    return [tile.name]


def _conversion(kind: type, cast: Callable[[Any], Any]) -> type:
    """Python's `int`, `float` or `bool`, which makes a scalar of a scalar."""

    class Conversion(type):
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            return cast(args[0]) if args and isinstance(args[0], Value) else kind(*args, **kwargs)

        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, kind)

    return Conversion(kind.__name__, (), {})


class Evaluation:
    """A run of a kernel. `code` makes functions that Python can execute; `begin` says what computes from now on."""

    _em: EagerEmitter

    def __init__(self, code: Instrumented):
        self._code = code
        self._functions: dict[Callable, Callable] = {}
        self._builtins = self._own_builtins()
        self._count = itertools.count()

    def begin(self, em: EagerEmitter) -> None:
        """Another program of the grid, which `em` computes."""
        self._em = em

    def function(self, function: Callable) -> Callable:
        """`function`, a kernel's or an inlined one, for Python to execute."""
        if function not in self._functions:
            self._functions[function] = self._code.function(function, self._builtins)
        return self._functions[function]

    # ---- in and out of Python

    def compute(self, function: Callable, *args: Any, **kwargs: Any) -> Any:
        """``function(em, ...)`` of the frontend, on values of Python. Raises CompileError where Python is."""
        em = self._em
        em.passing = {}
        try:
            with np.errstate(all="ignore"):
                plain = {name: self.unwrap(value) for name, value in kwargs.items()}
                return self.wrap(function(em, *map(self.unwrap, args), **plain))
        except CompileError as error:
            raise shown(error) from None
        finally:
            em.passing = {}

    def unwrap(self, value: Any) -> Any:
        """The frontend's value; its numbers are passed to the emitter."""
        if isinstance(value, Value):
            if not isinstance(value, EagerArray):
                self._em.passing.update(value._data)
            return value._meta
        if isinstance(value, (tuple, list)):
            return tuple(map(self.unwrap, value))
        if isinstance(value, dict):
            return {name: self.unwrap(item) for name, item in value.items()}
        if isinstance(value, np.generic):
            return value.item()
        function = value.function if isinstance(value, InlineFunction) else value
        if isinstance(function, FunctionType) and self._is_inside(function):
            return language_function(self._code.frames, function, self.unwrap)
        return value

    def _is_inside(self, function: Callable) -> bool:
        """Whether `function` was made by the kernel, whose code has been compiled with it."""
        code = function.__code__  # type: ignore[attr-defined]
        return self._code.frames.source_of(code) is not None

    def wrap(self, value: Any) -> Any:
        """A value of the frontend with its numbers."""
        if isinstance(value, Scalar):
            return EagerScalar(value, {value.name: self._em.find(value.name)})
        if isinstance(value, Tile):
            return EagerTile(value, {name: self._em.find(name) for name in _names(value)})
        if isinstance(value, Array):
            return EagerArray(value, {value.name: self._em.find(value.name)})
        if isinstance(value, tuple):
            return tuple(map(self.wrap, value))
        if isinstance(value, Loop):
            return self._loop(value)
        return value

    def numbers(self, value: EagerTile) -> np.ndarray:
        """The numbers of a transpose or a product that was put off."""
        return self.compute(written, value)._numbers()

    def _loop(self, loop: Loop) -> EagerLoop:
        em = self._em
        bounds = [as_index(em, bound, what) for bound, what in
                  ((loop.start, "the start"), (loop.stop, "the end"), (loop.step, "the step"))]  # fmt: skip
        start, stop, step = (int(em.find(bound.name)) for bound in bounds)
        if step <= 0:
            em.fail(f"expected a positive step, got {step}")
        natural, kept = bounds[0].natural, dict(em.passing)

        def coordinates(em: EagerEmitter, number: Scalar) -> Any:
            em.passing.update(kept)
            return number if loop.coordinates is None else loop.coordinates(number)

        def variable(number: int) -> Any:
            scalar = self.scalar(np.array(number, np.int32), index, natural)
            return scalar if loop.coordinates is None else self.compute(coordinates, scalar)

        return EagerLoop(range(start, stop, step), variable)

    def scalar(self, value: np.ndarray, dtype: DType, natural: bool = False) -> EagerScalar:
        """A new scalar."""
        name = f"%number_{next(self._count)}"
        return EagerScalar(self._em.as_scalar(name, dtype, None, natural), {name: value})

    # ---- calls

    def call_builtin(self, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        part = args[0]._part if function in TAKE_PART and args and isinstance(args[0], Value) else None
        return self.compute(self._builtin, function, args, kwargs, part)

    def _builtin(self, em: EagerEmitter, function: Callable, args: tuple, kwargs: dict, part: Any) -> Any:
        if function in TAKE_PART:
            if part is None:
                name = f"hr.{function.__name__}"
                em.fail(f"expected a part of an array as the first argument of {name}: write "
                        f"{name}(A[m:m+BM, k:k+BK], ...)")  # fmt: skip
            em.passing.update(part.positions)
            args = (part.part, *args[1:])
        return LOWERINGS[function](em, **bind_builtin(em, function, list(args), kwargs))

    def call_inline(self, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        return (function if self._is_inside(function) else self.function(function))(*args, **kwargs)

    def cast(self, value: Any, dtype: DType) -> Any:
        return self.compute(tiles.cast, value, dtype)

    def _own_builtins(self) -> dict[str, Any]:
        """Python's built-in functions as they are in a kernel, and those that instrumented code calls."""
        return {
            **vars(builtins),
            "range": lambda *args: self.compute(control.lower_range, list(args)),
            "int": _conversion(int, lambda x: self.cast(x, index)),
            "float": _conversion(float, lambda x: self.cast(x, f32)),
            "bool": _conversion(bool, lambda x: self.cast(x, i1)),
            "min": self._extreme(min),
            "max": self._extreme(max),
            "__headrace_not__": lambda x: self.compute(unary, "not", x) if isinstance(x, Value) else not x,
            "__headrace_as__": lambda x, number: self._typed(x, self._code.templates[number]),
            "__headrace_stored__": self._stored,
        }

    def _extreme(self, function: Callable) -> Callable:
        def call(*args: Any, **kwargs: Any) -> Any:
            items = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
            if not any(isinstance(item, Value) for item in items):
                return function(*args, **kwargs)
            return self.compute(extreme, function, list(args))

        return call

    # ---- what statements do to values

    def _typed(self, value: Any, templates: tuple[Template, ...]) -> Any:
        """`value` with the type that it has in the compiled kernel, where it is one of several that meet."""
        if is_number(value) and len(set(templates)) == 1 and isinstance(templates[0], Runtime):
            return self.compute(lambda em: instantiate(em, templates[0], iter(supply(em, templates[0], value))))
        if isinstance(value, tuple) and all(isinstance(one, Tuple) for one in templates):
            items = [tuple(one.items[i] for one in templates) for i in range(len(value))]  # type: ignore[union-attr]
            return tuple(map(self._typed, value, items))
        return value

    def _stored(self, value: Any) -> Any:
        """A value that goes by a name is computed once: see `headrace.language.statements`."""
        if isinstance(value, tuple):
            return tuple(map(self._stored, value))
        if isinstance(value, EagerTile) and isinstance(value._meta, Product):
            return self.compute(written, value)
        return value

    # ---- subscripts

    def _part(self, em: EagerEmitter, array: Array, item: Any) -> Part:
        return access.make_part(em, array, subscript_of(item, em.frames.subscript(), self.unwrap))

    def load(self, array: EagerArray, item: Any) -> Any:
        """``array[item]``"""
        read: list[LoadedPart] = []

        def load(em: EagerEmitter, meta: Array) -> Any:
            part = self._part(em, meta, item)
            read.append(LoadedPart(part, dict(em.passing)))
            return access.load(em, part)

        value = self.compute(load, array)
        value._part = read[0]
        return value

    def store(self, array: EagerArray, item: Any, value: Any) -> None:
        """``array[item] = value``"""
        self.compute(lambda em, meta, stored: access.store(em, self._part(em, meta, item), stored), array, value)

    def subscript_tile(self, tile: EagerTile, item: Any) -> Any:
        """``tile[:, None]``"""
        return self.compute(access.subscript_tile, tile, item if isinstance(item, tuple) else (item,))

    def truth(self, value: Any) -> bool:
        """Refuses a tile as a condition."""
        return bool(self.compute(truth, value, "'if'"))
