"""Operands of an operation: constants take the other side's type, tiles are broadcast, all else is refused.

The rules are those of numpy 2, made stricter: a Python number adapts to the dtype it meets, and so does a run-time
`int` (an extent, a loop variable, an integer argument); two sized dtypes never mix, a cast is to be written; shapes
broadcast from the right.
"""

from __future__ import annotations

from typing import Any

from headrace.language.affine import Affine
from headrace.language.dtypes import DType, f32, i1, i32, i64, index
from headrace.language.emitter import Emitter
from headrace.language.mlir import tensor
from headrace.language.pending import written
from headrace.language.values import Array, Part, Scalar, Tile, describe, is_number

_INDEX_BITS = 32


def number_as(em: Emitter, value: int | float | bool, dtype: DType) -> int | float | bool:
    """`value` if `dtype` holds it; refused if not."""
    if dtype.is_float:
        return float(value)
    if isinstance(value, float):
        em.fail(f"expected a whole number for {dtype_name(dtype)}, got {value}: cast the other side, "
                "such as x.to(hr.f32)")  # fmt: skip
    if dtype is i1:
        if value not in (0, 1):
            em.fail(f"expected True or False for i1, got {value}")
        return bool(value)
    bits = _INDEX_BITS if dtype is index else dtype.bits
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        em.fail(f"expected a number that {dtype_name(dtype)} holds, {low} to {high}, got {value}: write a smaller one, "
                "or cast the other side to a wider dtype")  # fmt: skip
    return int(value)


def dtype_name(dtype: DType) -> str:
    """A dtype in a message; the index is Python's int."""
    return "int" if dtype is index else dtype.name


def as_scalar(em: Emitter, value: Any, dtype: DType, what: str = "") -> Scalar:
    """`value`, a number or a scalar of `dtype` or a run-time int, as a scalar of `dtype`. `what` names it in errors."""
    if is_number(value):
        return em.constant(number_as(em, value, dtype), dtype)
    if isinstance(value, Scalar):
        if value.dtype is dtype:
            return value
        if value.dtype is index and dtype.kind in ("int", "float"):
            return convert(em, value, dtype)
        em.fail(f"expected {what or 'a scalar'} of {dtype_name(dtype)}, got {value.dtype}: write .to(hr.{dtype.name})"
                if dtype is not index else f"expected {what or 'an integer'}, got {describe(value)}")  # fmt: skip
    return em.fail(f"expected {what or 'a scalar'} of {dtype_name(dtype)}, got {describe(value)}")


def as_index(em: Emitter, value: Any, what: str) -> Scalar:
    """`value` as a run-time int; sized integers are converted. `what` names it in the error."""
    if isinstance(value, Scalar) and (value.dtype.is_int or value.dtype is index):
        return convert(em, value, index)
    if isinstance(value, int) and not isinstance(value, bool):
        return em.constant(number_as(em, value, index), index)
    return em.fail(
        f"expected {what} to be an integer, got {describe(value)}: write a whole number, or // for a quotient"
    )


def as_tile(em: Emitter, value: Any, shape: tuple[int, ...], dtype: DType, what: str = "the value") -> Tile:
    """`value` as a tile of `shape` and `dtype`: numbers and scalars fill it, tiles are broadcast."""
    if isinstance(value, Tile):
        if value.dtype is not dtype:
            em.fail(f"expected {what} of {dtype}, got {describe(value)}: write .to(hr.{dtype})",
                    notes=em.note(f"the tile of {value.dtype} is made here", value))  # fmt: skip
        return broadcast(em, value, shape, what)
    if is_number(value):
        return em.splat_constant(number_as(em, value, dtype), shape, dtype)
    scalar = as_scalar(em, value, dtype, what)
    return em.tile(
        f"tensor.splat {scalar.name} : {tensor(shape, dtype)}", shape, dtype, "splat", natural=scalar.natural
    )


def broadcast_shape(em: Emitter, left: tuple[int, ...], right: tuple[int, ...], what: str, notes=()) -> tuple[int, ...]:
    """The shape that both broadcast to, by numpy's rule: from the right, extents are equal or one of them is 1."""
    rank = max(len(left), len(right))
    a, b = ((1,) * (rank - len(shape)) + shape for shape in (left, right))
    for x, y in zip(a, b, strict=True):
        if x != y and 1 not in (x, y):
            advice = ": make the extents equal, or one of them 1"
            if len(left) != len(right):
                advice = ": write x[:, None] or x[None, :] to say which axis is missing"
            em.fail(
                f"expected shapes that broadcast in {what}, got {shape_text(left)} and {shape_text(right)}{advice}",
                notes=notes,
            )
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))


