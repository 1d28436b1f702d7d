"""One program of the grid: evaluates operations in order, and their regions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headrace.interpreter import arithmetic, mathematics, memory, messages, tiles
from headrace.interpreter.errors import InterpreterError
from headrace.interpreter.parser import Block, Operation
from headrace.interpreter.rounding import signed, unsigned, wide
from headrace.interpreter.types import dtype_of, is_float

Values = dict[str, np.ndarray]

_ELEMENTWISE = {
    **{f"arith.{name}": function for name, function in arithmetic.EVALUATORS.items()},
    **{f"math.{name}": function for name, function in mathematics.EVALUATORS.items()},
}
_FLOAT64 = np.dtype(np.float64)
_TERMINATORS = frozenset(("tile.return", "tile.yield", "scf.yield", "scf.condition"))


@dataclass(frozen=True)
class Place:
    """Where a program stands in the grid, and how many trips a loop may make before it counts as endless."""

    program: tuple[int, int, int]
    programs: tuple[int, int, int]
    max_trips: int


class Machine:
    """Evaluates a kernel's body for one program. Arrays are changed in place."""

    def __init__(self, place: Place):
        self.place = place

    def run(self, block: Block, values: Values, *, wide_floats: bool = False) -> list[np.ndarray]:
        """The operands of the block's terminator. With `wide_floats` every float is float64."""
        for op in block.operations:
            args = [values[name] for name in op.operands]
            if op.name in _TERMINATORS:
                return args
            results = self.evaluate(op, args, values, wide_floats)
            values.update(zip(op.results, results, strict=True))
        return []

    def evaluate(
        self, op: Operation, args: list[np.ndarray], values: Values, wide_floats: bool = False
    ) -> list[np.ndarray]:
        """The results of one operation; `values` are those that its regions may use."""
        if function := _ELEMENTWISE.get(op.name):
            return [_elementwise(function, op, args, wide_floats)]
        if function := tiles.EVALUATORS.get(op.name) or memory.READERS.get(op.name):
            return [function(op, args)]
        if function := memory.WRITERS.get(op.name):
            function(op, args)
            return []
        if function := _STRUCTURE.get(op.name):
            tiles.check_regions(op)
            return function(self, op, args, values)
        raise InterpreterError(f"{op.name} is not supported", op.line)


def _elementwise(function, op: Operation, args: list[np.ndarray], wide_floats: bool) -> np.ndarray:
    dtype = dtype_of(op.result_types[0])
    widened = wide_floats and is_float(dtype)
    if op.name == "arith.constant":
        result = function(op, args, dtype)
        return wide(result) if widened else result
    return function(op, args, _FLOAT64 if widened else dtype)


def _enter(block: Block, values: Values, arguments: list[np.ndarray]) -> Values:
    values.update(zip((a.name for a in block.arguments), arguments, strict=True))
    return values


def _count(machine: Machine, op: Operation, trips: int) -> int:
    if trips >= machine.place.max_trips:
        raise InterpreterError(f"{op.name} makes more than {machine.place.max_trips} trips", op.line)
    return trips + 1


def _for(machine: Machine, op: Operation, args: list[np.ndarray], values: Values) -> list[np.ndarray]:
    lower, upper, step, *carried = args
    dtype = lower.dtype
    extend = unsigned if "unsignedCmp" in op.attributes else signed
    low, high, by = (int(extend(bound)) for bound in (lower, upper, step))
    if by <= 0:
        raise InterpreterError(f"{op.name}: expected a positive step, got {by}", op.line)
    block, trips = op.regions[0][0], 0
    for i in range(low, high, by):
        trips = _count(machine, op, trips)
        carried = machine.run(block, _enter(block, values, [np.array(i).astype(dtype), *carried]))
    return carried


def _while(machine: Machine, op: Operation, args: list[np.ndarray], values: Values) -> list[np.ndarray]:
    before, after = (region[0] for region in op.regions)
    trips = 0
    while True:
        condition, *passed = machine.run(before, _enter(before, values, args))
        if not condition:
            return passed
        trips = _count(machine, op, trips)
        args = machine.run(after, _enter(after, values, passed))


def _if(machine: Machine, op: Operation, args: list[np.ndarray], values: Values) -> list[np.ndarray]:
    region = op.regions[0 if args[0] else 1]
    return machine.run(region[0], values) if region else []


def _combine(machine: Machine, op: Operation, args: list[np.ndarray], values: Values) -> list[np.ndarray]:
    block, widen = op.regions[0][0], tiles.can_widen(op)

    def combine(first: list[np.ndarray], second: list[np.ndarray]) -> list[np.ndarray]:
        # The region sees nothing from outside, and may use names that are used there.
        results = machine.run(block, _enter(block, {}, [*first, *second]), wide_floats=widen)
        return [np.broadcast_to(r, f.shape).astype(f.dtype) for r, f in zip(results, first, strict=True)]

    return (tiles.reduce if op.name == "tile.reduce" else tiles.scan)(op, args, combine)


def _axis(op: Operation) -> int:
    return int(op.attributes["axis"].value)


def _dim(machine: Machine, op: Operation, args: list[np.ndarray], values: Values) -> list[np.ndarray]:
    array, dim = args
    if not 0 <= dim < array.ndim:
        raise InterpreterError(f"memref.dim: expected a dimension below {array.ndim}, got {int(dim)}", op.line)
    return [np.array(array.shape[int(dim)], np.int32)]


def _assume(machine: Machine, op: Operation, args: list[np.ndarray], values: Values) -> list[np.ndarray]:
    divisor = int(op.attributes["divisor"].value)
    if int(args[0]) % divisor:
        raise InterpreterError(f"tile.assume: expected a multiple of {divisor}, got {int(args[0])}", op.line)
    return args


def _grouped_index(machine: Machine, op: Operation, args: list[np.ndarray], values: Values) -> list[np.ndarray]:
    index, rows, columns = map(int, args)
    group = int(op.attributes["group"].value)
    if rows <= 0 or columns <= 0:
        return [np.zeros((), np.int32)] * 2
    first = index // (group * columns) * group
    height = max(min(rows - first, group), 1)
    rest = index - first * columns
    return [np.array(first + rest % height, np.int32), np.array(rest // height, np.int32)]


_STRUCTURE = {
    "tile.for": _for,
    "scf.for": _for,
    "scf.while": _while,
    "scf.if": _if,
    "tile.reduce": _combine,
    "tile.scan": _combine,
    "tile.split": lambda machine, op, args, values: tiles.split(args[0]),
    "memref.dim": _dim,
    "tile.assume": _assume,
    "tile.grouped_index": _grouped_index,
    "tile.assert": lambda machine, op, args, values: messages.check(op, args, machine.place.program),
    "tile.print": lambda machine, op, args, values: messages.print_lines(op, args, machine.place.program),
    "tile.grid": lambda machine, op, args, values: [],
    "tile.program_id": lambda machine, op, args, values: [np.array(machine.place.program[_axis(op)], np.int32)],
    "tile.num_programs": lambda machine, op, args, values: [np.array(machine.place.programs[_axis(op)], np.int32)],
}
