"""Loops: which variables they carry from trip to trip, `tile.for`, `scf.for`, `scf.while`, and loops written out."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.language.dtypes import index
from headrace.language.emitter import Emitter
from headrace.language.errors import Note
from headrace.language.liveness import names_assigned
from headrace.language.mlir import Block
from headrace.language.operands import as_index
from headrace.language.operators import truth
from headrace.language.templates import (
    MismatchError,
    Template,
    instantiate,
    join,
    name,
    supply,
    template_of,
    types,
)
from headrace.language.values import Scalar, Tile, Unset, is_constant, is_number

#: Trips of a loop that is written out.
MAX_UNROLLED = 1024


@dataclass(frozen=True)
class Loop:
    """What a `for` runs over. `pipeline` is the annotation of tile.for, None for a plain loop.

    `coordinates` turns the loop's number into what its variable is, None if they are the same.
    """

    start: Any
    stop: Any
    step: Any = 1
    pipeline: str | None = None
    coordinates: Callable[[Scalar], Any] | None = None


@dataclass
class _Carried:
    """Variables that a loop hands from trip to trip, and their templates."""

    names: list[str]
    templates: list[Template]

    def types(self) -> list[str]:
        return [text for template in self.templates for text in types(template)]

    def hints(self) -> list[str]:
        return [one for one, template in zip(self.names, self.templates, strict=True) for _ in types(template)]

    def supply(self, em: Emitter, values: dict[str, Any]) -> list[str]:
        pairs = zip(self.names, self.templates, strict=True)
        return [text for one, template in pairs for text in supply(em, template, values[one])]

    def fits(self, values: dict[str, Any]) -> bool:
        """Whether `values` have the types that are carried."""
        for one, template in zip(self.names, self.templates, strict=True):
            try:
                if join(template, template_of(values[one])) != template:
                    return False
            except MismatchError:
                return False
        return True

    def bind(self, em: Emitter, values: tuple[str, ...]) -> dict[str, Any]:
        names = iter(values)
        return {one: instantiate(em, template, names) for one, template in zip(self.names, self.templates, strict=True)}


def _carried(em: Emitter, loop: ast.For | ast.While) -> _Carried:
    """Variables that a trip assigns and the next one, or what follows the loop, reads; as they are before the loop."""
    live = em.scope.liveness.head(loop)
    names, templates = [], []
    assigned = names_assigned(loop.body)
    for one, value in em.scope.variables.items():
        if one not in assigned or isinstance(value, Unset) or one not in live:
            continue
        template = template_of(value)
        known = em.templates.get((id(loop), one))
        if known is not None:
            with contextlib.suppress(MismatchError):
                template = known if join(template, known) == known else template
        names.append(one)
        templates.append(template)
    return _Carried(names, templates)


def _settle(em: Emitter, loop: ast.For | ast.While, emit: Callable[[_Carried], dict[str, Any]]) -> None:
    """Emits a loop with `emit`, which returns the variables after a trip, until what it carries keeps its type.

    A constant before the loop may turn out to be a scalar or a tile; then all is emitted once more.
    """
    carried = _carried(em, loop)
    variables = em.scope.variables
    before = dict(variables)
    for _ in range(len(carried.names) + 3):
        kept = len(em.block.ops)
        after = emit(carried)
        templates = [_meet(em, loop, one, template, before[one], after.get(one))
                     for one, template in zip(carried.names, carried.templates, strict=True)]  # fmt: skip
        if templates == carried.templates:
            em.merged(loop, dict(zip(carried.names, templates, strict=True)))
            break
        del em.block.ops[kept:]
        variables.clear()
        variables.update(before)
        carried = _Carried(carried.names, templates)
        em.templates.update({(id(loop), one): t for one, t in zip(carried.names, templates, strict=True)})
    for one in names_assigned(loop.body) - set(carried.names):
        variables[one] = Unset("has no value if the loop has no trip", f"assign '{one}' before the loop",
                               em.place(loop), "the loop is here")  # fmt: skip


def _meet(em: Emitter, loop: ast.For | ast.While, one: str, template: Template, first: Any, last: Any) -> Template:
    """The template of a variable that comes into the loop as `first` and leaves a trip as `last`."""
    if isinstance(last, Unset) or (last is None and not isinstance(first, type(None))):
        why = f": {last.advice}" if isinstance(last, Unset) else ""
        em.fail(f"expected '{one}' to be set at the end of each trip{why}", loop)
    try:
        met = join(template, template_of(last))
        join(template_of(first), met)
        return met
    except MismatchError:
        advice = "cast or broadcast it to what it was, or use another name"
        if isinstance(first, Scalar) and isinstance(last, Tile):
            advice = f"start with a tile, such as hr.full({last.shape}, ..., hr.{last.dtype})"
        notes = tuple(Note(text, value.place) for text, value in (("before the loop it is set here", first),
                                                                  ("in the loop it is set here", last))
                      if isinstance(value, Tile) and value.place)  # fmt: skip
        em.fail(f"expected '{one}' to keep its type from trip to trip, got {name(template_of(first))} before the "
                f"loop and {name(template_of(last))} after a trip: {advice}", loop, notes)  # fmt: skip


def emit_for(em: Emitter, node: ast.For, loop: Loop, assign: Callable) -> None:
    """A loop of a run-time number of trips. `assign` sets the loop's variable."""
    start, stop, step = (as_index(em, value, what) for value, what in
                         ((loop.start, "the start"), (loop.stop, "the end"), (loop.step, "the step")))  # fmt: skip
    _check_step(em, loop.step)
    op, terminator = ("scf.for", "scf.yield") if loop.pipeline is None else ("tile.for", "tile.yield")

    def emit(carried: _Carried) -> dict[str, Any]:
        variables = em.scope.variables
        inits = carried.supply(em, variables)
        variable = em.names.fresh(node.target.id if isinstance(node.target, ast.Name) else "i")
        arguments = tuple(map(em.names.fresh, carried.hints()))
        variables.update(carried.bind(em, arguments))
        with em.inside(Block()) as body:
            number = em.as_scalar(variable, index, natural=start.natural)
            assign(node.target, number if loop.coordinates is None else loop.coordinates(number))
            em.execute(node.body)
            after = dict(variables)
            _yield(em, carried, after, terminator)
        results = tuple(map(em.names.fresh, carried.hints()))
        text = f"{op} {variable} = {start.name} to {stop.name} step {step.name} "
        if arguments:
            pairs = ", ".join(f"{a} = {b}" for a, b in zip(arguments, inits, strict=True))
            text += f"iter_args({pairs}) -> ({', '.join(carried.types())}) "
        if loop.pipeline is not None:
            text += loop.pipeline
        em.op(text, body, results=results, pure=True)
        variables.update(carried.bind(em, results))
        return after

    _settle(em, node, emit)
    for one in names_assigned([node.target]):
        em.scope.variables[one] = Unset("has no value after its loop, which may have no trip",
                                        "assign it to another name in the loop", em.place(node),
                                        "the loop is here")  # fmt: skip


