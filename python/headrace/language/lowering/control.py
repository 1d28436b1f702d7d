"""The grid, what loops run over, and facts about numbers."""

from __future__ import annotations

import dataclasses
from typing import Any

from headrace.language.affine import Affine
from headrace.language.api import control as api
from headrace.language.dtypes import index
from headrace.language.emitter import Emitter
from headrace.language.errors import Note
from headrace.language.loops import Loop, unrolled_values
from headrace.language.lowering.registry import lowers, want_constant, want_int
from headrace.language.operands import as_index, unify
from headrace.language.operators import fold
from headrace.language.values import Scalar, Tile, describe, is_number

_MAX_STAGES, _MAX_CONSUMERS, _MAX_TRIPS = 64, 8, 2**31 - 1
_SPECIALIZE = {True: "on", False: "off", "on": "on", "off": "off", "auto": "auto"}
_ORDERS = {"auto": "auto", "cooperative": "cooperative", "pingpong": "pingpong"}


def _program(em: Emitter, op: str, axis: int, hint: str) -> Scalar:
    return em.scalar(f"tile.{op} {axis}", index, hint, natural=True)


def _declare_grid(em: Emitter, sizes: tuple[Any, ...], name: str, suffix: str) -> list[Scalar]:
    """Emits tile.grid, which a kernel says once and at its top level."""
    if em.grid_place is not None:
        em.fail(f"expected one grid, got hr.{name} after another: write one hr.grid(x, y, z) with all sizes",
                notes=(Note("the first one is here", em.grid_place),))  # fmt: skip
    if em.depth != 1:
        em.fail(f"expected hr.{name} at the kernel's top level, got it in a loop or a branch: move it out, and write "
                "hr.program_id where the place is needed")  # fmt: skip
    scalars = [as_index(em, size, f"a size in hr.{name}") for size in sizes]
    em.grid_place = em.place()
    em.op(f"tile.grid {', '.join(s.name for s in scalars)}{suffix}")
    return scalars


@lowers(api.grid)
def grid(em: Emitter, sizes: tuple[Any, ...], persistent: Any) -> Any:
    if not 1 <= len(sizes) <= 3:
        em.fail(f"expected 1 to 3 sizes in hr.grid, got {len(sizes)}")
    if not isinstance(persistent, bool):
        em.fail(f"expected True or False for persistent, got {describe(persistent)}")
    _declare_grid(em, sizes, "grid", " persistent" if persistent else "")
    places = tuple(_program(em, "program_id", axis, f"pid_{axis}") for axis in range(len(sizes)))
    return places[0] if len(places) == 1 else places


@lowers(api.persistent)
def persistent(
    em: Emitter,
    sizes: tuple[Any, ...],
    group: Any,
    trips: Any,
    stages: Any,
    specialize: Any,
    consumers: Any,
    order: Any,
) -> Loop:
    if not 1 <= len(sizes) <= 2:
        em.fail(f"expected 1 or 2 sizes in hr.persistent, got {len(sizes)}")
    group, trips = _group(em, group), None if trips is None else want_int(em, trips, "trips")
    if trips is not None and not 1 <= trips <= _MAX_TRIPS:
        em.fail(f"expected trips to be 1 to {_MAX_TRIPS}, got {trips}")
    scalars = [as_index(em, size, "a size in hr.persistent") for size in sizes]
    tiles = scalars[0]
    if len(scalars) == 2:
        text = f"arith.muli {scalars[0].name}, {scalars[1].name} : index"
        tiles = em.scalar(text, index, "tiles", affine=scalars[0].affine * scalars[1].affine, natural=True)
    _declare_grid(em, (tiles,), "persistent", f" persistent trips {trips}" if trips else " persistent")
    first, programs = _program(em, "program_id", 0, "first"), _program(em, "num_programs", 0, "programs")
    place = None if len(scalars) == 1 else lambda number: _grouped(em, number, *scalars, group)
    given = any(option is not None for option in (stages, specialize, consumers, order))
    options = ["auto" if option is None else option for option in (stages, specialize, consumers, order)]
    return Loop(first, tiles, programs, _pipeline(em, *options) if given else None, place)


def _group(em: Emitter, group: Any) -> int:
    group = want_int(em, group, "group")
    if group < 1:
        em.fail(f"expected a group of at least 1 row, got {group}")
    return group


def _grouped(em: Emitter, number: Scalar, rows: Scalar, columns: Scalar, group: int) -> tuple[Scalar, Scalar]:
    names = em.names.fresh("row"), em.names.fresh("column")
    text = f"tile.grouped_index {number.name} of {rows.name} x {columns.name} group {group}"
    em.op(text, results=names, pure=True)
    row, column = (Scalar(name, index, Affine.of(name), number.natural) for name in names)
    return row, column


@lowers(api.tile_index)
def tile_index(em: Emitter, number: Any, shape: Any, group: Any) -> tuple[Scalar, Scalar]:
    if not isinstance(shape, tuple) or len(shape) != 2:
        em.fail(
            f"expected a shape (rows, columns) in hr.tile_index, got {describe(shape)}: write both, each by hr.cdiv"
        )
    rows, columns = (as_index(em, size, "a size in hr.tile_index") for size in shape)
    return _grouped(em, as_index(em, number, "the number in hr.tile_index"), rows, columns, _group(em, group))


