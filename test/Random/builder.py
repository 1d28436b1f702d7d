"""Emits operations into a program tree and knows of each value what numbers it may hold.

Values are integers of bounded size wherever possible, so that sums are exact in any order and results can be compared
bit for bit. `bound` is the largest absolute value; `error` the largest difference from what the interpreter computes,
0 for exact values.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from program_tree import ArrayArgument, Block, Op, Program, Scalar, Type

#: Integers up to here are exact in the type, and so are their sums and products.
LIMITS = {
    "bf16": 2**8, "f16": 2**11, "f32": 2**24, "f64": 2**53, "f8E4M3FN": 2**4, "f8E5M2": 2**3,
    "i1": 1, "i8": 2**7 - 1, "i16": 2**15 - 1, "i32": 2**31 - 1, "i64": 2**63 - 1,
}  # fmt: skip
FLOATS = frozenset(("bf16", "f16", "f32", "f64", "f8E4M3FN", "f8E5M2"))
FLOAT8 = frozenset(("f8E4M3FN", "f8E5M2"))
BYTES = {
    "bf16": 2, "f16": 2, "f32": 4, "f64": 8, "f8E4M3FN": 1, "f8E5M2": 1, "i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8,
}  # fmt: skip


@dataclass(frozen=True)
class Value:
    """A number or a tile that the program has computed."""

    name: str
    type: Type
    bound: int
    error: float = 0.0

    @property
    def element(self) -> str:
        return self.type.element

    @property
    def shape(self) -> tuple[int, ...] | None:
        return self.type.shape


@dataclass(frozen=True)
class Index:
    """An index and the range of its values, both ends included."""

    name: str
    low: int
    high: int


class Builder:
    """The current block, the values in scope, and fresh names."""

    def __init__(self, seed: str, rng: random.Random):
        self.program = Program(seed)
        self.rng = rng
        self.block = self.program.body
        self.values: list[Value] = []
        self.indices: list[Index] = []
        self.trips = 1  # the most often that the current block may run, in one program
        self.depth = 0
        self._names = 0
        self._constants: dict[str, Index] = {}

    def name(self, stem: str = "v") -> str:
        self._names += 1
        return f"%{stem}{self._names}"

    def emit(self, text: str, type_: Type, bound: int, error: float = 0.0, *, keep: bool = True) -> Value:
        """An operation with one result, which comes into scope if `keep`."""
        value = Value(self.name(), type_, bound, error)
        self.block.operations.append(Op(text, [(value.name, type_)]))
        if keep:
            self.values.append(value)
        return value

    def do(self, text: str) -> None:
        """An operation without result."""
        self.block.operations.append(Op(text))

    def index(self, text: str, low: int, high: int) -> Index:
        value = Index(self.name("i"), low, high)
        self.block.operations.append(Op(text, [(value.name, Type("index"))]))
        return value

    def constant_index(self, number: int) -> Index:
        """Constants stand at the top of the kernel, one for each number."""
        key = f"c{number}" if number >= 0 else f"cm{-number}"
        if key not in self._constants:
            op = Op(f"arith.constant {number} : index", [(f"%{key}", Type("index"))])
            self.program.body.operations.insert(len(self._constants), op)
            self._constants[key] = Index(f"%{key}", number, number)
        return self._constants[key]

    def constant(self, type_: Type, number: int, *, keep: bool = False) -> Value:
        digits = f"{number}.0" if type_.element in FLOATS else str(number)
        text = f"dense<{digits}> : {type_}" if type_.shape is not None else f"{digits} : {type_}"
        return self.emit(f"arith.constant {text}", type_, abs(number), keep=keep)

    def scalar_argument(self, choices: tuple[int, ...]) -> Index:
        """An index that the caller chooses."""
        scalar = Scalar(f"n{len(self.program.scalars)}", "i32", choices)
        self.program.scalars.append(scalar)
        op = Op(f"arith.index_cast %{scalar.name} : i32 to index", [(f"%x{scalar.name}", Type("index"))])
        self.program.body.operations.insert(len(self._constants), op)
        # What follows the constants must stay behind them: constants are inserted before.
        return Index(f"%x{scalar.name}", min(choices), max(choices))

    def array(
        self, element: str, shape: tuple[int, ...], role: str, align: int, bound: int = 0, *, columns: bool = False
    ) -> ArrayArgument:
        low = 0 if element == "i1" else -bound
        name = f"A{len(self.program.arrays)}"
        array = ArrayArgument(name, element, shape, role, align, low, bound, columns=columns)
        self.program.arrays.append(array)
        return array

    def clamp(self, value: Value, bound: int) -> Value:
        """`value`, or its nearest number with at most that absolute value; exact, in any type."""
        if value.bound <= bound:
            return value
        high = self.constant(value.type, bound)
        low = self.constant(value.type, -bound)
        kinds = ("minimumf", "maximumf") if value.element in FLOATS else ("minsi", "maxsi")
        error = min(value.error, 2.0 * bound)
        for kind, limit in zip(kinds, (high, low), strict=True):
            value = self.emit(f"arith.{kind} {value.name}, {limit.name} : {value.type}", value.type, bound, error,
                              keep=False)  # fmt: skip
        return value

    def chance(self, percent: float) -> bool:
        return self.rng.random() * 100 < percent

    def enter(self, block: Block, trips: int = 1) -> tuple:
        """Operations go to `block` from here on, until `leave` gets what this returns."""
        state = (self.block, len(self.values), len(self.indices), self.trips, self.depth)
        self.block, self.trips, self.depth = block, self.trips * max(trips, 1), self.depth + 1
        return state

    def leave(self, state: tuple) -> None:
        self.block, values, indices, self.trips, self.depth = state
        del self.values[values:], self.indices[indices:]
