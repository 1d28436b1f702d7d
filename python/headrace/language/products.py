"""Matrix products: which operand types go together, transposes that cost nothing, accumulators."""

from __future__ import annotations

from typing import Any

from headrace.language.dtypes import DType, f32, f64, i8, i32
from headrace.language.emitter import Emitter
from headrace.language.values import Product, Tile, describe

LEGAL = "f16, bf16, f32 or 8-bit float pairs into f32, i8 into i32, f64 into f64"


def accumulator_dtype(a: DType, b: DType) -> DType | None:
    """The dtype that products of `a` and `b` are summed in; None if no tensor core or fma takes the pair."""
    if a is i8 and b is i8:
        return i32
    if a.is_float and b.is_float and a.bits == b.bits == 8:
        return f32
    if a is not b or not a.is_float:
        return None
    return f64 if a is f64 else f32


def make_product(em: Emitter, a: Any, b: Any, precision: str | None, what: str = "'@'") -> Product:
    """The product of `a` [M, K] and `b` [K, N], without an accumulator yet."""
    for value in (a, b):
        if not isinstance(value, Tile) or len(value.shape) != 2:
            advice = ": write hr.sum(x * y) for vectors, x[None, :] for a row" if isinstance(value, Tile) else ""
            notes = em.note("the tile is made here", value)
            em.fail(f"expected tiles of rank 2 in {what}, got {describe(value)}{advice}", notes=notes)
    notes = (*em.note(f"the first is {a}", a), *em.note(f"the second is {b}", b))
    if a.shape[1] != b.shape[0]:
        advice = ": load both with the same K"
        if a.shape[1] == b.shape[1]:
            advice = ": write b.T for a second operand of [N, K]"
        elif a.shape[0] == b.shape[0]:
            advice = ": write a.T for a first operand of [K, M]"
        em.fail(f"expected [M, K] and [K, N] in {what}, got {list(a.shape)} and {list(b.shape)}, K of {a.shape[1]} and "
                f"{b.shape[0]}{advice}", notes=notes)  # fmt: skip
    dtype = accumulator_dtype(a.dtype, b.dtype)
    if dtype is None:
        em.fail(f"expected a pair of dtypes that can be multiplied in {what}, got {a.dtype} and {b.dtype}: cast one "
                f"with .to; legal are {LEGAL}", notes=notes)  # fmt: skip
    if precision is not None and a.dtype is not f32:
        em.fail(f"expected precision only for f32 operands, got {a.dtype}", notes=notes)
    return Product("", (a.shape[0], b.shape[1]), dtype, em.place(), a=a, b=b, precision=precision)
