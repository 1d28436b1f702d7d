"""The state of one emission: where operations go, where they come from, and how a program is refused."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from headrace.language.affine import Affine
from headrace.language.dtypes import DType, index
from headrace.language.errors import CompileError, Note, Place
from headrace.language.mlir import Block, Names, Op, literal, tensor
from headrace.language.scope import Scope
from headrace.language.values import Array, Scalar, Tile

#: Inlined calls inside of each other: more is taken for a recursion without an end.
MAX_CALLS = 64


class Emitter:
    """Appends operations to a block. `prologue` is the start of the kernel: constants, extents and the grid.

    `written` gets the names of the arrays that the kernel writes. `evaluate` and `execute` emit expressions and
    statements, which call each other through it.
    """

    def __init__(
        self, evaluate: Callable[[Emitter, ast.expr], Any], execute: Callable[[Emitter, list[ast.stmt]], None]
    ):
        self._evaluate = evaluate
        self._execute = execute
        self.names = Names()
        self.prologue = Block()
        self.block = self.prologue
        self.written: set[str] = set()
        self.scope: Scope | None = None
        self.grid_place: Place | None = None
        #: Constants from outside of the kernel: what looks one up, its name and its value.
        self.reads: list[tuple[Callable[[str], Any], str, Any]] = []
        #: Types of variables that loops carry, by loop and name, found by emitting them before.
        self.templates: dict[tuple[int, str], Any] = {}
        #: Whether operations go to a region that sees no values from outside.
        self.isolated = False
        #: Blocks that are open, of the kernel's body at 1: what must be said once is said there.
        self.depth = 0
        #: Names of values as they are printed, for those that the program gives one.
        self.renamed: dict[str, str] = {}
        self._unnamed: set[str] = set()
        self._node: ast.AST | None = None
        self._calls: list[Place] = []
        self._shared: dict[Any, Scalar] = {}

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression; what it takes to compute it is emitted."""
        return self._evaluate(self, node)

    def execute(self, body: list[ast.stmt]) -> None:
        """Emits statements."""
        self._execute(self, body)

    def merged(self, node: ast.AST, templates: dict[str, Any]) -> None:
        """Told the types that variables get where `node`, a loop or a branch, joins paths; "" is the node's value."""

    # ---- places and errors

    @contextlib.contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        """What is emitted or refused inside comes from `node`."""
        before, self._node = self._node, node
        try:
            yield
        finally:
            self._node = before

    @contextlib.contextmanager
    def inlined(self, scope: Scope) -> Iterator[None]:
        """Inside, names are those of `scope`, and places have the current one as their caller."""
        if len(self._calls) >= MAX_CALLS:
            self.fail(
                f"expected calls at most {MAX_CALLS} deep, got more: a recursion has no end in a kernel, write a loop"
            )
        self._calls.append(self.place())
        before, self.scope = self.scope, scope
        try:
            yield
        finally:
            self._calls.pop()
            self.scope = before

    def place(self, node: ast.AST | None = None) -> Place | None:
        """Where `node` is in the Python file (default: what is emitted now)."""
        node = node or self._node
        if node is None or self.scope is None:
            return None
        return self.scope.source.place(node)

    def fail(self, message: str, node: ast.AST | None = None, notes: tuple[Note, ...] = ()) -> NoReturn:
        """Refuses the program at `node` (default: what is emitted now). The callers of inlined functions are noted."""
        callers = tuple(Note("called from here", place) for place in reversed(self._calls))
        raise CompileError(message, self.place(node), (*notes, *callers))

    def note(self, message: str, value: Any) -> tuple[Note, ...]:
        """A note at the place of `value`, none if that is not known."""
        place = getattr(value, "place", None)
        return (Note(message, place),) if place else ()

    # ---- operations

    def op(
        self, *parts: str | Block, results: tuple[str, ...] = (), pure: bool = False, block: Block | None = None
    ) -> None:
        """Appends an operation of `parts`, text and regions in turn."""
        place = self.place()
        places = (place, *reversed(self._calls)) if place else ()
        (self.block if block is None else block).ops.append(Op(results, parts, places, pure))

    def value(self, text: str, hint: str = "v", pure: bool = True) -> str:
        """Appends an operation with one result; the result's name, made from `hint`."""
        name = self.names.fresh(hint)
        self._unnamed.add(name)
        self.op(text, results=(name,), pure=pure)
        return name

    def call_it(self, value: Any, name: str) -> None:
        """Prints `value` as `name`, the first name that the program gives to an operation's result."""
        if isinstance(value, (Scalar, Tile)) and value.name in self._unnamed:
            self._unnamed.discard(value.name)
            if re.fullmatch(rf"%{re.escape(name)}(_\d+)?", value.name):
                return
            self.renamed[value.name] = self.names.fresh(name)

    def scalar(
        self, text: str, dtype: DType, hint: str = "v", affine: Affine | None = None, natural: bool = False
    ) -> Scalar:
        name = self.value(text, hint)
        return self.as_scalar(name, dtype, affine, natural)

    def as_scalar(self, name: str, dtype: DType, affine: Affine | None = None, natural: bool = False) -> Scalar:
        """The scalar called `name`; an index of which nothing is known is a term of its own."""
        if dtype is index and affine is None:
            affine = Affine.of(name)
        return Scalar(name, dtype, affine, natural)

    def tile(
        self, text: str, shape: tuple[int, ...], dtype: DType, hint: str = "t", pure: bool = True, natural: bool = False
    ) -> Tile:
        return Tile(self.value(text, hint, pure), shape, dtype, self.place(), natural)

    @contextlib.contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Operations go to `block`."""
        before, self.block = self.block, block
        self.depth += 1
        try:
            yield block
        finally:
            self.block = before
            self.depth -= 1

    @contextlib.contextmanager
    def isolating(self) -> Iterator[None]:
        """Inside, constants are made where they are used."""
        before, self.isolated = self.isolated, True
        try:
            yield
        finally:
            self.isolated = before

    def splice(self, block: Block) -> None:
        """Appends all of `block`."""
        self.block.ops.extend(block.ops)

    # ---- what is said once, at the start of the kernel

    def constant(self, value: int | float | bool, dtype: DType) -> Scalar:
        """A constant scalar; in a region that sees no values from outside, one of its own."""
        if self.isolated:
            typed = literal(value, dtype) + ("" if dtype.kind == "bool" else f" : {dtype.mlir}")
            return self.as_scalar(self.value(f"arith.constant {typed}", "cst"), dtype)
        key = ("constant", repr(value), dtype)
        if key not in self._shared:
            text = literal(value, dtype)
            plain = str(value).lstrip("-").replace(".", "_")
            stem = (
                f"c{'m' if str(value).startswith('-') else ''}{plain}"
                if plain.isidentifier() or plain[:1].isdigit()
                else "cst"
            )
            name = self.names.fresh(stem if dtype is index else f"{stem}_{dtype.name}")
            typed = text if dtype.kind == "bool" else f"{text} : {dtype.mlir}"
            self.op(f"arith.constant {typed}", results=(name,), pure=True, block=self.prologue)
            affine = Affine(int(value)) if dtype is index else None
            self._shared[key] = Scalar(name, dtype, affine, value >= 0)
        return self._shared[key]

    def splat_constant(self, value: int | float | bool, shape: tuple[int, ...], dtype: DType) -> Tile:
        """A tile of one constant."""
        text = f"arith.constant dense<{literal(value, dtype)}> : {tensor(shape, dtype)}"
        return self.tile(text, shape, dtype, "cst", natural=value >= 0)

    def extent(self, array: Array, dim: int) -> Scalar:
        """The extent of `array` along `dim`, with the promise that its type makes."""
        key = ("extent", array.name, dim)
        if key not in self._shared:
            position = self.constant(dim, index)
            name = self.names.fresh(f"{array.parameter}_{dim}")
            text = f"memref.dim {array.name}, {position.name} : {array.type.mlir}"
            self.op(text, results=(name,), pure=True, block=self.prologue)
            multiple = array.type.multiples[dim]
            if multiple > 1:
                assumed = self.names.fresh(f"{array.parameter}_{dim}")
                # Kept even if nobody asks for the extent: loads and stores of the array know it then.
                self.op(f"tile.assume {name} multiple_of {multiple}", results=(assumed,), block=self.prologue)
                name = assumed
            self._unnamed.add(name)
            self._shared[key] = Scalar(name, index, Affine.of(name), natural=True)
        return self._shared[key]