def shape_text(shape: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def broadcast(em: Emitter, tile: Tile, shape: tuple[int, ...], what: str = "the tile") -> Tile:
    """`tile` repeated to `shape`. Refused if it does not broadcast to it."""
    if tile.shape == shape:
        return written(em, tile)
    padded = (1,) * (len(shape) - len(tile.shape)) + tile.shape
    if len(padded) != len(shape) or any(x not in (1, y) for x, y in zip(padded, shape, strict=True)):
        advice = ": write .T" if tile.shape == shape[::-1] else ""
        em.fail(f"expected {what} of shape {shape_text(shape)}, or one that broadcasts to it, got "
                f"{shape_text(tile.shape)}"
                f"{advice}", notes=em.note(f"this tile is {tile}", tile))  # fmt: skip
    tile = written(em, tile)
    while len(tile.shape) < len(shape):
        tile = expand(em, tile, 0)
    if tile.shape == shape:
        return tile
    text = f"tile.broadcast {tile.name} : {tile.mlir} -> {tensor(shape, tile.dtype)}"
    return em.tile(text, shape, tile.dtype, natural=tile.natural)


def expand(em: Emitter, tile: Tile, axis: int) -> Tile:
    """`tile` with a dimension of extent 1 before dimension `axis`."""
    tile = written(em, tile)
    shape = (*tile.shape[:axis], 1, *tile.shape[axis:])
    text = f"tile.expand_dims {tile.name} axis {axis} : {tile.mlir} -> {tensor(shape, tile.dtype)}"
    return em.tile(text, shape, tile.dtype, natural=tile.natural)


def reshape(em: Emitter, tile: Tile, shape: tuple[int, ...]) -> Tile:
    """The elements of `tile` in row-major order, in `shape`, which has as many."""
    tile = written(em, tile)
    if tile.shape == shape:
        return tile
    return em.tile(f"tile.reshape {tile.name} : {tile.mlir} -> {tensor(shape, tile.dtype)}", shape, tile.dtype)


def unify(em: Emitter, left: Any, right: Any, what: str) -> tuple[Scalar | Tile, Scalar | Tile]:
    """Both operands of one dtype, and of one shape if one is a tile. `what` names the operation. One is no number."""
    for value in (left, right):
        if not is_number(value) and not isinstance(value, (Scalar, Tile)):
            refuse_operand(em, value, what)
    if isinstance(left, Tile) or isinstance(right, Tile):
        return _unify_tiles(em, left, right, what)
    dtype = _scalar_dtype(em, left, right, what)
    return as_operand(em, left, dtype), as_operand(em, right, dtype)


def refuse_operand(em: Emitter, value: Any, what: str):
    """Refuses `value` as an operand of `what`."""
    if isinstance(value, Array):
        slices = ", ".join(f"{n}:{n}+B{n.upper()}" for n in "ijklm"[: value.type.rank])
        em.fail(
            f"expected a tile or a number in {what}, got {describe(value)}: load a part of it, "
            f"{value.parameter}[{slices}]"
        )
    if isinstance(value, Part):
        em.fail(f"expected a tile or a number in {what}, got a part of an array")
    em.fail(f"expected a tile or a number in {what}, got {describe(value)}")


def as_operand(em: Emitter, value: Any, dtype: DType) -> Scalar:
    if is_number(value):
        return em.constant(number_as(em, value, dtype), dtype)
    return convert(em, value, dtype)


def _unify_tiles(em: Emitter, left: Any, right: Any, what: str) -> tuple[Tile, Tile]:
    if isinstance(left, Tile) and isinstance(right, Tile):
        if left.dtype is not right.dtype:
            wider = left.dtype if left.dtype.bits >= right.dtype.bits else right.dtype
            em.fail(f"expected one dtype on both sides of {what}, got {left.dtype} and {right.dtype}: cast one, "
                    f"such as .to(hr.{wider})",
                    notes=(*em.note(f"this one is {left}", left), *em.note(f"this one is {right}", right)))  # fmt: skip
        notes = (*em.note(f"this one is {left}", left), *em.note(f"this one is {right}", right))
        shape = broadcast_shape(em, left.shape, right.shape, what, notes)
        return broadcast(em, left, shape), broadcast(em, right, shape)
    tile, other = (left, right) if isinstance(left, Tile) else (right, left)
    if isinstance(other, Scalar) and other.dtype not in (tile.dtype, index):
        em.fail(f"expected one dtype on both sides of {what}, got a tile of {tile.dtype} and a scalar of "
                f"{other.dtype}: "
                f"cast one, such as .to(hr.{tile.dtype})", notes=em.note(f"the tile is {tile}", tile))  # fmt: skip
    if isinstance(other, Scalar) and other.dtype is index and tile.dtype is i1:
        em.fail(f"expected one dtype on both sides of {what}, got a tile of i1 and an int")
    filled = as_tile(em, other, tile.shape, tile.dtype, "")
    tile = written(em, tile)
    return (tile, filled) if isinstance(left, Tile) else (filled, tile)


def _scalar_dtype(em: Emitter, left: Any, right: Any, what: str) -> DType:
    """The dtype that two scalars, or a scalar and a number, are computed in."""
    dtypes = [value.dtype for value in (left, right) if isinstance(value, Scalar)]
    if len(dtypes) == 1:
        number = right if isinstance(left, Scalar) else left
        if isinstance(number, float) and not dtypes[0].is_float:
            em.fail(f"expected a whole number beside a run-time {dtype_name(dtypes[0])} in {what}, got {number}: a "
                    "Python float has no size of its own, write x.to(hr.f32)")  # fmt: skip
        return dtypes[0]
    a, b = dtypes
    if a is b:
        return a
    if index in dtypes:
        other = b if a is index else a
        if other.is_int:
            return i64 if other is i64 else index
        if other.is_float:
            return other
    return em.fail(f"expected one dtype on both sides of {what}, got {dtype_name(a)} and {dtype_name(b)}: cast one, "
                   f"such as .to(hr.{a.name if a is not index else b.name})")  # fmt: skip


def convert(em: Emitter, value: Scalar | Tile, dtype: DType) -> Scalar | Tile:
    """`value` cast to `dtype`: floats round to nearest, to integers they are cut as by int(), to i1 it is ``!= 0``."""
    source = value.dtype
    if source is dtype:
        return value
    if isinstance(value, Tile):
        value = written(em, value)
    if dtype is i1:
        return _to_bool(em, value)
    steps = _cast_steps(source, dtype)
    if steps is None:
        em.fail(
            f"expected a cast that rounds once, got {source} to {dtype}: write .to(hr.f32).to(hr.{dtype}) if two "
            "are fine"
        )
    for op, target in steps:
        value = _cast(em, value, op, target)
    return value


def _cast(em: Emitter, value: Scalar | Tile, op: str, dtype: DType) -> Scalar | Tile:
    natural = op == "extui" or (value.natural and op in ("index_cast", "extsi"))
    if isinstance(value, Tile):
        text = f"arith.{op} {value.name} : {value.mlir} to {tensor(value.shape, dtype)}"
        return em.tile(text, value.shape, dtype, "cast", natural=natural)
    affine = (value.affine or Affine.of(value.name)) if op == "index_cast" else None
    name = em.value(f"arith.{op} {value.name} : {value.mlir} to {dtype.mlir}", "cast")
    return Scalar(name, dtype, affine, natural)


def _cast_steps(source: DType, dtype: DType) -> list[tuple[str, DType]] | None:
    """arith operations that cast, each with its result; None if it would round twice."""
    if source is index:
        if dtype.is_int:
            return [("index_cast", dtype)]
        rest = _cast_steps(i32, dtype)
        return None if rest is None else [("index_cast", i32), *rest]
    if dtype is index:
        if source.is_float:
            return [("fptosi", i32), ("index_cast", index)]
        if source is i1:
            return [("extui", i32), ("index_cast", index)]
        return [("index_cast", index)]
    if source.is_float and dtype.is_float:
        return _float_steps(source, dtype)
    if source.is_float:
        return [("extf", f32), ("fptosi", dtype)] if source.bits == 8 else [("fptosi", dtype)]
    if dtype.is_float:
        op = "uitofp" if source is i1 else "sitofp"
        if dtype.bits == 8:
            return [(op, f32), ("truncf", dtype)] if source.bits <= 16 else None
        return [(op, dtype)]
    if source is i1:
        return [("extui", dtype)]
    return [("extsi" if dtype.bits > source.bits else "trunci", dtype)]


def _float_steps(source: DType, dtype: DType) -> list[tuple[str, DType]] | None:
    if source.bits == 64 and dtype.bits == 8:
        return None
    if dtype.bits > source.bits:
        return [("extf", dtype)]
    if dtype.bits < source.bits:
        return [("truncf", dtype)]
    return [("extf", f32), ("truncf", dtype)]


def _to_bool(em: Emitter, value: Scalar | Tile) -> Scalar | Tile:
    compare = "arith.cmpf une," if value.dtype.is_float else "arith.cmpi ne,"
    if isinstance(value, Tile):
        zero = em.splat_constant(0, value.shape, value.dtype)
        return em.tile(f"{compare} {value.name}, {zero.name} : {value.mlir}", value.shape, i1, "bool")
    zero = em.constant(0.0 if value.dtype.is_float else 0, value.dtype)
    return em.scalar(f"{compare} {value.name}, {zero.name} : {value.mlir}", i1, "bool")
