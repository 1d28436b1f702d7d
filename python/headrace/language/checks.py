"""What a kernel says while it runs: asserts, and lines that it prints."""

from __future__ import annotations

import ast
from typing import Any

from headrace.language.dtypes import DType, f32, i1, index
from headrace.language.emitter import Emitter
from headrace.language.mlir import quote
from headrace.language.operators import truth
from headrace.language.pending import written
from headrace.language.values import Product, Scalar, Tile, Transposed, describe, is_number

_LONGEST_TEXT, _MOST_VALUES = 1000, 8
_INDEX_RANGE = range(-(2**31), 2**31)


def assert_at_run_time(em: Emitter, node: ast.Assert, test: Any) -> None:
    """``assert test, message`` of what is known when the kernel runs. Without a message the condition's text is one."""
    if em.isolated:
        em.fail("assert is not part of functions that combine elements: assert what comes out")
    if isinstance(test, Tile):
        if test.dtype is not i1:
            em.fail(f"expected a condition in assert, got {describe(test)}: compare it, as in x != 0", node.test)
        condition = _finished(em, test)
    else:
        with em.at(node.test):
            condition = truth(em, test, "assert")
    if node.msg is None:
        message = ast.unparse(node.test).replace("\n", " ")[:_LONGEST_TEXT]
    else:
        message = em.evaluate(node.msg)
        with em.at(node.msg):
            _check_text(em, message, "as the message of assert", "print the values before")
    em.op(f"tile.assert {condition.name}, {quote(message)} : {condition.mlir}")


def print_line(em: Emitter, args: list[Any], kwargs: dict[str, Any]) -> None:
    """``print("text", a, b)``."""
    if em.isolated:
        em.fail("print is not part of functions that combine elements: print what comes out")
    if kwargs:
        em.fail(f"expected no keyword arguments of print in a kernel, got {next(iter(kwargs))}=")
    _check_text(em, args[0] if args else None, "as the first argument of print", 'write print("x", x)')
    values = [_printable(em, value) for value in args[1:]]
    if len(values) > _MOST_VALUES:
        em.fail(f"expected at most {_MOST_VALUES} values in print, got {len(values)}: print the rest on another line")
    tiles = [value for value in values if isinstance(value, Tile)]
    for tile in tiles:
        if tile.shape != tiles[0].shape:
            em.fail(f"expected tiles of one shape in print, got {describe(tiles[0])} and {describe(tile)}: print "
                    "them one by one")  # fmt: skip
    names = "".join(f", {value.name}" for value in values)
    types = f" : {', '.join(value.mlir for value in values)}" if values else ""
    em.op(f"tile.print {quote(args[0])}{names}{types}")


def _check_text(em: Emitter, text: Any, where: str, advice: str) -> None:
    if not isinstance(text, str):
        em.fail(f"expected a constant string {where}, got {describe(text)}: {advice}")
    if not text or len(text.encode()) > _LONGEST_TEXT or any(c < " " or c == "\x7f" for c in text):
        em.fail(f"expected one line of 1 to {_LONGEST_TEXT} bytes {where}, got {text[:40]!r}")


def _finished(em: Emitter, tile: Tile) -> Tile:
    return written(em, tile) if isinstance(tile, (Product, Transposed)) else tile


def _printable(em: Emitter, value: Any) -> Scalar | Tile:
    if isinstance(value, bool):
        return em.constant(value, i1)
    if isinstance(value, int) and value in _INDEX_RANGE:
        return em.constant(value, index)
    if isinstance(value, float):
        return em.constant(value, f32)
    if not isinstance(value, (Scalar, Tile)):
        is_known = is_number(value) or isinstance(value, (str, DType))
        advice = "put constants into its text" if is_known else "load it first"
        em.fail(f"expected scalars and tiles in print, got {describe(value)}: {advice}")
    if value.dtype.is_float and value.dtype.bits < 16:
        em.fail(f"expected values of 16 bits or more, or integers, in print, got {describe(value)}: write x.to(hr.f32)")
    return _finished(em, value) if isinstance(value, Tile) else value
