"""Makes of a kernel the function that Python executes: the same lines, with the language's meaning where it differs.

Added are calls of functions that `headrace.eager.evaluation` provides: where variables of several types meet they get
the type that they have in the compiled kernel, `not` makes an i1, and a product that goes by a name is computed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any

from headrace.eager.frames import Frames
from headrace.language.branches import RESULT
from headrace.language.returns import has_return
from headrace.language.source import FunctionSource, source_of
from headrace.language.templates import Constant, Template, Tuple

#: Types of variables where paths meet, by file, line and column of the loop or branch. Several calls, several types.
Merges = dict[tuple[str, int, int], dict[str, list[Template]]]


class Instrumented:
    """The functions of one kernel for one set of facts, compiled for Python."""

    def __init__(self, merges: Merges):
        self.frames = Frames()
        #: Types by number, for the code that gives them to variables.
        self.templates: list[tuple[Template, ...]] = []
        self._merges = merges
        self._codes: dict[Callable, CodeType] = {}

    def function(self, function: Callable, builtins: dict[str, Any]) -> Callable:
        """`function` with `builtins` in place of Python's."""
        code = self._codes.get(function)
        if code is None:
            code = self._codes[function] = _compiled(function, self._merges, self.templates)
            self.frames.add(code, source_of(function))
        names = {**function.__globals__, "__builtins__": builtins}  # type: ignore[attr-defined]
        made = FunctionType(code, names, function.__name__, function.__defaults__, _closure(function, code))  # type: ignore[attr-defined]
        made.__kwdefaults__ = function.__kwdefaults__  # type: ignore[attr-defined]
        return made


def _closure(function: Callable, code: CodeType) -> tuple[CellType, ...]:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))  # type: ignore[attr-defined]
    return tuple(cells[name] for name in code.co_freevars)


def _compiled(function: Callable, merges: Merges, templates: list[tuple[Template, ...]]) -> CodeType:
    source = source_of(function)
    original: CodeType = function.__code__  # type: ignore[attr-defined]
    node = _Instrument(source, merges, templates).visit(copy.deepcopy(source.node))
    node.decorator_list, node.returns = [], None
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        argument.annotation = None
    # Inside of another function, names of the closure are free as they were.
    cells = [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)) for name in original.co_freevars]
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    outer = ast.FunctionDef("outer", nothing, [*cells, node], [])
    outer.type_params = []  # type: ignore[attr-defined]
    module = ast.fix_missing_locations(ast.Module([outer], []))
    compiled = compile(module, original.co_filename, "exec", dont_inherit=True)
    code = _inner(_inner(compiled, "outer"), function.__name__)
    named: dict[str, Any] = {"co_qualname": original.co_qualname} if hasattr(original, "co_qualname") else {}
    return code.replace(**named)


def _inner(code: CodeType, name: str) -> CodeType:
    return next(one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name)


class _Instrument(ast.NodeTransformer):
    """Adds the calls. What is added has the place of what it is added to. `table` gets the types they speak of."""

    def __init__(self, source: FunctionSource, merges: Merges, table: list[tuple[Template, ...]]):
        self._table = table
        self._filename = source.filename
        self._merges = merges
        self._branches: list[ast.If] = []

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                value[:] = self._block(value)
            elif isinstance(value, list):
                value[:] = [self.visit(item) if isinstance(item, ast.AST) else item for item in value]
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """What follows a branch that returns belongs to it: its other side."""
        outer, visited = len(self._branches), []
        for statement in statements:
            result = self.visit(statement)
            visited += result if isinstance(result, list) else [result]
            if isinstance(statement, ast.If) and has_return([statement]):
                self._branches.append(statement)
        del self._branches[outer:]
        return visited

    def visit_For(self, node: ast.For) -> Any:
        return self._loop(node)

    def visit_While(self, node: ast.While) -> Any:
        return self._loop(node)

    def _loop(self, node: ast.For | ast.While) -> list[ast.stmt]:
        names = self._names(node)
        self.generic_visit(node)
        node.body += [self._retyped(name, templates, node.body[-1]) for name, templates in names.items()]
        return [*(self._retyped(name, templates, node) for name, templates in names.items()), node]

    def visit_If(self, node: ast.If) -> Any:
        self._branches.append(node)
        self.generic_visit(node)
        self._branches.pop()
        if has_return([node]):
            return node
        return [node, *(self._retyped(name, templates, node) for name, templates in self._names(node).items())]

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        templates = self._found(node).get("")
        self.generic_visit(node)
        return self._typed(node, templates, node) if templates else node

    def visit_Return(self, node: ast.Return) -> Any:
        self.generic_visit(node)
        if node.value is None:
            return node
        value = _call("__headrace_stored__", [node.value], node)
        found = [merged[RESULT] for branch in self._branches if RESULT in (merged := self._found(branch))]
        node.value = self._typed(value, found[0], node) if found else value
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        if any(isinstance(part, (ast.Call, ast.MatMult)) for part in ast.walk(node.value)):
            node.value = _call("__headrace_stored__", [node.value], node.value)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return _call("__headrace_not__", [node.operand], node) if isinstance(node.op, ast.Not) else node

    def _found(self, node: ast.stmt | ast.expr) -> dict[str, list[Template]]:
        return self._merges.get((self._filename, node.lineno, node.col_offset), {})

    def _names(self, node: ast.stmt) -> dict[str, list[Template]]:
        """Variables of which numbers may be meant that have a type of the language."""
        merged = self._found(node)
        return {name: templates for name, templates in merged.items() if name not in ("", RESULT) and _any(templates)}

    def _retyped(self, name: str, templates: list[Template], place: ast.AST) -> ast.stmt:
        read = ast.copy_location(ast.Name(name, ast.Load()), place)
        statement = ast.Assign([ast.Name(name, ast.Store())], self._typed(read, templates, place))
        return ast.fix_missing_locations(ast.copy_location(statement, place))

    def _typed(self, value: ast.expr, templates: list[Template], place: ast.AST) -> ast.expr:
        self._table.append(tuple(templates))
        return _call("__headrace_as__", [value, ast.Constant(len(self._table) - 1)], place)


def _any(templates: list[Template]) -> bool:
    return any(_any(list(t.items)) if isinstance(t, Tuple) else not isinstance(t, Constant) for t in templates)


def _call(name: str, args: list[ast.expr], place: ast.AST) -> ast.expr:
    call = ast.Call(ast.Name(name, ast.Load()), args, [])
    return ast.fix_missing_locations(ast.copy_location(call, place))
