"""Functions of each element, from one table where they are one operation."""

from __future__ import annotations

from typing import Any

from headrace.language.api import elementwise as api
from headrace.language.dtypes import bf16, f16, f32, f64, i1, index
from headrace.language.emitter import Emitter
from headrace.language.lowering.registry import LOWERINGS, lowers
from headrace.language.operands import as_tile, broadcast, broadcast_shape, unify
from headrace.language.operators import apply, binary, minimum, select, truth, unary
from headrace.language.pending import written
from headrace.language.values import Scalar, Tile, describe, is_number

#: Built-in -> operation, dtypes that it takes.
_FLOATS = (f16, bf16, f32, f64)
_APPROXIMATED = (f16, bf16, f32)
_UNARY = {
    api.exp: ("math.exp", _APPROXIMATED), api.exp2: ("math.exp2", _APPROXIMATED), api.log: ("math.log", _APPROXIMATED),
    api.log2: ("math.log2", _APPROXIMATED), api.sqrt: ("math.sqrt", _FLOATS), api.rsqrt: ("math.rsqrt", _APPROXIMATED),
    api.tanh: ("math.tanh", _APPROXIMATED), api.floor: ("math.floor", _FLOATS), api.ceil: ("math.ceil", _FLOATS),
    api.trunc: ("math.trunc", _FLOATS), api.round: ("math.roundeven", _FLOATS),
}  # fmt: skip


def operand(em: Emitter, x: Any, name: str) -> Scalar | Tile:
    """`x`, which is a tile or a scalar; a Python float is f32."""
    if isinstance(x, float):
        return em.constant(x, f32)
    if not isinstance(x, (Scalar, Tile)):
        em.fail(f"expected a tile or a scalar in hr.{name}, got {describe(x)}")
    return written(em, x) if isinstance(x, Tile) else x


def _lower_unary(builtin, op: str, dtypes) -> None:
    name = builtin.__name__

    def lowering(em: Emitter, x: Any) -> Scalar | Tile:
        x = operand(em, x, name)
        if x.dtype not in dtypes:
            em.fail(f"expected {', '.join(map(str, dtypes))} in hr.{name}, got {describe(x)}: write .to(hr.f32)",
                    notes=em.note("the tile is made here", x))  # fmt: skip
        return apply(em, op, x, hint=name)

    LOWERINGS[builtin] = lowering


for _builtin, (_op, _dtypes) in _UNARY.items():
    _lower_unary(_builtin, _op, _dtypes)


@lowers(api.sigmoid)
def sigmoid(em: Emitter, x: Any) -> Scalar | Tile:
    exponential = LOWERINGS[api.exp](em, unary(em, "-", operand(em, x, "sigmoid")))
    return binary(em, "/", 1.0, binary(em, "+", exponential, 1.0))


@lowers(api.abs)
def absolute(em: Emitter, x: Any) -> Scalar | Tile:
    if is_number(x):
        return -x if x < 0 else x
    x = operand(em, x, "abs")
    if x.dtype is index:
        return select(em, _negative(em, x), binary(em, "-", 0, x), x)
    if x.dtype is i1:
        em.fail("expected numbers in hr.abs, got i1")
    return apply(em, "math.absf" if x.dtype.is_float else "math.absi", x)


def _negative(em: Emitter, x: Scalar) -> Scalar:
    return apply(em, "arith.cmpi slt,", x, em.constant(0, index), dtype=i1)


@lowers(api.minimum)
def lower_minimum(em: Emitter, x: Any, y: Any) -> Scalar | Tile:
    return minimum(em, x, y, largest=False) if not (is_number(x) and is_number(y)) else min(x, y)


@lowers(api.maximum)
def lower_maximum(em: Emitter, x: Any, y: Any) -> Scalar | Tile:
    return minimum(em, x, y, largest=True) if not (is_number(x) and is_number(y)) else max(x, y)


@lowers(api.where)
def where(em: Emitter, condition: Any, x: Any, y: Any) -> Any:
    if isinstance(condition, bool):
        return x if condition else y
    if not isinstance(condition, (Scalar, Tile)) or condition.dtype is not i1:
        em.fail(f"expected a condition of i1 in hr.where, got {describe(condition)}: compare it, such as x != 0")
    if is_number(x) and is_number(y):
        dtype = f32 if isinstance(x, float) or isinstance(y, float) else index
        x = em.constant(x, dtype)
        if isinstance(condition, Tile):
            em.fail(
                "expected a tile among the choices of hr.where, got two numbers: write hr.full(c.shape, x, hr.f32) "
                "for one"
            )
    x, y = unify(em, x, y, "hr.where")
    if isinstance(condition, Scalar):
        return select(em, truth(em, condition, "hr.where"), x, y)
    shape = broadcast_shape(em, condition.shape, x.shape if isinstance(x, Tile) else (), "hr.where")
    if isinstance(x, Scalar):
        x, y = (as_tile(em, value, shape, value.dtype) for value in (x, y))
    return select(em, broadcast(em, condition, shape), broadcast(em, x, shape), broadcast(em, y, shape))


@lowers(api.fma)
def fma(em: Emitter, x: Any, y: Any, z: Any) -> Scalar | Tile:
    x, y = unify(em, x, y, "hr.fma") if not (is_number(x) and is_number(y)) else (x, y)
    x, z = unify(em, x, z, "hr.fma")
    y, x = unify(em, y, x, "hr.fma")
    if not x.dtype.is_float:
        em.fail(f"expected floats in hr.fma, got {x.dtype}: write x * y + z")
    return apply(em, "math.fma", x, y, z)


@lowers(api.copysign)
def copysign(em: Emitter, x: Any, y: Any) -> Scalar | Tile:
    x, y = unify(em, x, y, "hr.copysign")
    if not x.dtype.is_float:
        em.fail(f"expected floats in hr.copysign, got {x.dtype}")
    return apply(em, "math.copysign", x, y)


def _bits(em: Emitter, x: Any, name: str, op: str) -> Scalar | Tile:
    x = operand(em, x, name)
    if not x.dtype.is_int:
        em.fail(f"expected integers with a size in hr.{name}, got {describe(x)}: write .to(hr.i32)")
    return apply(em, op, x)


@lowers(api.popcount)
def popcount(em: Emitter, x: Any) -> Scalar | Tile:
    return _bits(em, x, "popcount", "math.ctpop")


@lowers(api.clz)
def clz(em: Emitter, x: Any) -> Scalar | Tile:
    return _bits(em, x, "clz", "math.ctlz")
