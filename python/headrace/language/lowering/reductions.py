"""Reductions and scans: a region of scalar operations that combines two partial results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.language.api import reductions as api
from headrace.language.dtypes import bf16, f16, f32, i1, i32
from headrace.language.emitter import Emitter
from headrace.language.functions import InlineFunction, call, function_of
from headrace.language.lowering.registry import LOWERINGS, lowers, want_axis, want_tile
from headrace.language.mlir import Block, tensor
from headrace.language.operands import as_scalar, convert, expand
from headrace.language.operators import apply, binary, compare, minimum, select
from headrace.language.pending import written
from headrace.language.values import Function, Scalar, Tile, describe

#: Combines two tuples of scalars, one for each tile that is reduced.
Combine = Callable[[tuple[Scalar, ...], tuple[Scalar, ...]], tuple[Any, ...]]


def combine_tiles(em: Emitter, op: str, tiles: tuple[Tile, ...], axis: int, combine: Combine, extra: str = "") -> tuple:
    """The results of tile.reduce or tile.scan (`op`) over `tiles`, which have one shape."""
    tiles = tuple(written(em, tile) for tile in tiles)
    sides = [tuple(em.as_scalar(em.names.fresh(name), tile.dtype) for tile in tiles) for name in "ab"]
    header = ", ".join(f"{scalar.name}: {scalar.mlir}" for side in sides for scalar in side)
    with em.inside(Block(arguments=f"({header})")) as body, em.isolating():
        values = combine(*sides)
        if len(values) != len(tiles):
            em.fail(f"expected {len(tiles)} results of the combining function, one for each tile, got {len(values)}")
        scalars = [
            as_scalar(em, value, tile.dtype, "the combined value") for value, tile in zip(values, tiles, strict=True)
        ]
        if not body.is_pure():
            em.fail(
                "expected a combining function that only computes, got loads, stores or loops: load before, as a tile"
            )
        if body.free():
            em.fail("expected a combining function of its parameters and constants, got a run-time value from "
                    "outside: apply it before or after")  # fmt: skip
        kinds = ", ".join(scalar.mlir for scalar in scalars)
        em.op(f"tile.yield {', '.join(scalar.name for scalar in scalars)} : {kinds}")
    shape = tiles[0].shape
    if op == "tile.reduce":
        shape = (*shape[:axis], *shape[axis + 1 :])
    results = tuple(em.names.fresh(op.removeprefix("tile.")) for _ in tiles)
    kinds = [tensor(shape, tile.dtype) if shape else tile.dtype.mlir for tile in tiles]
    result_types = kinds[0] if len(kinds) == 1 else f"({', '.join(kinds)})"
    sources = f"{op} {', '.join(tile.name for tile in tiles)} axis {axis}{extra} "
    em.op(sources, body, f" : ({', '.join(tile.mlir for tile in tiles)}) -> {result_types}", results=results, pure=True)
    return tuple(Tile(name, shape, tile.dtype, em.place()) if shape else em.as_scalar(name, tile.dtype)
                 for name, tile in zip(results, tiles, strict=True))  # fmt: skip


def reduce_tiles(em: Emitter, tiles: tuple[Tile, ...], axis: int, keepdims: bool, combine: Combine) -> tuple:
    results = combine_tiles(em, "tile.reduce", tiles, axis, combine)
    if not keepdims:
        return results
    if isinstance(results[0], Scalar):
        one = (1,) * len(tiles[0].shape)
        return tuple(em.tile(f"tensor.splat {r.name} : {tensor(one, r.dtype)}", one, r.dtype) for r in results)
    return tuple(expand(em, result, axis) for result in results)


def _reduce_axes(em: Emitter, x: Any, axis: Any, keepdims: Any, name: str, combine: Callable) -> Tile | Scalar:
    """One tile over one axis, or over all of them, the last first."""
    tile = want_tile(em, x, f"hr.{name}")
    if not isinstance(keepdims, bool):
        em.fail(f"expected True or False for keepdims, got {describe(keepdims)}")
    rank = len(tile.shape)
    axes = reversed(range(rank)) if axis is None else (want_axis(em, axis, rank, f"hr.{name}"),)
    result: Tile | Scalar = tile
    for one in axes:
        (result,) = reduce_tiles(em, (result,), one, keepdims, lambda a, b: (combine(a[0], b[0]),))
    return result


def _numbers(em: Emitter, x: Any, name: str) -> Tile:
    tile = want_tile(em, x, f"hr.{name}")
    if tile.dtype is i1 or (tile.dtype.is_float and tile.dtype.bits == 8):
        em.fail(
            f"expected numbers of 16 bits or more, or integers, in hr.{name}, got {describe(tile)}: write .to(hr.f32)"
        )
    return tile


def _in_f32(em: Emitter, x: Any, name: str, run: Callable[[Tile], Any]) -> Any:
    """Runs on `x` in f32 and rounds the result, for f16 and bf16."""
    tile = _numbers(em, x, name)
    if tile.dtype not in (f16, bf16):
        return run(tile)
    return convert(em, run(convert(em, tile, f32)), tile.dtype)


@lowers(api.sum)
def lower_sum(em: Emitter, x: Any, axis: Any, keepdims: Any) -> Tile | Scalar:
    if isinstance(x, Tile) and x.dtype is i1:
        x = convert(em, x, i32)
    add = lambda a, b: binary(em, "+", a, b)  # noqa: E731
    return _in_f32(em, x, "sum", lambda tile: _reduce_axes(em, tile, axis, keepdims, "sum", add))


@lowers(api.prod)
def lower_prod(em: Emitter, x: Any, axis: Any, keepdims: Any) -> Tile | Scalar:
    multiply = lambda a, b: binary(em, "*", a, b)  # noqa: E731
    return _in_f32(em, x, "prod", lambda tile: _reduce_axes(em, tile, axis, keepdims, "prod", multiply))


@lowers(api.max)
def lower_max(em: Emitter, x: Any, axis: Any, keepdims: Any) -> Tile | Scalar:
    tile = _numbers(em, x, "max")
    return _reduce_axes(em, tile, axis, keepdims, "max", lambda a, b: minimum(em, a, b, largest=True))


@lowers(api.min)
def lower_min(em: Emitter, x: Any, axis: Any, keepdims: Any) -> Tile | Scalar:
    tile = _numbers(em, x, "min")
    return _reduce_axes(em, tile, axis, keepdims, "min", lambda a, b: minimum(em, a, b, largest=False))


@lowers(api.any)
def lower_any(em: Emitter, x: Any, axis: Any, keepdims: Any) -> Tile | Scalar:
    tile = convert(em, want_tile(em, x, "hr.any"), i1)
    return _reduce_axes(em, tile, axis, keepdims, "any", lambda a, b: binary(em, "|", a, b))


@lowers(api.all)
def lower_all(em: Emitter, x: Any, axis: Any, keepdims: Any) -> Tile | Scalar:
    tile = convert(em, want_tile(em, x, "hr.all"), i1)
    return _reduce_axes(em, tile, axis, keepdims, "all", lambda a, b: binary(em, "&", a, b))


def _lower_place(builtin: Callable, symbol: str) -> None:
    name = builtin.__name__

    def lowering(em: Emitter, x: Any, axis: Any, keepdims: Any) -> Tile | Scalar:
        tile = _numbers(em, x, name)
        axis = want_axis(em, axis, len(tile.shape), f"hr.{name}")
        places = em.tile(f"tile.iota axis {axis} : {tensor(tile.shape, i32)}", tile.shape, i32, "iota")

        def combine(a: tuple[Scalar, ...], b: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
            take = _second_wins(em, a, b, symbol)
            return select(em, take, b[0], a[0]), select(em, take, b[1], a[1])

        return reduce_tiles(em, (tile, places), axis, keepdims, combine)[1]

    LOWERINGS[builtin] = lowering


def _second_wins(em: Emitter, a: tuple[Scalar, ...], b: tuple[Scalar, ...], symbol: str) -> Scalar:
    """Whether b is the better one: beyond a, or a NaN where a is none, or equal and earlier."""
    better = compare(em, symbol, b[0], a[0])
    equal = compare(em, "==", b[0], a[0])
    if a[0].dtype.is_float:
        nan_a, nan_b = (compare(em, "!=", side[0], side[0]) for side in (a, b))
        only_b = apply(em, "arith.cmpi ugt,", nan_b, nan_a, dtype=i1)
        better = binary(em, "|", better, only_b)
        equal = binary(em, "|", equal, binary(em, "&", nan_a, nan_b))
    earlier = compare(em, "<", b[1], a[1])
    return binary(em, "|", better, binary(em, "&", equal, earlier))


_lower_place(api.argmax, ">")
_lower_place(api.argmin, "<")


# ---- by a function of the program


def _combine_by(em: Emitter, function: Any, count: int, name: str) -> Combine:
    if isinstance(function, InlineFunction):
        function = function_of(em, function)
    if not isinstance(function, Function):
        em.fail(f"expected an @hr.inline function or a lambda to combine in hr.{name}, got {describe(function)}")

    def combine(a: tuple[Scalar, ...], b: tuple[Scalar, ...]) -> tuple[Any, ...]:
        result = call(em, function, [*a, *b], {})
        if isinstance(result, tuple):
            return result
        if result is None:
            em.fail(
                f"expected the combining function of hr.{name} to return {'a scalar' if count == 1 else 'a tuple'}, "
                "got None"
            )
        return (result,)

    return combine


def _sources(em: Emitter, x: Any, axis: Any, name: str) -> tuple[tuple[Tile, ...], int]:
    tiles = tuple(want_tile(em, tile, f"hr.{name}") for tile in (x if isinstance(x, tuple) else (x,)))
    if not tiles or any(tile.shape != tiles[0].shape for tile in tiles):
        em.fail(f"expected tiles of one shape in hr.{name}, got {describe(tiles)}")
    return tiles, want_axis(em, axis, len(tiles[0].shape), f"hr.{name}")


@lowers(api.reduce)
def lower_reduce(em: Emitter, x: Any, axis: Any, combine: Any, keepdims: Any) -> Any:
    tiles, axis = _sources(em, x, axis, "reduce")
    results = reduce_tiles(em, tiles, axis, bool(keepdims), _combine_by(em, combine, len(tiles), "reduce"))
    return results if isinstance(x, tuple) else results[0]


def _scan(em: Emitter, tiles: tuple[Tile, ...], axis: int, reverse: Any, combine: Combine) -> tuple:
    if not isinstance(reverse, bool):
        em.fail(f"expected True or False for reverse, got {describe(reverse)}")
    return combine_tiles(em, "tile.scan", tiles, axis, combine, " attributes {reverse}" if reverse else "")


@lowers(api.scan)
def lower_scan(em: Emitter, x: Any, axis: Any, combine: Any, reverse: Any) -> Any:
    tiles, axis = _sources(em, x, axis, "scan")
    results = _scan(em, tiles, axis, reverse, _combine_by(em, combine, len(tiles), "scan"))
    return results if isinstance(x, tuple) else results[0]


def _lower_running(builtin: Callable, symbol: str) -> None:
    name = builtin.__name__

    def lowering(em: Emitter, x: Any, axis: Any, reverse: Any) -> Tile:
        if isinstance(x, Tile) and x.dtype is i1:
            x = convert(em, x, i32)

        def run(tile: Tile) -> Tile:
            one = want_axis(em, axis, len(tile.shape), f"hr.{name}")
            return _scan(em, (tile,), one, reverse, lambda a, b: (binary(em, symbol, a[0], b[0]),))[0]

        return _in_f32(em, x, name, run)

    LOWERINGS[builtin] = lowering


_lower_running(api.cumsum, "+")
_lower_running(api.cumprod, "*")
