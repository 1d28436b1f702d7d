"""The source of a Python function: its syntax tree, places in its file, and the names of its module."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
from collections.abc import Callable
from typing import Any

from headrace.language.errors import CompileError, Place
from headrace.language.liveness import Liveness
from headrace.language.returns import move_returns_to_the_end

#: A name that is not defined anywhere.
MISSING = object()


class FunctionSource:
    """A function's file, tree and surroundings. The tree's lines and columns are those of the file."""

    def __init__(self, function: Callable):
        self.function = function
        self.name = function.__name__
        self.filename = inspect.getsourcefile(function) or "<unknown>"
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            place = Place(self.filename, function.__code__.co_firstlineno)
            raise CompileError(
                f"the source of '{self.name}' cannot be read: write it to a .py file, or to a notebook's cell", place
            ) from None
        self._first = first
        self._lines = lines
        self._bodies: dict[int, tuple[list[ast.stmt], Liveness]] = {}
        self.node = self._find(self._parse())

    def _parse(self) -> ast.Module:
        try:
            # Under an `if`, an indented function parses as it stands, and all columns stay true.
            tree = ast.parse("if 1:\n" + "".join(self._lines) if self._lines[0][:1].isspace() else "".join(self._lines))
            ast.increment_lineno(tree, self._first - (2 if self._lines[0][:1].isspace() else 1))
            return tree
        except SyntaxError:
            raise CompileError(
                f"the source of '{self.name}' does not parse on its own: give the function lines of its own",
                Place(self.filename, self._first),
            ) from None

    def _find(self, tree: ast.Module) -> ast.FunctionDef:
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == self.name:
                if isinstance(node, ast.AsyncFunctionDef):
                    raise CompileError("expected a plain function, got async: write 'def'", self.place(node))
                return node
        raise CompileError(
            f"expected a function made by 'def', got '{self.name}': write it out", Place(self.filename, self._first)
        )

    def place(self, node: ast.AST) -> Place:
        """Where `node` is, with columns counted in characters; the first line of it if it has several."""
        line = node.lineno
        end = node.end_col_offset if node.end_lineno == line else None
        return Place(self.filename, line, self._column(line, node.col_offset), self._column(line, end), self.name)

    def _column(self, line: int, column: int | None) -> int | None:
        row = line - self._first
        if column is None or not 0 <= row < len(self._lines):
            return column
        return len(self._lines[row].encode()[:column].decode(errors="replace"))

    @functools.cached_property
    def module(self) -> ModuleNames:
        return ModuleNames(self.function)

    def body_of(self, node: ast.FunctionDef) -> tuple[list[ast.stmt], Liveness]:
        """The body of this function, or of one inside, with its returns moved to the end, and its liveness."""
        if id(node) not in self._bodies:
            body = move_returns_to_the_end(node.body)
            self._bodies[id(node)] = body, Liveness(body)
        return self._bodies[id(node)]


class ModuleNames:
    """Names that a function finds outside of itself: closure, module, built-ins. They are constants of the kernel."""

    def __init__(self, function: Callable):
        self._globals = function.__globals__
        self._cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def lookup(self, name: str) -> Any:
        """The value of `name`, MISSING if there is none."""
        if name in self._cells:
            try:
                return self._cells[name].cell_contents
            except ValueError:
                return MISSING
        if name in self._globals:
            return self._globals[name]
        return getattr(builtins, name, MISSING)

    def known(self) -> list[str]:
        """All names, for suggestions."""
        return [*self._cells, *self._globals]


@functools.lru_cache(maxsize=1024)
def source_of(function: Callable) -> FunctionSource:
    """The source of `function`. Raises CompileError if it cannot be read or is no plain `def`."""
    return FunctionSource(function)
