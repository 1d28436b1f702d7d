"""A kernel that can be run: the grid, the binding of arguments, and all programs one after another."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from headrace.interpreter.errors import InterpreterError
from headrace.interpreter.machine import Machine, Place, Values
from headrace.interpreter.parser import Block, BlockArgument, Operation, parse_module
from headrace.interpreter.types import RAW, Array, Scalar, Type, dtype_of, is_float

#: Programs that a persistent kernel is run with, at most.
PERSISTENT_PROGRAMS = 3
MAX_TRIPS = 10_000_000

_SOURCE_NAME = re.compile(r"%([\w$.-]+)")


@dataclass(frozen=True)
class Argument:
    """An argument of a kernel: the name it has in the launch record, and the one it has in the source."""

    name: str
    source_name: str | None
    value: str
    type: Type


class Program:
    """A kernel of a module in the generic form."""

    def __init__(self, generic: str, kernel: str | None = None, source: str = ""):
        """`source` is the text that the generic form was made from, for the names of arguments."""
        self._op = _find_kernel(parse_module(generic), kernel)
        self._body: Block = self._op.regions[0][0]
        self.arguments = _arguments(self._op, self._body, source)

    @property
    def name(self) -> str:
        return str(self._op.attributes["sym_name"])

    def run(
        self,
        arguments: Mapping[str, object],
        *,
        grid: tuple[int, ...] | None = None,
        persistent_programs: int = PERSISTENT_PROGRAMS,
        max_trips: int = MAX_TRIPS,
    ) -> None:
        """Runs all programs in order; arrays are changed in place.

        Names are those of the launch record (`tile.name`, or arg0, arg1, ...) or of the source (%NAME). `grid` stands
        for what tile.grid says. Raises InterpreterError.
        """
        values = self._bind(arguments)
        with np.errstate(all="ignore"):
            sizes = tuple(grid) if grid is not None else self._grid(values, persistent_programs)
            sizes = (*sizes, 1, 1)[:3]
            for z, y, x in itertools.product(*(range(size) for size in reversed(sizes))):
                Machine(Place((x, y, z), sizes, max_trips)).run(self._body, dict(values))

    def _bind(self, given: Mapping[str, object]) -> Values:
        values: Values = {}
        used = set()
        for argument in self.arguments:
            name = next((n for n in (argument.name, argument.source_name) if n in given), None)
            if name is None:
                raise InterpreterError(f"argument '{argument.name}' is missing", self._op.line)
            used.add(name)
            values[argument.value] = _bound(argument, given[name])
        if unknown := [name for name in given if name not in used]:
            raise InterpreterError(f"'{unknown[0]}' is not an argument of kernel '{self.name}'", self._op.line)
        return values

    def _grid(self, values: Values, persistent_programs: int) -> tuple[int, ...]:
        grid = next((op for op in self._body.operations if op.name == "tile.grid"), None)
        if grid is None:
            return (1,)
        definitions = {result: op for op in self._body.operations for result in op.results}
        known = dict(values)
        machine = Machine(Place((0, 0, 0), (0, 0, 0), MAX_TRIPS))

        def value_of(name: str) -> np.ndarray:
            if name not in known:
                op = definitions.get(name)
                if op is None or op.regions or op.name in ("tile.program_id", "tile.num_programs"):
                    raise InterpreterError("expected sizes of constants, array extents and scalars", grid.line)
                results = machine.evaluate(op, [value_of(operand) for operand in op.operands], known)
                known.update(zip(op.results, results, strict=True))
            return known[name]

        sizes = [int(value_of(name)) for name in grid.operands]
        if negative := [size for size in sizes if size < 0]:
            raise InterpreterError(f"tile.grid: expected sizes of at least 0, got {negative[0]}", grid.line)
        if "persistent" in grid.attributes and sizes[0]:
            rounds = -(-sizes[0] // persistent_programs)
            sizes[0] = -(-sizes[0] // rounds)
        return tuple(sizes)


def _find_kernel(module: Operation, name: str | None) -> Operation:
    operations = [op for region in module.regions for block in region for op in block.operations]
    kernels = [op for op in operations if op.name == "tile.kernel"]
    chosen = [op for op in kernels if name in (None, op.attributes["sym_name"])]
    if len(chosen) != 1:
        names = ", ".join(str(op.attributes["sym_name"]) for op in kernels) or "none"
        raise InterpreterError(f"expected one kernel{f' named {name}' if name else ''}, the module has {names}")
    return chosen[0]


def _arguments(kernel: Operation, body: Block, source: str) -> list[Argument]:
    attributes = kernel.attributes.get("arg_attrs") or [{}] * len(body.arguments)
    lines = source.split("\n")
    return [
        Argument(str(own.get("tile.name", f"arg{i}")), _source_name(lines, argument), argument.name, argument.type)
        for i, (own, argument) in enumerate(zip(attributes, body.arguments, strict=True))
    ]


def _source_name(lines: list[str], argument: BlockArgument) -> str | None:
    """What stands in the source where the argument is declared."""
    if argument.place is None or argument.place[0] > len(lines):
        return None
    line, column = argument.place
    found = _SOURCE_NAME.match(lines[line - 1], column - 1)
    return found[1] if found else None


def _bound(argument: Argument, value: object) -> np.ndarray:
    if isinstance(argument.type, Scalar):
        return _bound_scalar(argument, argument.type, value)
    if not isinstance(argument.type, Array):
        raise InterpreterError(f"argument '{argument.name}': expected an array or a number, its type is a tile")
    return _bound_array(argument, argument.type, value)


def _bound_scalar(argument: Argument, type_: Scalar, value: object) -> np.ndarray:
    dtype = dtype_of(type_)
    if is_float(dtype):
        return np.array(value, np.float64).astype(dtype)
    number = int(value)
    if dtype == np.bool_:
        return np.array(number != 0)
    limits = np.iinfo(dtype)
    if not limits.min <= number <= np.iinfo(f"u{dtype.itemsize}").max:
        raise InterpreterError(f"argument '{argument.name}': {number} does not fit {type_}")
    return np.array(number & ((1 << limits.bits) - 1), f"u{dtype.itemsize}").view(dtype)


def _bound_array(argument: Argument, type_: Array, value: object) -> np.ndarray:
    dtype = dtype_of(type_)
    if not isinstance(value, np.ndarray):
        raise InterpreterError(f"argument '{argument.name}': expected an array, got {type(value).__name__}")
    if value.dtype != dtype and value.dtype not in (RAW.get(type_.element), np.dtype(f"u{dtype.itemsize}")):
        raise InterpreterError(f"argument '{argument.name}': expected elements of {type_.element}, got {value.dtype}")
    if value.ndim != len(type_.shape):
        raise InterpreterError(f"argument '{argument.name}': expected {len(type_.shape)} dimensions, got {value.ndim}")
    for dim, (extent, stride) in enumerate(zip(type_.shape, type_.strides, strict=True)):
        if extent not in (None, value.shape[dim]):
            raise InterpreterError(
                f"argument '{argument.name}': expected {extent} elements along dimension {dim}, got {value.shape[dim]}"
            )
        own = value.strides[dim] // value.itemsize
        if stride not in (None, own) and value.shape[dim] > 1:
            raise InterpreterError(
                f"argument '{argument.name}': expected stride {stride} of dimension {dim}, got {own} elements"
            )
    return value if value.dtype == dtype else value.view(dtype)
