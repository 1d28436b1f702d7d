"""Expressions: constants are computed by Python, the rest becomes operations."""

from __future__ import annotations

import ast
import difflib
import functools
import operator
import types as python_types
from collections.abc import Callable
from typing import Any

from headrace.language import access, attributes, calls, hints
from headrace.language.branches import both, choose
from headrace.language.dtypes import DType, i1
from headrace.language.emitter import Emitter
from headrace.language.errors import Note
from headrace.language.operators import SYMBOLS, binary, compare, fold, truth, unary
from headrace.language.source import MISSING
from headrace.language.values import (
    Array,
    Function,
    Method,
    Scalar,
    Tile,
    Unset,
    describe,
    is_constant,
    is_number,
)

_BINARY: dict[str, Callable] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift, "@": operator.matmul,
}  # fmt: skip
_UNARY: dict[str, Callable] = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_}
_COMPARE: dict[str, Callable] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
#: Constants longer than this many bits, or strings longer than so many characters, are somebody's mistake.
_LARGEST_POWER = 4096


def evaluate(em: Emitter, node: ast.expr) -> Any:
    """The value of `node`. Raises CompileError at the node that is refused."""
    handler = _HANDLERS.get(type(node))
    with em.at(node):
        if handler is None:
            kind, instead = hints.for_syntax(type(node).__name__)
            em.fail(f"{kind} is not part of the kernel language: write {instead}")
        return handler(em, node)


def _constant(em: Emitter, node: ast.Constant) -> Any:
    if isinstance(node.value, (bytes, complex)):
        em.fail(f"expected a number, a string or None, got {type(node.value).__name__}")
    return node.value


def _name(em: Emitter, node: ast.Name) -> Any:
    value = em.scope.lookup(node.id)
    if isinstance(value, Unset):
        notes = (Note(value.note, value.place),) if value.place else ()
        em.fail(f"'{node.id}' {value.why}: {value.advice}", notes=notes)
    if value is MISSING:
        close = difflib.get_close_matches(node.id, em.scope.known(), 1)
        hint = f"; did you mean '{close[0]}'?" if close else ": assign it, or pass it as a parameter"
        em.fail(f"unknown name '{node.id}'{hint}")
    if not em.scope.has(node.id):
        em.reads.append((em.scope.source.module.lookup, node.id, value))
    return known_constant(em, value, f"'{node.id}'")


def known_constant(em: Emitter, value: Any, what: str) -> Any:
    """`value` from outside of the kernel, if it can be a constant of it."""
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return value.item()
    if isinstance(value, (list, dict, set)) or hasattr(value, "__array_interface__") or hasattr(value, "data_ptr"):
        em.fail(f"expected {what} to be a constant from outside of the kernel, got {type(value).__name__}: use a "
                "number or a tuple, or pass an array as a parameter")  # fmt: skip
    return value


def _attribute(em: Emitter, node: ast.Attribute) -> Any:
    owner = evaluate(em, node.value)
    if isinstance(owner, (Scalar, Tile, Array)):
        return attributes.attribute(em, owner, node.attr)
    if isinstance(owner, python_types.ModuleType):
        value = getattr(owner, node.attr, MISSING)
        if value is MISSING:
            hint = ""
            if owner.__name__ == "headrace":
                meant = hints.for_function(node.attr, owner.__all__)
                hint = f"; did you mean {meant}?" if meant else ""
            em.fail(f"unknown name '{ast.unparse(node)}'{hint}")
        em.reads.append((functools.partial(getattr, owner), node.attr, value))
        return known_constant(em, value, f"'{ast.unparse(node)}'")
    if isinstance(owner, (Function, Method)) or owner is None or is_number(owner) or isinstance(owner, (str, tuple)):
        em.fail(f"expected a tile, an array, a dtype or a module before '.{node.attr}', got {describe(owner)}")
    value = getattr(owner, node.attr, MISSING)
    if value is MISSING:
        em.fail(f"{describe(owner)} has no '{node.attr}'")
    return known_constant(em, value, f"'{ast.unparse(node)}'")


def _tuple(em: Emitter, node: ast.Tuple | ast.List) -> tuple:
    items: list[Any] = []
    for element in node.elts:
        if isinstance(element, ast.Starred):
            value = evaluate(em, element.value)
            if not isinstance(value, tuple):
                em.fail(f"expected a tuple after '*', got {describe(value)}", element)
            items.extend(value)
        else:
            items.append(evaluate(em, element))
    return tuple(items)


def _binary(em: Emitter, node: ast.BinOp) -> Any:
    left, right = evaluate(em, node.left), evaluate(em, node.right)
    return binary_values(em, SYMBOLS[type(node.op)], left, right)


def binary_values(em: Emitter, symbol: str, left: Any, right: Any) -> Any:
    """``left symbol right`` of any two values."""
    if isinstance(left, tuple) and isinstance(right, tuple) and symbol == "+":
        return left + right
    if is_constant(left) and is_constant(right):
        if symbol in ("**", "<<") and is_number(right) and abs(right) > _LARGEST_POWER:
            em.fail(f"expected at most {_LARGEST_POWER} on the right of '{symbol}', got {right}")
        return fold(em, f"'{symbol}'", lambda: _BINARY[symbol](left, right))
    return binary(em, symbol, left, right)


def _unary(em: Emitter, node: ast.UnaryOp) -> Any:
    value = evaluate(em, node.operand)
    symbol = SYMBOLS[type(node.op)]
    if is_constant(value) or (symbol == "not" and isinstance(value, tuple)):
        return fold(em, f"'{symbol}'", lambda: _UNARY[symbol](value))
    return unary(em, symbol, value)


