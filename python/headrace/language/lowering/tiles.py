"""Making tiles and changing their shape; matrix products."""

from __future__ import annotations

import math
from typing import Any

from headrace.language.access import check_tile
from headrace.language.api import memory as api_memory
from headrace.language.dtypes import DType
from headrace.language.emitter import Emitter
from headrace.language.lowering.registry import (
    MAX_RANK,
    lowers,
    want_axis,
    want_constant,
    want_dtype,
    want_int,
    want_shape,
    want_tile,
)
from headrace.language.mlir import tensor
from headrace.language.operands import as_tile, broadcast, convert, number_as, reshape, shape_text, unify
from headrace.language.operators import binary
from headrace.language.pending import emit_product, written
from headrace.language.products import make_product
from headrace.language.values import Scalar, Tile, Transposed, describe, is_number


@lowers(api_memory.zeros)
def zeros(em: Emitter, shape: Any, dtype: Any) -> Tile:
    return full(em, shape, 0, dtype)


@lowers(api_memory.full)
def full(em: Emitter, shape: Any, value: Any, dtype: Any) -> Tile:
    extents = want_shape(em, shape, "a tile")
    check_tile(em, extents)
    if isinstance(value, Tile):
        em.fail(f"expected a number or a scalar to fill a tile with, got {describe(value)}: write hr.broadcast_to")
    return as_tile(em, value, extents, want_dtype(em, dtype, "a tile"), "the fill")


@lowers(api_memory.arange)
def arange(em: Emitter, start: Any, stop: Any, dtype: Any) -> Tile:
    if stop is None:
        start, stop = 0, start
    for value in (start, stop):
        if isinstance(value, Scalar):
            em.fail("expected constants in hr.arange, got a run-time value: write m + hr.arange(BM)")
        want_int(em, value, "hr.arange")
    if stop <= start:
        em.fail(f"expected hr.arange of at least one element, got {start} to {stop}")
    check_tile(em, (stop - start,))
    dtype = want_dtype(em, dtype, "hr.arange")
    if not dtype.is_int:
        em.fail(f"expected an integer dtype in hr.arange, got {dtype}: cast it, hr.arange(n).to(hr.{dtype})")
    if stop - 1 >= 1 << (dtype.bits - 1) or start < -(1 << (dtype.bits - 1)):
        em.fail(f"expected {dtype} to hold all numbers of hr.arange, got {start} to {stop}")
    shape = (stop - start,)
    tile = em.tile(f"tile.iota axis 0 : {tensor(shape, dtype)}", shape, dtype, "iota", natural=True)
    return binary(em, "+", tile, start) if start else tile


@lowers(api_memory.iota)
def iota(em: Emitter, shape: Any, axis: Any, dtype: Any) -> Tile:
    extents = want_shape(em, shape, "hr.iota")
    check_tile(em, extents)
    axis = want_axis(em, axis, len(extents), "hr.iota")
    dtype = want_dtype(em, dtype, "hr.iota")
    if not dtype.is_int or extents[axis] > 1 << (dtype.bits - 1):
        em.fail(
            f"expected an integer dtype that holds {extents[axis] - 1} in hr.iota, got {dtype}: write .to to convert"
        )
    return em.tile(f"tile.iota axis {axis} : {tensor(extents, dtype)}", extents, dtype, "iota", natural=True)


