"""Branches on run-time conditions: `if` statements, ``x if c else y``, `and` and `or`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from headrace.language.dtypes import i1
from headrace.language.emitter import Emitter
from headrace.language.errors import Note
from headrace.language.liveness import names_assigned
from headrace.language.mlir import Block
from headrace.language.operators import apply, select
from headrace.language.source import MISSING
from headrace.language.templates import MismatchError, Template, instantiate, join, supply, template_of, types
from headrace.language.values import Scalar, Tile, Unset

#: The variable that a function's result is merged as.
RESULT = "return"


def emit_if(
    em: Emitter, condition: Scalar, yes: Block, no: Block, slots: list[tuple[Template, Any, Any, str]]
) -> list[Any]:
    """scf.if of both blocks; `slots` are (template, value of yes, value of no, name). The merged values."""
    kinds = [text for template, *_ in slots for text in types(template)]
    for block, side in ((yes, 1), (no, 2)):
        with em.inside(block):
            names = [one for slot in slots for one in supply(em, slot[0], slot[side])]
            if names:
                em.op(f"scf.yield {', '.join(names)} : {', '.join(kinds)}")
    results = tuple(em.names.fresh(slot[3]) for slot in slots for _ in types(slot[0]))
    arrow = f" -> ({', '.join(kinds)})" if kinds else ""
    rest = (" else ", no) if no.ops else ()
    em.op(f"scf.if {condition.name}{arrow} ", yes, *rest, results=results, pure=True)
    named: Iterator[str] = iter(results)
    return [instantiate(em, slot[0], named) for slot in slots]


def choose(
    em: Emitter, node: ast.IfExp, condition: Scalar, yes: Callable[[], Any], no: Callable[[], Any], what: str
) -> Any:
    """The value of `yes` or `no`, of which only one is computed if computing it has an effect."""
    blocks, values = [], []
    for branch in (yes, no):
        with em.inside(Block()) as block:
            values.append(branch())
        blocks.append(block)
    try:
        template = join(*map(template_of, values))
    except MismatchError as mismatch:
        em.fail(f"expected one type in both branches of {what}, got {mismatch}: cast or broadcast one of them")
    em.merged(node, {"": template})
    if not types(template):
        for block in blocks:
            if not block.is_pure():
                em.fail(
                    f"expected branches of {what} that only compute, got the same constant of both: write an if "
                    "statement"
                )
        return values[0]
    if all(map(Block.is_pure, blocks)) and not any(isinstance(value, (Tile, tuple)) for value in values):
        names = []
        for block, value in zip(blocks, values, strict=True):
            em.splice(block)
            names.append(em.as_scalar(supply(em, template, value)[0], template.dtype))
        return select(em, condition, *names)
    return emit_if(em, condition, *blocks, [(template, *values, "v")])[0]


def both(em: Emitter, is_and: bool, left: Scalar, right: Callable[[], Scalar]) -> Scalar:
    """``left and right`` (or `or`) of i1; `right` is computed only if it decides, unless computing it has no effect."""
    with em.inside(Block()) as block:
        value = right()
    if block.is_pure():
        em.splice(block)
        return apply(em, "arith.andi" if is_and else "arith.ori", left, value)
    constant = em.constant(not is_and, i1)
    slot = (template_of(value), *((value, constant) if is_and else (constant, value)), "cond")
    return emit_if(em, left, *((block, Block()) if is_and else (Block(), block)), [slot])[0]


def branch_statement(em: Emitter, node: ast.If, condition: Scalar) -> None:
    """Both branches of an `if` statement; variables that either assigns, and somebody reads later, are merged."""
    variables = em.scope.variables
    before = dict(variables)
    after, blocks = [], []
    for body in (node.body, node.orelse):
        variables.clear()
        variables.update(before)
        with em.inside(Block()) as block:
            em.execute(body)
        after.append(dict(variables))
        blocks.append(block)
    live = em.scope.liveness.after(node)
    assigned = names_assigned(node.body) | names_assigned(node.orelse)
    changed = sorted(
        name for name in (*assigned, RESULT) if any(after[i].get(name) is not before.get(name) for i in (0, 1))
    )
    slots, merged = [], []
    variables.clear()
    variables.update(before)
    for name in changed:
        if name not in live and name != RESULT:
            variables[name] = Unset("has no certain value after the if above", f"assign '{name}' before this line")
            continue
        slot = _slot(em, node, name, after)
        if isinstance(slot, Unset):
            variables[name] = slot
        else:
            merged.append(name)
            slots.append(slot)
    em.merged(node, {name: slot[0] for name, slot in zip(merged, slots, strict=True)})
    variables.update(zip(merged, emit_if(em, condition, *blocks, slots), strict=True))


def _slot(em: Emitter, node: ast.If, name: str, after: list[dict]) -> tuple[Template, Any, Any, str] | Unset:
    yes, no = (side.get(name, MISSING) for side in after)
    test = ast.unparse(node.test)
    for value, branch, other in ((yes, f"if '{test}'", "if"), (no, f"unless '{test}'", "else")):
        if value is MISSING or isinstance(value, Unset):
            if name == RESULT:
                em.fail("expected a value to be returned on every path, got none " + branch + ": write return in "
                        "that case as well, or a value after the if", node)  # fmt: skip
            return Unset(f"has a value only {'unless' if other == 'if' else 'if'} '{test}'",
                         f"assign '{name}' before the if, or under {other} as well", em.place(node),
                         "the if is here")  # fmt: skip
    try:
        return join(template_of(yes), template_of(no)), yes, no, name if name != RESULT else "result"
    except MismatchError as mismatch:
        shown = "the returned value" if name == RESULT else f"'{name}'"
        notes = tuple(
            Note(f"here it is {value}", value.place) for value in (yes, no) if isinstance(value, Tile) and value.place
        )
        em.fail(f"expected {shown} of one type after the if, got {mismatch}: cast or broadcast one of them, or use "
                "two names",
                node, notes)  # fmt: skip
