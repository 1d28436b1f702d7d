"""Functions that a kernel hands to `hr.reduce` and `hr.scan`: from Python's object back to the syntax.

They are evaluated once for all elements, as the compiler does, and not by Python for each.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from headrace.eager.frames import Frames
from headrace.language.scope import Scope
from headrace.language.values import Function


def language_function(frames: Frames, function: FunctionType, unwrap: Callable[[Any], Any]) -> Function | FunctionType:
    """`function`, a lambda or one that the kernel defines, as the language has it; itself if it is not found."""
    code = function.__code__
    source = frames.source_of(code)
    if source is None:
        return function
    functions = [node for node in ast.walk(source.node) if isinstance(node, (ast.Lambda, ast.FunctionDef))]
    found = [node for node in functions if _may_be(node, code)]
    if not found:
        return function
    node = min(found, key=lambda node: _distance(node, code))
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    variables = {name: unwrap(cell.cell_contents) for name, cell in cells}
    names = [argument.arg for argument in node.args.args]
    defaults = function.__defaults__ or ()
    values = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    return Function(node, Scope(source, frozenset(), None, None, variables), function.__name__.strip("<>"), values)


def _may_be(node: ast.Lambda | ast.FunctionDef, code: CodeType) -> bool:
    """Whether `code` is that of the function `node`, as far as names and lines tell."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    if code.co_firstlineno != min(one.lineno for one in (node, *decorators)):
        return False
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
    arguments = tuple(argument.arg for argument in node.args.args)
    return name == code.co_name and arguments == code.co_varnames[: code.co_argcount]


def _distance(node: ast.Lambda | ast.FunctionDef, code: CodeType) -> int:
    """How far the body of a lambda is from the first of `code`: several may stand in one line."""
    if not isinstance(node, ast.Lambda) or not hasattr(code, "co_positions"):
        return 0
    columns = [start for line, _, start, _ in code.co_positions() if start is not None and line == node.body.lineno]
    inside = [c for c in columns if node.body.col_offset <= c < (node.body.end_col_offset or 0)]
    return len(columns) - len(inside)
