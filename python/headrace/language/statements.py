"""Statements: assignments, branches, loops, functions inside of kernels; everything else is refused at its line."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from headrace.language import access, checks, functions
from headrace.language.branches import RESULT, branch_statement
from headrace.language.emitter import Emitter
from headrace.language.expressions import binary_values
from headrace.language.loops import Loop, emit_for, emit_unrolled, emit_while
from headrace.language.operators import SYMBOLS, truth
from headrace.language.pending import written
from headrace.language.values import Array, Part, Product, describe, is_constant

#: What to write instead of statements that kernels do not have.
_REFUSED = {
    "Break": "break is not part of the kernel language: write while with the condition, or a shorter range",
    "Continue": "continue is not part of the kernel language: put the rest of the loop's body under an if",
    "With": "with is not part of the kernel language: write its body alone",
    "Try": "try is not part of the kernel language: nothing in a kernel raises",
    "Raise": "raise is not part of the kernel language: write hr.static_assert for what is known at compile time",
    "Import": "import is not part of the kernel language: write it at the top of the file",
    "ImportFrom": "import is not part of the kernel language: write it at the top of the file",
    "Global": "global is not part of the kernel language: pass a parameter, return a value",
    "Nonlocal": "nonlocal is not part of the kernel language: return the value from the function",
    "Delete": "del is not part of the kernel language: the compiler sees when a value is dead",
    "ClassDef": "class is not part of the kernel language: use tuples",
    "Match": "match is not part of the kernel language: write if and elif",
    "AsyncFor": "async is not part of the kernel language: write for",
    "AsyncWith": "async is not part of the kernel language: write its body alone",
    "AsyncFunctionDef": "async is not part of the kernel language: write def with @hr.inline",
}


def execute(em: Emitter, body: list[ast.stmt]) -> None:
    """Emits `body`, whose returns come last."""
    for statement in body:
        with em.at(statement):
            handler = _HANDLERS.get(type(statement))
            if handler is None:
                kind = type(statement).__name__
                em.fail(_REFUSED.get(kind, f"{kind} is not part of the kernel language"))
            handler(em, statement)


def _assign(em: Emitter, node: ast.Assign) -> None:
    value = _stored(em, em.evaluate(node.value))
    for target in node.targets:
        assign_to(em, target, value)


def _stored(em: Emitter, value: Any) -> Any:
    """A value that goes by a name is computed once: a product takes its accumulator now or never."""
    if isinstance(value, Product):
        return written(em, value)
    if isinstance(value, tuple):
        return tuple(_stored(em, item) for item in value)
    return value


def assign_to(em: Emitter, target: ast.expr, value: Any) -> None:
    """``target = value``."""
    with em.at(target):
        if isinstance(target, ast.Name):
            if isinstance(value, Loop):
                em.fail("expected a loop's range in a for statement, got an assignment: write for x in ...")
            em.call_it(value, target.id)
            em.scope.variables[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            _unpack(em, target, value)
        elif isinstance(target, ast.Subscript):
            access.store(em, _target_part(em, target), value)
        elif isinstance(target, ast.Attribute):
            em.fail("expected a name or a part of an array on the left of '=', got an attribute")
        else:
            em.fail("expected names without '*' on the left of '='")


def _unpack(em: Emitter, target: ast.Tuple | ast.List, value: Any) -> None:
    if not isinstance(value, tuple):
        em.fail(f"expected a tuple of {len(target.elts)} values to unpack, got {describe(value)}")
    if len(value) != len(target.elts):
        em.fail(
            f"expected {len(target.elts)} values to unpack, got {len(value)}: write a name for each, _ for what "
            "is not used"
        )
    for element, item in zip(target.elts, value, strict=True):
        assign_to(em, element, item)


def _target_part(em: Emitter, target: ast.Subscript) -> Part:
    owner = em.evaluate(target.value)
    if not isinstance(owner, Array):
        advice = "a tile cannot be changed in part, write x = hr.where(mask, new, x)"
        em.fail(f"expected an array before '[' on the left of '=', got {describe(owner)}: {advice}")
    return access.make_part(em, owner, target.slice)


def _augmented(em: Emitter, node: ast.AugAssign) -> None:
    symbol = SYMBOLS[type(node.op)]
    if isinstance(node.target, ast.Subscript):
        with em.at(node.target):
            part = _target_part(em, node.target)
            before = access.load(em, part)
        access.store(em, part, binary_values(em, symbol, before, em.evaluate(node.value)))
        return
    if not isinstance(node.target, ast.Name):
        em.fail("expected a name or a part of an array on the left, got an attribute")
    before = em.evaluate(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
    value = binary_values(em, symbol, before, em.evaluate(node.value))
    assign_to(em, node.target, _stored(em, value))


def _annotated(em: Emitter, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign_to(em, node.target, _stored(em, em.evaluate(node.value)))


def _expression(em: Emitter, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):
        return
    value = em.evaluate(node.value)
    if isinstance(value, Loop):
        em.fail("expected a loop's range in a for statement: write for x in ...")


def _if(em: Emitter, node: ast.If) -> None:
    test = em.evaluate(node.test)
    if is_constant(test) or isinstance(test, tuple):
        em.execute(node.body if test else node.orelse)
        return
    with em.at(node.test):
        condition = truth(em, test, "'if'")
    branch_statement(em, node, condition)


def _check_loop(em: Emitter, node: ast.For | ast.While) -> None:
    if node.orelse:
        em.fail("else of a loop is not part of the kernel language: write its body after the loop", node.orelse[0])
    for inner in ast.walk(node):
        if isinstance(inner, ast.Return) and not _inside_function(node, inner):
            em.fail(
                "return in a loop is not part of the kernel language: carry a flag, or return after the loop", inner
            )


def _inside_function(loop: ast.AST, node: ast.AST) -> bool:
    return any(isinstance(outer, ast.FunctionDef) and any(inner is node for inner in ast.walk(outer))
               for outer in ast.walk(loop))  # fmt: skip


def _for(em: Emitter, node: ast.For) -> None:
    _check_loop(em, node)
    iterable = em.evaluate(node.iter)
    assign = lambda target, value: assign_to(em, target, value)  # noqa: E731
    if isinstance(iterable, Loop):
        with em.at(node.iter):
            if not isinstance(node.target, ast.Name) and iterable.coordinates is None:
                em.fail("expected one name for the number of a loop", node.target)
        emit_for(em, node, iterable, assign)
    elif isinstance(iterable, tuple):
        emit_unrolled(em, node, iterable, assign)
    else:
        em.fail("expected range, hr.pipelined, hr.persistent, hr.unroll or a tuple after 'in', got "
                f"{describe(iterable)}: write for i in range(n)", node.iter)  # fmt: skip


def _while(em: Emitter, node: ast.While) -> None:
    _check_loop(em, node)
    emit_while(em, node)


def _function(em: Emitter, node: ast.FunctionDef) -> None:
    em.scope.variables[node.name] = functions.define(em, node)


def _return(em: Emitter, node: ast.Return) -> None:
    em.scope.variables[RESULT] = None if node.value is None else _stored(em, em.evaluate(node.value))


def _assert(em: Emitter, node: ast.Assert) -> None:
    test = em.evaluate(node.test)
    if not is_constant(test):
        checks.assert_at_run_time(em, node, test)
    elif not test:
        message = em.evaluate(node.msg) if node.msg is not None else None
        em.fail(str(message) if message is not None else f"this assertion does not hold: {ast.unparse(node.test)}")


def _pass(em: Emitter, node: ast.Pass) -> None:
    pass


_HANDLERS: dict[type, Callable] = {
    ast.Assign: _assign, ast.AugAssign: _augmented, ast.AnnAssign: _annotated, ast.Expr: _expression, ast.If: _if,
    ast.For: _for, ast.While: _while, ast.FunctionDef: _function, ast.Return: _return, ast.Assert: _assert,
    ast.Pass: _pass,
}  # fmt: skip