def _yield(em: Emitter, carried: _Carried, after: dict[str, Any], terminator: str) -> None:
    """The values of the next trip, as far as they have their types: if not, this emission is thrown away."""
    if carried.types() and carried.fits(after):
        names = carried.supply(em, after)
        em.op(f"{terminator} {', '.join(names)} : {', '.join(carried.types())}")


def _check_step(em: Emitter, step: Any) -> None:
    if step == 0 and isinstance(step, int):
        em.fail("expected a positive step, got 0: write by how much the loop counts up, such as BK")
    if isinstance(step, int) and step < 0:
        em.fail(f"expected a positive step, got {step}: count up and turn the number round, "
                "for i in range(n): j = n - 1 - i")  # fmt: skip


def emit_while(em: Emitter, node: ast.While) -> None:
    """A loop that a run-time condition ends.

    If the condition holds before the loop for certain, as of ``going = True``, the first trip needs no test: then the
    body comes first, and the test at its end. That is the loop known as do-while.
    """
    body_first = _known_at_first(em, node)
    if body_first is False:
        return

    def emit(carried: _Carried) -> dict[str, Any]:
        variables = em.scope.variables
        inits = carried.supply(em, variables)
        arguments = tuple(map(em.names.fresh, carried.hints()))
        variables.update(carried.bind(em, arguments))
        kinds = ", ".join(carried.types())
        inner = tuple(map(em.names.fresh, carried.hints()))
        header = ", ".join(f"{a}: {kind}" for a, kind in zip(inner, carried.types(), strict=True))
        with em.inside(Block()) as first:
            if body_first:
                em.execute(node.body)
                after = dict(variables)
                _condition(em, node, carried, after)
            else:
                _condition(em, node, carried, variables)
        with em.inside(Block(arguments=f"({header})" if header else "")) as second:
            if body_first:
                _yield(em, carried, carried.bind(em, inner), "scf.yield")
            else:
                variables.update(carried.bind(em, inner))
                em.execute(node.body)
                after = dict(variables)
                _yield(em, carried, after, "scf.yield")
        results = tuple(map(em.names.fresh, carried.hints()))
        pairs = ", ".join(f"{a} = {b}" for a, b in zip(arguments, inits, strict=True))
        text = f"scf.while{f' ({pairs})' if pairs else ''} : ({kinds}) -> ({kinds}) "
        em.op(text, first, " do ", second, results=results)
        variables.update(carried.bind(em, results))
        return after

    _settle(em, node, emit)


