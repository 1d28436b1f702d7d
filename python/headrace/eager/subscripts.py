"""Subscripts that Python has evaluated, as the syntax that the frontend reads, with the source's own spelling."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any


def subscript_of(item: Any, source: ast.Subscript | None, unwrap: Callable[[Any], Any]) -> ast.expr:
    """The syntax of ``[item]``; `source` is what the program has there, for messages. Its values are `unwrap`ped."""
    written = None if source is None else source.slice
    if not isinstance(item, tuple):
        return _position(item, written, unwrap)
    parts = written.elts if isinstance(written, ast.Tuple) and len(written.elts) == len(item) else [None] * len(item)
    elements = [_position(one, part, unwrap) for one, part in zip(item, parts, strict=True)]
    return ast.Tuple(elts=elements, ctx=ast.Load())


def _position(item: Any, source: ast.expr | None, unwrap: Callable[[Any], Any]) -> ast.expr:
    if not isinstance(item, slice):
        return _value(item, source, unwrap)
    spelled = source if isinstance(source, ast.Slice) else ast.Slice()
    ends = ((item.start, spelled.lower), (item.stop, spelled.upper), (item.step, spelled.step))
    lower, upper, step = (None if end is None else _value(end, part, unwrap) for end, part in ends)
    return ast.Slice(lower=lower, upper=upper, step=step)


def _value(value: Any, source: ast.expr | None, unwrap: Callable[[Any], Any]) -> ast.expr:
    """A node that stands for `value`, see `headrace.eager.emitter`."""
    node = ast.Name(id=ast.unparse(source) if source is not None else str(value), ctx=ast.Load())
    node.headrace_value = unwrap(value)  # type: ignore[attr-defined]
    return node
