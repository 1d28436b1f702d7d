"""An emitter that computes each operation at once instead of writing it down.

The frontend's own rules decide what a kernel may do, and which operations that is; the evaluator of tile programs
(`headrace.interpreter`) says what each operation means. This file joins the two.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from headrace.eager.frames import Frames
from headrace.eager.grid import Grid
from headrace.eager.operations import read
from headrace.interpreter.errors import InterpreterError
from headrace.interpreter.machine import Machine
from headrace.language import expressions, statements
from headrace.language.emitter import Emitter
from headrace.language.errors import CompileError, Note, Place
from headrace.language.mlir import Block

Values = dict[str, np.ndarray]


class EagerEmitter(Emitter):
    """Computes what one program of the grid does.

    `held` are values that last: arrays, arguments, constants and extents. `passing` are those of the expression that
    is computed now: whoever evaluates it puts the operands there, and takes the results from there.
    """

    def __init__(self, grid: Grid, program: tuple[int, int, int], frames: Frames):
        super().__init__(expressions.evaluate, statements.execute)
        self.frames = frames
        self.held: Values = {}
        self.passing: Values = {}
        self.depth = 1  # the grid is said at the top level, which has been checked
        self._grid = grid
        self._machine = Machine(grid.place(program))

    def find(self, name: str) -> np.ndarray:
        """The value of that name."""
        found = self.passing.get(name)
        return self.held[name] if found is None else found

    # ---- expressions and places

    def evaluate(self, node: ast.expr) -> Any:
        """The value of `node`; one of the nodes that stand for a value of Python has it already."""
        return node.headrace_value if hasattr(node, "headrace_value") else super().evaluate(node)

    def place(self, node: ast.AST | None = None) -> Place | None:
        """Where Python is, or, in functions that are evaluated as the compiler does, where that is."""
        return self.frames.place() if self.scope is None else super().place(node)

    def fail(self, message: str, node: ast.AST | None = None, notes: tuple[Note, ...] = ()) -> NoReturn:
        if self.scope is not None:
            super().fail(message, node, notes)
        places = self.frames.places()
        callers = tuple(Note("called from here", caller) for caller in places[1:])
        raise CompileError(message, places[0] if places else None, (*notes, *callers))

    # ---- operations

    def value(self, text: str, hint: str = "v", pure: bool = True) -> str:
        name = self.names.fresh(hint)
        self.op(text, results=(name,), pure=pure)
        return name

    def op(
        self, *parts: str | Block, results: tuple[str, ...] = (), pure: bool = False, block: Block | None = None
    ) -> None:
        """Computes the operation; in the region of a reduction, which is evaluated as a whole, writes it down."""
        if self.isolated and block is None:
            super().op(*parts, results=results, pure=pure)
            return
        operation = read(parts, results)
        args = [self.find(name) for name in operation.operands]
        if operation.name == "tile.grid":
            self._grid.declare([int(size) for size in args], "persistent" in operation.attributes)
            self._machine = Machine(replace(self._machine.place, programs=self._grid.sizes))
            return
        if operation.name == "tile.num_programs" and not self._grid.known:
            self.fail("expected hr.grid before hr.num_programs in an interpreted kernel: write it first")
        try:
            values = self._machine.evaluate(operation, args, {})
        except InterpreterError as error:
            self.fail(f"{error}")
        kept = self.held if block is self.prologue else self.passing
        kept.update(zip(results, values, strict=True))
