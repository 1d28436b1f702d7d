"""Refuses what the compiler refuses before a kernel is interpreted: the frontend emits it, for its rules alone.

Statements that only look at values are left out of that: calls of `print`, `breakpoint` and other functions of Python
whose result is not used, `raise`, `import`, and assertions on run-time values.
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.eager.instrument import Instrumented, Merges
from headrace.language import expressions, statements
from headrace.language.api.builtin import is_builtin
from headrace.language.dtypes import DType
from headrace.language.emitter import Emitter
from headrace.language.facts import Fact
from headrace.language.functions import InlineFunction
from headrace.language.kernel import KernelFunction, is_stale
from headrace.language.mlir import Block
from headrace.language.program import Program, emit
from headrace.language.source import MISSING
from headrace.language.templates import Template
from headrace.language.values import Array, Function, Scalar, Tile, Unset, is_constant

#: Programs kept for one kernel, as for compiled ones.
_LIMIT = 256


@dataclass(frozen=True)
class Checked:
    """A kernel that the language accepts: `program` without the statements that only look, `code` for Python."""

    program: Program
    code: Instrumented


_CHECKED: weakref.WeakKeyDictionary[KernelFunction, dict[tuple, Checked]] = weakref.WeakKeyDictionary()


def checked(kernel: KernelFunction, facts: dict[str, Fact]) -> Checked:
    """`kernel` for `facts`; kept until a constant from outside changes. Raises CompileError."""
    known = _CHECKED.setdefault(kernel, {})
    key = tuple((name, type(fact), fact) for name, fact in facts.items())
    found = known.get(key)
    if found is None or is_stale(found.program):
        if len(known) >= _LIMIT:
            known.clear()
        emitter = _Emitter()
        program = emit(kernel.source, facts, emitter=emitter, **kernel.knobs)
        found = known[key] = Checked(program, Instrumented(emitter.merges))
    return found


class _Emitter(Emitter):
    """Leaves out statements that only look, and notes where values of several types meet."""

    def __init__(self) -> None:
        super().__init__(expressions.evaluate, _execute)
        self.merges: Merges = {}

    def merged(self, node: ast.AST, templates: dict[str, Template]) -> None:
        assert self.scope is not None
        place = (self.scope.source.filename, node.lineno, node.col_offset)  # type: ignore[attr-defined]
        noted = self.merges.setdefault(place, {})
        for name, template in templates.items():
            noted.setdefault(name, []).append(template)


def _execute(em: Emitter, body: list[ast.stmt]) -> None:
    for statement in body:
        if not _only_looks(em, statement):
            statements.execute(em, [statement])


def _only_looks(em: Emitter, statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Raise)):
        return True
    if isinstance(statement, ast.Assert):
        with em.inside(Block()), em.at(statement):
            return not is_constant(em.evaluate(statement.test))
    return (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and _is_pythons(em, statement.value)
    )


def _is_pythons(em: Emitter, call: ast.Call) -> bool:
    """Whether `call` is of a function that is none of the language."""
    names: list[str] = []
    function: ast.expr = call.func
    while isinstance(function, ast.Attribute):
        names.insert(0, function.attr)
        function = function.value
    if not isinstance(function, ast.Name) or em.scope is None:
        return False
    value: Any = em.scope.lookup(function.id)
    if value is MISSING or isinstance(value, Unset):
        return function.id in _imported(em)
    for name in names:
        if isinstance(value, (Scalar, Tile, Array)):
            return name == "numpy"
        value = getattr(value, name, MISSING)
    return isinstance(value, Callable) and not _is_of_language(value)  # type: ignore[arg-type]


def _is_of_language(value: Any) -> bool:
    kinds = (InlineFunction, Function, DType, KernelFunction)
    return is_builtin(value) or isinstance(value, kinds) or hasattr(value, "headrace_kernel")


def _imported(em: Emitter) -> set[str]:
    """Names that an import inside of the function binds."""
    assert em.scope is not None
    imports = [n for n in ast.walk(em.scope.source.node) if isinstance(n, (ast.Import, ast.ImportFrom))]
    return {(alias.asname or alias.name).split(".")[0] for node in imports for alias in node.names}