def _known_at_first(em: Emitter, node: ast.While) -> bool | None:
    """Whether the condition holds when the loop is reached; None if only the run tells."""
    with em.inside(Block()), em.at(node.test):
        value = em.evaluate(node.test)
    return bool(value) if is_constant(value) else None


def _condition(em: Emitter, node: ast.While, carried: _Carried, variables: dict[str, Any]) -> None:
    """Tests whether there is another trip, and hands on what is carried, as far as it has its types."""
    with em.at(node.test):
        value = em.evaluate(node.test)
        if is_constant(value) and not carried.fits(variables):
            return
        if is_constant(value):
            em.fail("expected a condition that changes at run time, got a constant: the loop would never end, "
                    "write for, or a condition on a variable that the body assigns")  # fmt: skip
        condition = truth(em, value, "'while'")
    if carried.types():
        _yield(em, carried, variables, f"scf.condition({condition.name})")
    else:
        em.op(f"scf.condition({condition.name})")


def emit_unrolled(em: Emitter, node: ast.For, values: tuple, assign: Callable) -> None:
    """The body written out for each of `values`."""
    if len(values) > MAX_UNROLLED:
        em.fail(f"expected at most {MAX_UNROLLED} trips of a loop that is written out, got {len(values)}: write range")
    for value in values:
        assign(node.target, value)
        em.execute(node.body)


def unrolled_values(em: Emitter, start: Any, stop: Any, step: Any) -> tuple[int, ...]:
    """The values of `hr.unroll`."""
    for value in (start, stop, step):
        if not is_number(value) or isinstance(value, float):
            em.fail(
                "expected constants in hr.unroll, got a run-time value: write range, or make it a constexpr parameter"
            )
    if step == 0:
        em.fail("expected a step other than 0 in hr.unroll")
    if len(range(start, stop, step)) > MAX_UNROLLED:
        em.fail(f"expected at most {MAX_UNROLLED} trips of a loop that is written out, got "
                f"{len(range(start, stop, step))}: write range")  # fmt: skip
    return tuple(range(start, stop, step))