@lowers(api.pipelined)
def pipelined(
    em: Emitter, start: Any, stop: Any, step: Any, stages: Any, specialize: Any, consumers: Any, order: Any
) -> Loop:
    if stop is None:
        start, stop = 0, start
    return Loop(start, stop, step, _pipeline(em, stages, specialize, consumers, order))


def _pipeline(em: Emitter, stages: Any, specialize: Any, consumers: Any, order: Any) -> str:
    """The annotation of tile.for."""
    options = [
        f"stages = {_count(em, stages, 'stages', 0, _MAX_STAGES)}",
        f"specialize = {_choice(em, specialize, 'specialize', _SPECIALIZE)}",
        f"consumers = {_count(em, consumers, 'consumers', 1, _MAX_CONSUMERS)}",
        f"order = {_choice(em, order, 'order', _ORDERS)}",
    ]
    given = [text for text in options if not text.endswith("auto") or text.startswith("stages")]
    return f"pipeline({', '.join(given)}) "


def _count(em: Emitter, value: Any, name: str, low: int, high: int) -> str:
    want_constant(em, value, name)
    if value == "auto":
        return "auto"
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        em.fail(f"expected {name} to be 'auto' or {low} to {high}, got {describe(value)}")
    return str(value)


def _choice(em: Emitter, value: Any, name: str, choices: dict) -> str:
    want_constant(em, value, name)
    if isinstance(value, (str, bool)) and value in choices:
        return choices[value]
    return em.fail(f"expected {name} to be one of {', '.join(map(repr, choices))}, got {describe(value)}")


def lower_range(em: Emitter, args: list[Any]) -> Loop:
    """Python's range."""
    if not 1 <= len(args) <= 3:
        em.fail(f"expected 1 to 3 arguments of range, got {len(args)}")
    if len(args) == 1:
        return Loop(0, args[0])
    return Loop(*args)


@lowers(api.unroll)
def unroll(em: Emitter, start: Any, stop: Any, step: Any) -> tuple[int, ...]:
    if stop is None:
        start, stop = 0, start
    return unrolled_values(em, start, stop, step)


def _axis(em: Emitter, axis: Any, name: str) -> int:
    axis = want_int(em, axis, f"the axis of hr.{name}")
    if not 0 <= axis <= 2:
        em.fail(f"expected an axis of 0 to 2 in hr.{name}, got {axis}")
    return axis


@lowers(api.program_id)
def program_id(em: Emitter, axis: Any) -> Scalar:
    axis = _axis(em, axis, "program_id")
    return _program(em, "program_id", axis, f"pid_{axis}")


@lowers(api.num_programs)
def num_programs(em: Emitter, axis: Any) -> Scalar:
    axis = _axis(em, axis, "num_programs")
    return _program(em, "num_programs", axis, f"programs_{axis}")


@lowers(api.cdiv)
def cdiv(em: Emitter, a: Any, b: Any) -> Any:
    for value in (a, b):
        whole = isinstance(value, int) if is_number(value) else isinstance(value, Scalar) and not value.dtype.is_float
        if not whole:
            em.fail(f"expected integers in hr.cdiv, got {describe(value)}")
    if is_number(b) and b == 0:
        em.fail("expected a divisor other than 0 in hr.cdiv")
    if is_number(a) and is_number(b):
        return fold(em, "hr.cdiv", lambda: -(-a // b))
    a, b = unify(em, a, b, "hr.cdiv")
    return em.scalar(f"arith.ceildivsi {a.name}, {b.name} : {a.mlir}", a.dtype, "cdiv", natural=a.natural and b.natural)


@lowers(api.assume)
def assume(em: Emitter, value: Any, multiple_of: Any, at_least: Any) -> Any:
    multiple = want_int(em, multiple_of, "multiple_of")
    if multiple < 1:
        em.fail(f"expected a positive number for multiple_of, got {multiple}")
    natural = at_least is not None and want_int(em, at_least, "at_least") >= 0
    if isinstance(value, int):
        if value % multiple:
            em.fail(f"expected a multiple of {multiple} in hr.assume, got {value}")
        if at_least is not None and value < at_least:
            em.fail(f"expected at least {at_least} in hr.assume, got {value}")
        return value
    if isinstance(value, (Scalar, Tile)) and multiple == 1 and not value.dtype.is_float:
        return dataclasses.replace(value, natural=value.natural or natural)
    scalar = as_index(em, value, "the value of hr.assume")
    name = em.names.fresh("assumed")
    em.op(f"tile.assume {scalar.name} multiple_of {multiple}", results=(name,))
    return Scalar(name, index, scalar.affine, scalar.natural or natural)


@lowers(api.static_assert)
def static_assert(em: Emitter, condition: Any, message: Any) -> None:
    want_constant(em, condition, "hr.static_assert")
    if not condition:
        em.fail(str(message) if message else "this assertion does not hold")