def _boolean(em: Emitter, node: ast.BoolOp) -> Any:
    is_and = isinstance(node.op, ast.And)
    word = "and" if is_and else "or"

    def operand(part: ast.expr) -> Scalar:
        value = evaluate(em, part)
        with em.at(part):
            if isinstance(value, bool):
                return em.constant(value, i1)
            if (isinstance(value, Scalar) and value.dtype is not i1) or is_number(value):
                em.fail(f"expected conditions in '{word}', got {describe(value)}: Python would give back an "
                        f"operand, write {_nonzero(part)}")  # fmt: skip
            return truth(em, value, f"'{word}'")

    value: Any = evaluate(em, node.values[0])
    for position, part in enumerate(node.values[1:]):
        if is_constant(value):
            # Python's own short circuit.
            if bool(value) is not is_and:
                return value
            value = evaluate(em, part)
            continue
        with em.at(node.values[position]):
            if isinstance(value, Scalar) and value.dtype is not i1:
                em.fail(f"expected conditions in '{word}', got {describe(value)}: Python would give back an "
                        f"operand, write {_nonzero(node.values[position])}")  # fmt: skip
            left = truth(em, value, f"'{word}'")
        value = both(em, is_and, left, lambda part=part: operand(part))
    return value


def _nonzero(node: ast.expr) -> str:
    text = ast.unparse(node)
    return f"{text} != 0" if isinstance(node, (ast.Name, ast.Constant)) else f"({text}) != 0"


def _compare(em: Emitter, node: ast.Compare) -> Any:
    """A chain evaluates each operand once; of tiles it is refused, as numpy does."""
    left = evaluate(em, node.left)
    result: Any = True
    for position, (op, part) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = evaluate(em, part)
        one = _compare_pair(em, op, left, right)
        if isinstance(one, Tile) and len(node.ops) > 1:
            em.fail("expected scalars in a chain of comparisons, got tiles: write (a < b) & (b < c)")
        if is_constant(result):
            result = one if result else result
        elif is_constant(one):
            result = result if one else False
        else:
            result = both(em, True, result, lambda one=one: one)
        if result is False and position + 1 < len(node.ops):
            return False
        left = right
    return result


def _compare_pair(em: Emitter, op: ast.cmpop, left: Any, right: Any) -> Any:
    if isinstance(op, (ast.Is, ast.IsNot)):
        if right is not None and left is not None:
            em.fail("expected None on one side of 'is': write == to compare values")
        return (left is right) is isinstance(op, ast.Is)
    if isinstance(op, (ast.In, ast.NotIn)):
        if not is_constant(left) or not isinstance(right, (tuple, str)):
            em.fail("expected constants in 'in': compare with == for run-time values")
        return fold(em, "'in'", lambda: (left in right) is isinstance(op, ast.In))
    symbol = SYMBOLS[type(op)]
    if is_constant(left) and is_constant(right):
        return fold(em, f"'{symbol}'", lambda: _COMPARE[symbol](left, right))
    return compare(em, symbol, left, right)


def _conditional(em: Emitter, node: ast.IfExp) -> Any:
    test = evaluate(em, node.test)
    if is_constant(test):
        return evaluate(em, node.body if test else node.orelse)
    with em.at(node.test):
        condition = truth(em, test, "'if'")
    return choose(
        em, node, condition, lambda: evaluate(em, node.body), lambda: evaluate(em, node.orelse), "'x if c else y'"
    )


def _subscript(em: Emitter, node: ast.Subscript) -> Any:
    owner = evaluate(em, node.value)
    if isinstance(owner, Array):
        return access.load(em, access.make_part(em, owner, node.slice))
    if isinstance(owner, Tile):
        item = evaluate(em, node.slice)
        return access.subscript_tile(em, owner, item if isinstance(node.slice, ast.Tuple) else (item,))
    item = evaluate(em, node.slice)
    if isinstance(owner, (tuple, str)) and not is_constant(item):
        em.fail(f"expected a constant index of a tuple, got {describe(item)}: loop with hr.unroll, or store the "
                "values in an array")  # fmt: skip
    if isinstance(owner, (DType, tuple, str)):
        return fold(em, "subscript", lambda: owner[item])
    return em.fail(f"expected an array, a tile or a tuple before '[', got {describe(owner)}")


def _slice(em: Emitter, node: ast.Slice) -> slice:
    parts = [None if part is None else evaluate(em, part) for part in (node.lower, node.upper, node.step)]
    if not all(map(is_constant, parts)):
        em.fail(
            "expected constants in the slice of a tuple or a tile: a tile has no parts, load the part from its array"
        )
    return slice(*parts)


def _lambda(em: Emitter, node: ast.Lambda) -> Function:
    return Function(node, em.scope, "lambda")


def _formatted(em: Emitter, node: ast.JoinedStr) -> str:
    text = ""
    for part in node.values:
        value = evaluate(em, part.value if isinstance(part, ast.FormattedValue) else part)
        if not is_constant(value):
            em.fail(f"expected constants in a formatted string, got {describe(value)}", part)
        if isinstance(part, ast.FormattedValue) and part.format_spec is not None:
            spec = _formatted(em, part.format_spec)
            text += fold(em, "format", lambda value=value, spec=spec: format(value, spec))
        else:
            text += str(value)
    return text


_HANDLERS: dict[type, Callable] = {
    ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute, ast.Tuple: _tuple, ast.List: _tuple,
    ast.BinOp: _binary, ast.UnaryOp: _unary, ast.BoolOp: _boolean, ast.Compare: _compare, ast.IfExp: _conditional,
    ast.Subscript: _subscript, ast.Slice: _slice, ast.Lambda: _lambda, ast.JoinedStr: _formatted, ast.Call: calls.call,
}  # fmt: skip