@lowers(api_memory.reshape)
def reshape_tile(em: Emitter, x: Any, shape: Any) -> Tile:
    tile = want_tile(em, x, "hr.reshape")
    extents = shape if isinstance(shape, tuple) else (shape,)
    count = math.prod(tile.shape)
    if sum(e == -1 for e in extents if is_number(e)) == 1:
        rest = math.prod(want_int(em, e, "a shape") for e in extents if e != -1)
        if rest <= 0 or count % rest:
            em.fail(f"expected a shape of {count} elements, as {tile} has, got {shape_text(extents)}")
        extents = tuple(count // rest if e == -1 else e for e in extents)
    extents = want_shape(em, extents, "hr.reshape")
    if math.prod(extents) != count:
        em.fail(f"expected a shape of {count} elements, as {tile} has, got {shape_text(extents)} with "
                f"{math.prod(extents)}: write -1 for the extent that follows from the others",
                notes=em.note("the tile is made here", tile))  # fmt: skip
    return reshape(em, tile, extents)


@lowers(api_memory.split)
def split(em: Emitter, x: Any) -> tuple[Tile, Tile]:
    tile = want_tile(em, x, "hr.split")
    if len(tile.shape) < 2 or tile.shape[-1] != 2:
        *others, last = tile.shape
        advice = ""
        if last > 2 and last % 2 == 0 and len(tile.shape) < MAX_RANK:
            advice = f": write x.reshape({', '.join(map(str, (*others, last // 2, 2)))}) for its pairs of neighbours"
        em.fail(f"expected a tile of rank 2 to {MAX_RANK} whose last extent is 2 in hr.split, got {describe(tile)}"
                f"{advice}", notes=em.note("the tile is made here", tile))  # fmt: skip
    tile = written(em, tile)
    shape = tile.shape[:-1]
    names = tuple(em.names.fresh(name) for name in ("first", "second"))
    em.op(f"tile.split {tile.name} : {tile.mlir} -> {tensor(shape, tile.dtype)}", results=names, pure=True)
    return tuple(Tile(name, shape, tile.dtype, em.place(), tile.natural) for name in names)


@lowers(api_memory.join)
def join(em: Emitter, a: Any, b: Any) -> Tile:
    if not isinstance(a, Tile) and not isinstance(b, Tile):
        em.fail(f"expected a tile in hr.join, got {describe(a)} and {describe(b)}: write hr.full for a tile of one")
    first, second = unify(em, a, b, "hr.join")
    if len(first.shape) == MAX_RANK:
        em.fail(f"expected tiles of rank 1 to {MAX_RANK - 1} in hr.join, got {describe(first)}")
    shape = (*first.shape, 2)
    check_tile(em, shape)
    text = f"tile.join {first.name}, {second.name} : {first.mlir} -> {tensor(shape, first.dtype)}"
    return em.tile(text, shape, first.dtype, "join", natural=first.natural and second.natural)


@lowers(api_memory.transpose)
def transpose_tile(em: Emitter, x: Any) -> Tile:
    return transpose(em, want_tile(em, x, "hr.transpose"))


def transpose(em: Emitter, tile: Tile) -> Tile:
    """The transpose, which is emitted only if it is used by something else than a dot."""
    if len(tile.shape) != 2:
        em.fail(f"expected a tile of rank 2 to transpose, got {describe(tile)}: write x[:, None] for a column",
                notes=em.note("the tile is made here", tile))  # fmt: skip
    if isinstance(tile, Transposed):
        return tile.source
    tile = written(em, tile)
    return Transposed("", tile.shape[::-1], tile.dtype, em.place(), source=tile)


@lowers(api_memory.broadcast_to)
def broadcast_to(em: Emitter, x: Any, shape: Any) -> Tile:
    return broadcast(em, want_tile(em, x, "hr.broadcast_to"), want_shape(em, shape, "hr.broadcast_to"))


@lowers(api_memory.bitcast)
def bitcast(em: Emitter, x: Any, dtype: Any) -> Tile | Scalar:
    dtype = want_dtype(em, dtype, "hr.bitcast")
    if not isinstance(x, (Scalar, Tile)) or x.dtype.kind not in ("float", "int"):
        em.fail(f"expected a tile or a scalar with a dtype in hr.bitcast, got {describe(x)}")
    if x.dtype.bits != dtype.bits:
        em.fail(
            f"expected a dtype of {x.dtype.bits} bits in hr.bitcast, as {x.dtype} has, got {dtype} of "
            f"{dtype.bits}: write .to to convert"
        )
    if x.dtype is dtype:
        return x
    if isinstance(x, Scalar):
        return em.scalar(f"arith.bitcast {x.name} : {x.mlir} to {dtype.mlir}", dtype)
    x = written(em, x)
    return em.tile(f"arith.bitcast {x.name} : {x.mlir} to {tensor(x.shape, dtype)}", x.shape, dtype)


def cast(em: Emitter, value: Any, dtype: Any) -> Scalar | Tile:
    """``value.to(dtype)``, and ``hr.f32(value)`` of a number too."""
    if not isinstance(dtype, DType):
        em.fail(f"expected a dtype such as hr.f32, got {describe(dtype)}")
    if is_number(value):
        return em.constant(number_as(em, value, dtype), dtype)
    if not isinstance(value, (Scalar, Tile)):
        em.fail(f"expected a number, a scalar or a tile to cast, got {describe(value)}")
    if isinstance(value, Tile) and dtype.kind == "index":
        em.fail("expected a dtype with a size for a tile, got int: write .to(hr.i32)")
    return convert(em, value, dtype)


@lowers(api_memory.dot)
def dot(em: Emitter, a: Any, b: Any, acc: Any, precision: Any) -> Tile:
    want_constant(em, precision, "precision")
    if precision not in (None, "ieee", "tf32"):
        em.fail(f"expected precision 'ieee' or 'tf32', got {describe(precision)}")
    product = make_product(em, a, b, precision, "hr.dot")
    if acc is None:
        return product
    notes = (*em.note(f"the first operand is {a}", a), *em.note(f"the second is {b}", b))
    if is_number(acc):
        return emit_product(em, product, as_tile(em, acc, product.shape, product.dtype))
    if not isinstance(acc, Tile):
        em.fail(
            f"expected a tile as accumulator of hr.dot, got {describe(acc)}: write hr.zeros({product.shape}, "
            f"hr.{product.dtype})"
        )
    if acc.shape != product.shape or acc.dtype is not product.dtype:
        em.fail(f"expected an accumulator {Tile('', product.shape, product.dtype)} in hr.dot, as its operands give, "
                f"got {acc}: write hr.zeros({product.shape}, hr.{product.dtype})",
                notes=(*em.note("the accumulator is made here", acc), *notes))  # fmt: skip
    return emit_product(em, product, written(em, acc))
